//! The speed of the processor's AES units, which limits everything made of AES rounds.

#![expect(unsafe_code, reason = "calls code for detected instructions")]

use std::arch::x86_64::*;
use std::hint::black_box;

use randomx::cpu::{Cpu, Extension};

/// Dependent rounds in a call of the first function.
pub(super) const CHAIN: usize = 4096;

/// Independent blocks: more than a unit can process during the latency of a round.
const BLOCKS: usize = 12;

/// Rounds in a call of the second function.
pub(super) const ROUNDS: usize = BLOCKS * CHAIN;

/// Returns functions that compute rounds one after another and side by side; `None` without AES instructions.
pub(super) fn aes_units(cpu: Cpu) -> Option<[fn(); 2]> {
    let available = cpu.has(Extension::Aes) && cpu.has(Extension::Avx2);
    // SAFETY: `available` means that `Cpu` has AES-NI and AVX2.
    available.then_some([|| unsafe { rounds::<1>() }, || unsafe { rounds::<BLOCKS>() }])
}

#[target_feature(enable = "aes,avx2")]
fn rounds<const BLOCKS: usize>() {
    let key: __m128i = bytemuck::must_cast(black_box([3u64, 5]));
    let mut blocks = [key; BLOCKS];
    for _ in 0..CHAIN {
        for block in &mut blocks {
            *block = _mm_aesenc_si128(*block, key);
        }
    }
    black_box(blocks);
}
