//! The instructions of x86-64.

#![expect(unsafe_code, reason = "runs rdrand and rdseed")]

use std::arch::x86_64::*;
use std::hint::black_box;

use super::{Batch, Instruction, Width};

pub(super) fn is_available(instruction: Instruction) -> bool {
    match instruction {
        Instruction::Rdrand => is_x86_feature_detected!("rdrand"),
        Instruction::Rdseed => is_x86_feature_detected!("rdseed"),
    }
}

/// Reads 64 bits, unless the generator has no number.
///
/// # Safety
///
/// `is_available` must have returned true for `instruction`.
pub(super) unsafe fn read(instruction: Instruction) -> Option<u64> {
    let mut number = 0;
    let success = match instruction {
        // SAFETY: the caller has checked that the instruction is available.
        Instruction::Rdrand => unsafe { _rdrand64_step(&mut number) },
        // SAFETY: the caller has checked that the instruction is available.
        Instruction::Rdseed => unsafe { _rdseed64_step(&mut number) },
    };
    (success == 1).then_some(number)
}

/// Attempts to read a number of `width` bits, `attempts` times.
///
/// # Safety
///
/// `is_available` must have returned true for `instruction`.
pub(super) unsafe fn batch(instruction: Instruction, width: Width, attempts: u32) -> Batch {
    /// The loop itself enables the feature, so that the instruction is inlined into it.
    macro_rules! attempt {
        ($feature:literal, $step:ident, $number:ty) => {{
            #[target_feature(enable = $feature)]
            fn attempt(attempts: u32) -> Batch {
                let mut reads = 0;
                for _ in 0..attempts {
                    let mut number: $number = 0;
                    reads += u64::from($step(&mut number) == 1);
                    black_box(number);
                }
                Batch { reads, failures: u64::from(attempts) - reads }
            }
            // SAFETY: the caller has checked that the instruction is available.
            unsafe { attempt(attempts) }
        }};
    }
    match (instruction, width) {
        (Instruction::Rdrand, Width::Bits16) => attempt!("rdrand", _rdrand16_step, u16),
        (Instruction::Rdrand, Width::Bits32) => attempt!("rdrand", _rdrand32_step, u32),
        (Instruction::Rdrand, Width::Bits64) => attempt!("rdrand", _rdrand64_step, u64),
        (Instruction::Rdseed, Width::Bits16) => attempt!("rdseed", _rdseed16_step, u16),
        (Instruction::Rdseed, Width::Bits32) => attempt!("rdseed", _rdseed32_step, u32),
        (Instruction::Rdseed, Width::Bits64) => attempt!("rdseed", _rdseed64_step, u64),
    }
}
