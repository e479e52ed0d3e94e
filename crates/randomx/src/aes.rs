//! AES rounds (specification 3.1) and the three functions that use them: AesGenerator1R,
//! AesGenerator4R and AesHash1R. This file chooses the implementation; each of its modules holds
//! one instruction set or one function.

#![allow(unsafe_code, reason = "calls code for detected instructions")]

#[cfg(target_arch = "aarch64")]
mod aarch64_aes;
mod field;
mod generator_1r;
mod generator_4r;
mod hash_1r;
#[cfg(not(target_arch = "wasm32"))]
mod soft;
#[cfg(any(test, target_arch = "wasm32"))]
mod tower;
#[cfg(target_arch = "wasm32")]
mod wasm32_simd128;
#[cfg(target_arch = "x86_64")]
mod x86_aesni;

pub use generator_1r::AesGenerator1R;
pub use generator_4r::AesGenerator4R;
pub use hash_1r::{aes_hash_1r, hash_and_fill_1r};

use crate::cpu::Cpu;

/// A column of generator state: one AES block.
pub type Column = [u8; 16];

/// Single AES rounds on an instruction set's representation of a column.
trait Rounds: Copy {
    /// A column in registers.
    type Block: Copy;

    fn load(self, column: &Column) -> Self::Block;
    fn store(self, block: Self::Block) -> Column;
    /// Computes ShiftRows, SubBytes, MixColumns, then XOR with `key`.
    fn encrypt(self, block: Self::Block, key: Self::Block) -> Self::Block;
    /// Computes the inverse ShiftRows, SubBytes and MixColumns, then XOR with `key`.
    fn decrypt(self, block: Self::Block, key: Self::Block) -> Self::Block;

    /// Prefetches a block that is about to be read, where there is an instruction for it.
    #[inline(always)]
    fn prefetch_to_read(self, _: &[u8; 64]) {}

    /// Prefetches a block that is about to be overwritten.
    #[inline(always)]
    fn prefetch_to_write(self, _: &[u8; 64]) {}
}

/// The distance, in blocks, from the present block to the one that is prefetched. With AES
/// instructions the caches' bandwidth bounds a pass over a scratchpad, and hardware prefetchers,
/// which stop at the end of a 4 KiB page, do not exhaust it.
const PREFETCH_DISTANCE: usize = 64;

/// An implementation of AES that this processor can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aes(Implementation);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Implementation {
    #[cfg(not(target_arch = "wasm32"))]
    Software,
    #[cfg(target_arch = "aarch64")]
    Armv8(aarch64_aes::Armv8),
    #[cfg(target_arch = "x86_64")]
    AesNi(x86_aesni::AesNi),
    #[cfg(target_arch = "wasm32")]
    Simd128,
}

impl Aes {
    /// Returns the fastest implementation for `cpu`: AES-NI on x86-64, ARMv8's AES instructions on
    /// ARM64, and lookup tables in plain Rust without [`Extension::Aes`](crate::cpu::Extension::Aes).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(cpu: Cpu) -> Aes {
        #[cfg(target_arch = "aarch64")]
        if let Some(token) = aarch64_aes::Armv8::new(cpu) {
            return Aes(Implementation::Armv8(token));
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = x86_aesni::AesNi::new(cpu) {
            return Aes(Implementation::AesNi(token));
        }
        let _ = cpu;
        Aes(Implementation::Software)
    }

    /// Returns the only implementation of this build.
    #[cfg(target_arch = "wasm32")]
    pub fn new(_: Cpu) -> Aes {
        Aes(Implementation::Simd128)
    }

    /// Returns the name of the implementation.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(not(target_arch = "wasm32"))]
            Implementation::Software => "portable",
            #[cfg(target_arch = "aarch64")]
            Implementation::Armv8(_) => "ARMv8",
            #[cfg(target_arch = "x86_64")]
            Implementation::AesNi(_) => "AES-NI",
            #[cfg(target_arch = "wasm32")]
            Implementation::Simd128 => "SIMD128",
        }
    }

    /// Computes one round of encryption: ShiftRows, SubBytes, MixColumns, then XOR with `key`.
    #[cfg(feature = "internals")]
    pub fn encrypt_round(self, block: &Column, key: &Column) -> Column {
        dispatch!(self, encrypt_round(block, key))
    }

    /// Computes step 10 of v2's loop (specification 4.6.2): encrypts `f0` and `f2` and decrypts
    /// `f1` and `f3`, four rounds each, with `e0` to `e3` as the keys.
    pub(crate) fn mix_f_with_e(self, f: &mut [Column; 4], e: &[Column; 4]) {
        dispatch!(self, mix_f_with_e(f, e))
    }
}

/// Calls a function of an implementation's module, which runs the generic one with its rounds.
macro_rules! dispatch {
    ($aes:expr, $function:ident($($argument:expr),*)) => {
        match $aes.0 {
            #[cfg(not(target_arch = "wasm32"))]
            $crate::aes::Implementation::Software => $crate::aes::soft::$function($($argument),*),
            #[cfg(target_arch = "aarch64")]
            // SAFETY: an `Armv8` proves that the AES instructions were detected.
            $crate::aes::Implementation::Armv8(_) => unsafe {
                $crate::aes::aarch64_aes::$function($($argument),*)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `AesNi` proves that AES-NI was detected.
            $crate::aes::Implementation::AesNi(_) => unsafe {
                $crate::aes::x86_aesni::$function($($argument),*)
            },
            #[cfg(target_arch = "wasm32")]
            $crate::aes::Implementation::Simd128 => {
                $crate::aes::wasm32_simd128::$function($($argument),*)
            }
        }
    };
}
use dispatch;

/// Defines, for the rounds `$rounds`, the functions that `dispatch` calls.
macro_rules! define_functions {
    ($rounds:expr $(, #[$attribute:meta])*) => {
        $(#[$attribute])*
        pub(super) fn fill_1r(state: &mut [$crate::aes::Column; 4], output: &mut [[u8; 64]]) {
            $crate::aes::generator_1r::fill($rounds, state, output)
        }

        $(#[$attribute])*
        pub(super) fn fill_4r(state: &mut [$crate::aes::Column; 4], output: &mut [[u8; 64]]) {
            $crate::aes::generator_4r::fill($rounds, state, output)
        }

        $(#[$attribute])*
        pub(super) fn hash_1r(input: &[[u8; 64]]) -> [u8; 64] {
            $crate::aes::hash_1r::hash($rounds, input)
        }

        $(#[$attribute])*
        pub(super) fn hash_and_fill_1r(
            state: &mut [$crate::aes::Column; 4],
            blocks: &mut [[u8; 64]],
        ) -> [u8; 64] {
            $crate::aes::hash_1r::hash_and_fill($rounds, state, blocks)
        }

        #[cfg(feature = "internals")]
        $(#[$attribute])*
        pub(super) fn encrypt_round(
            block: &$crate::aes::Column,
            key: &$crate::aes::Column,
        ) -> $crate::aes::Column {
            use $crate::aes::Rounds;
            $rounds.store($rounds.encrypt($rounds.load(block), $rounds.load(key)))
        }

        $(#[$attribute])*
        pub(super) fn mix_f_with_e(
            f: &mut [$crate::aes::Column; 4],
            e: &[$crate::aes::Column; 4],
        ) {
            $crate::aes::mix($rounds, f, e)
        }
    };
}
use define_functions;

#[inline(always)]
fn mix<R: Rounds>(rounds: R, f: &mut [Column; 4], e: &[Column; 4]) {
    let mut blocks = f.each_ref().map(|column| rounds.load(column));
    for key in e {
        let key = rounds.load(key);
        blocks = [
            rounds.encrypt(blocks[0], key),
            rounds.decrypt(blocks[1], key),
            rounds.encrypt(blocks[2], key),
            rounds.decrypt(blocks[3], key),
        ];
    }
    *f = blocks.map(|block| rounds.store(block));
}

/// Splits a 64-byte state or input block into its columns.
fn columns(bytes: &[u8; 64]) -> [Column; 4] {
    bytemuck::must_cast(*bytes)
}

fn bytes(columns: [Column; 4]) -> [u8; 64] {
    bytemuck::must_cast(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blake2b::hash512;

    /// Every function, from many states.
    #[test]
    fn implementations_agree() {
        let (software, hardware) = (Aes::new(Cpu::baseline()), Aes::new(Cpu::detect()));
        if software == hardware {
            randomx_testing::say("skipped: this processor has no AES instructions");
            return;
        }
        let mut seed = hash512(&[b"implementations agree"]);
        for _ in 0..200 {
            let output = |aes: Aes| {
                let mut filled = vec![[0u8; 64]; 64];
                let mut one = AesGenerator1R::new(&seed, aes);
                one.fill(&mut filled);
                let mut four = AesGenerator4R::new(&one.state(), aes);
                four.fill(&mut filled[32..]);
                let mut f = columns(&filled[0]);
                aes.mix_f_with_e(&mut f, &columns(&filled[63]));
                f[0] = aes.encrypt_round(&f[1], &f[0]);
                (aes_hash_1r(&filled, aes), f, filled)
            };
            assert_eq!(output(software), output(hardware));
            seed = hash512(&[&seed]);
        }
    }

    /// For all lengths.
    #[test]
    fn one_pass_that_hashes_and_fills_equals_two() {
        for cpu in Cpu::detect().levels() {
            let aes = Aes::new(cpu);
            for length in [0, 1, 2, 63, 64, 65, 200] {
                let mut blocks = vec![[0u8; 64]; length];
                let mut generator = AesGenerator1R::new(&hash512(&[&[length as u8]]), aes);
                generator.fill(&mut blocks);
                let (mut fused, mut other) = (blocks.clone(), generator.clone());
                let hash = hash_and_fill_1r(&mut fused, &mut other);
                assert_eq!(hash, aes_hash_1r(&blocks, aes), "{length} blocks, {cpu}");
                generator.fill(&mut blocks);
                assert_eq!(fused, blocks, "{length} blocks, {cpu}");
                assert_eq!(other.state(), generator.state(), "{length} blocks, {cpu}");
            }
        }
    }
}
