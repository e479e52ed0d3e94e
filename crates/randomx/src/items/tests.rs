//! Machine code, against the interpreter without processor extensions.

use std::sync::LazyLock;

use super::interpreted::Interpreted;
use crate::cpu::Cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Extension;
use crate::jit::CodePages;
use crate::jit::native::SuperscalarCode;
use crate::memory::{Line, Memory};
use crate::params::CACHE_SIZE;
use crate::superscalar::samples::{numbers, operations_on_edges};
use crate::superscalar::{Item, Program, programs};

type Programs = [Program; 8];

/// A stand-in for a cache, in which no two lines are the same.
static LINES: LazyLock<Memory> = LazyLock::new(|| {
    let Ok(mut memory) = Memory::zeroed(CACHE_SIZE) else { panic!("no memory for a cache") };
    let mut word = 0u64;
    for slot in memory.as_mut_slice::<u64>() {
        word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        *slot = word ^ word >> 29;
    }
    memory
});

fn lines() -> &'static [Line] {
    LINES.as_slice()
}

/// Returns the processors that machine code differs for, from all extensions to none.
fn levels() -> Vec<Cpu> {
    let all = Cpu::detect();
    let mut levels = vec![all];
    #[cfg(target_arch = "x86_64")]
    for extension in [Extension::Ifma, Extension::Avx512, Extension::Avx2] {
        levels.push(all.without(extension));
    }
    levels.push(Cpu::baseline());
    levels.dedup();
    levels
}

/// Checks batches of the given lengths.
fn check(programs: &Programs, numbers: &[u32], lengths: impl Iterator<Item = usize> + Clone) {
    let oracle = Interpreted::new(programs, Cpu::baseline());
    let mut expected: Vec<Item> = vec![[0; 8]; numbers.len()];
    oracle.compute(lines(), numbers, &mut expected);
    for cpu in levels() {
        let code = SuperscalarCode::new(programs, cpu, CodePages::default()).expect("a JIT");
        for length in lengths.clone() {
            let mut actual: Vec<Item> = vec![[0; 8]; length];
            code.compute(lines(), &numbers[..length], &mut actual);
            assert_eq!(actual, expected[..length], "{cpu}, {length} items");
        }
    }
}

fn generated(key: &[u8]) -> Programs {
    programs(key, Cpu::baseline())
}

#[test]
fn batches_of_every_length_are_as_interpreted() {
    let numbers = numbers(100);
    check(&generated(b"batches of every length"), &numbers, (1..=33).chain([48, 49, 100]));
}

/// Tests all plans: which one is used otherwise depends on the machine.
#[cfg(target_arch = "x86_64")]
fn check_all_plans(programs: &Programs, lengths: impl Iterator<Item = usize> + Clone) {
    let oracle = Interpreted::new(programs, Cpu::baseline());
    let numbers = numbers(200);
    for cpu in levels() {
        let mut code = SuperscalarCode::new(programs, cpu, CodePages::default()).expect("a JIT");
        loop {
            for length in lengths.clone() {
                for numbers in numbers.chunks(length) {
                    let mut expected = vec![[0; 8]; numbers.len()];
                    let mut actual = expected.clone();
                    oracle.compute(lines(), numbers, &mut expected);
                    code.compute(lines(), numbers, &mut actual);
                    assert_eq!(actual, expected, "{cpu}, {length} items, {code:?}");
                }
            }
            if !code.next_plans() {
                break;
            }
        }
        code.calibrate(lines());
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn all_plans_are_as_interpreted() {
    check_all_plans(&generated(b"all plans"), (1..=33).chain([48, 96, 97, 200]));
}

/// Kernels divide functions into parts. Here some parts have no operations.
#[cfg(target_arch = "x86_64")]
#[test]
fn all_plans_compute_functions_of_few_operations() {
    for operations in 0..4 {
        let mut programs = generated(b"few operations");
        programs.iter_mut().for_each(|program| program.instructions.truncate(operations));
        check_all_plans(&programs, [4, 6, 8, 16, 24, 96].into_iter());
    }
}

#[test]
fn functions_of_many_keys_are_as_interpreted() {
    let numbers = numbers(24);
    for key in 0..20u32 {
        check(&generated(&key.to_le_bytes()), &numbers, [3, 4, 8, 16, 24].into_iter());
    }
}

#[test]
fn operations_on_edges_are_as_interpreted() {
    for programs in operations_on_edges() {
        check(&programs, &numbers(21), [1, 3, 4, 8, 16, 24].into_iter());
    }
}

/// Tests different alignments of the items, and different remainders after the last full batch.
#[test]
fn consecutive_items_are_as_interpreted() {
    const FIRST: u32 = 34_078_600;
    let programs = generated(b"consecutive items");
    let oracle = Interpreted::new(&programs, Cpu::baseline());
    let mut expected: Vec<Item> = vec![[0; 8]; 100];
    super::fill(FIRST, &mut expected, |numbers, items| oracle.compute(lines(), numbers, items));
    for cpu in levels() {
        let code = SuperscalarCode::new(&programs, cpu, CodePages::default()).expect("a JIT");
        for length in [0, 1, 23, 24, 48, 100] {
            let mut buffer = [Line([0; 8]); 102];
            let words: &mut [u64] = bytemuck::cast_slice_mut(&mut buffer);
            for shift in [0, 1, 8] {
                let words = &mut words[shift..shift + 8 * length];
                words.fill(0);
                let items: &mut [Item] = bytemuck::cast_slice_mut(words);
                super::fill(FIRST, items, |numbers, items| code.compute(lines(), numbers, items));
                assert_eq!(items, &expected[..length], "{cpu}, {length} items, {shift}");
            }
        }
    }
}
