//! How fast the processor's AES units are: the bounds of everything made of AES rounds.

use std::arch::x86_64::*;
use std::hint::black_box;

use randomx::cpu::{Cpu, Extension};

/// Rounds that wait for each other, in a call of the first function.
pub(super) const CHAIN: usize = 4096;

/// Blocks that do not wait for each other: more than fit between a round's start and its end.
const BLOCKS: usize = 12;

/// Rounds in a call of the second function.
pub(super) const ROUNDS: usize = BLOCKS * CHAIN;

/// Rounds one after the other, and rounds side by side; none without AES instructions.
pub(super) fn aes_units(cpu: Cpu) -> Option<[fn(); 2]> {
    let available = cpu.has(Extension::Aes) && cpu.has(Extension::Avx2);
    // SAFETY: `Cpu` has just proven AES-NI and AVX2.
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
