//! AES rounds with the AES instructions of ARMv8.
//!
//! These XOR a key before a round, RandomX's rounds after it. So a round here has a key of zero, and
//! the compiler merges the XOR that follows with the next round's.

// The compiler inlines the intrinsics after it has inlined the functions here into those below, which
// have the feature.
#![allow(unknown_lints, inline_always_mismatching_target_features)]

use std::arch::aarch64::*;
use std::arch::asm;

use super::{Column, Rounds, define_functions};
use crate::cpu::{Cpu, Extension};

define_functions!(Armv8(()), #[target_feature(enable = "aes")]);

/// Proof that this processor has the AES instructions. Outside this module only `new` creates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Armv8(());

impl Armv8 {
    pub(super) fn new(cpu: Cpu) -> Option<Armv8> {
        cpu.has(Extension::Aes).then_some(Armv8(()))
    }
}

impl Rounds for Armv8 {
    type Block = uint8x16_t;

    #[inline(always)]
    fn load(self, column: &Column) -> uint8x16_t {
        bytemuck::must_cast(*column)
    }

    #[inline(always)]
    fn store(self, block: uint8x16_t) -> Column {
        bytemuck::must_cast(block)
    }

    #[inline(always)]
    fn encrypt(self, block: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
        // SAFETY: an `Armv8` proves that the AES instructions were detected.
        unsafe { veorq_u8(vaesmcq_u8(vaeseq_u8(block, vdupq_n_u8(0))), key) }
    }

    #[inline(always)]
    fn decrypt(self, block: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
        // SAFETY: an `Armv8` proves that the AES instructions were detected.
        unsafe { veorq_u8(vaesimcq_u8(vaesdq_u8(block, vdupq_n_u8(0))), key) }
    }

    #[inline(always)]
    fn prefetch_to_read(self, block: &[u8; 64]) {
        // SAFETY: a prefetch is a hint, which faults at no address.
        unsafe {
            asm!("prfm pldl1keep, [{}]", in(reg) block.as_ptr(), options(nostack, preserves_flags, readonly));
        }
    }

    #[inline(always)]
    fn prefetch_to_write(self, block: &[u8; 64]) {
        // SAFETY: as above.
        unsafe {
            asm!("prfm pstl1keep, [{}]", in(reg) block.as_ptr(), options(nostack, preserves_flags, readonly));
        }
    }
}
