//! The code of each operation, read back by a disassembler. The tests of `items` check its
//! results.

use super::arithmetic::{Arithmetic, Group, Set};
use super::kernel::Pool;
use super::{ROUNDS, mixed, scalar, trial_numbers, vector};
use crate::jit::x86_64::assembler::tests::listing;
use crate::jit::x86_64::assembler::{Assembler, Vector, Zmm};
use crate::superscalar::{Instruction, Kind};

#[test]
fn no_trial_computes_an_item_of_another() {
    // A processor with AVX2 and without AVX-512 has a choice of two plans, and three of four plans each.
    let mut numbers: Vec<u32> = (0..(2 + 3 * 4) * ROUNDS).flat_map(trial_numbers).collect();
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count);
}

/// Windows ends a program that touches its stack more than a page below the last touch.
#[test]
fn the_stack_is_touched_page_by_page() {
    for scalars in [2, 4] {
        let (mut below, mut touched) = (0, 0);
        for line in listing(|a| mixed::enter(a, scalars)) {
            if let Some(bytes) = line.strip_prefix("sub rsp, ") {
                let digits = bytes.trim_end_matches('h');
                below += i32::from_str_radix(digits, 16).expect("a number of bytes");
            } else if line.starts_with("and rsp, ") {
                // The alignment skips up to 63 bytes.
                below += 63;
            } else if line.starts_with("mov [rsp") {
                assert!(below - touched <= 4096, "{line}");
                touched = below;
            }
        }
        assert!(touched > 4096 && touched == below, "{scalars} scalars: {touched} of {below}");
    }
}

fn instruction(kind: Kind, imm32: u32) -> Instruction {
    Instruction { kind, dst: 0, src: 5, modifier: 2 << 2, imm32 }
}

/// Returns one instruction of each kind that has code of its own.
fn function() -> [Instruction; 9] {
    [
        instruction(Kind::IsubR, 0),
        instruction(Kind::IxorR, 0),
        instruction(Kind::IaddRs, 0),
        instruction(Kind::ImulR, 0),
        instruction(Kind::IrorC, 13),
        instruction(Kind::IaddC7, 0x8000_0000),
        instruction(Kind::IxorC9, 77),
        instruction(Kind::ImulRcp, 3),
        // A power of two has no reciprocal.
        instruction(Kind::ImulRcp, 4),
    ]
}

fn avx2(instructions: &[Instruction]) -> Vec<String> {
    vectors(&vector::only_group(), Set::Avx2, instructions)
}

fn avx512(set: Set, instructions: &[Instruction]) -> Vec<String> {
    vectors(&vector::registers::<Zmm>(0, 1), set, instructions)
}

fn vectors<V: Vector>(group: &Group<V>, set: Set, instructions: &[Instruction]) -> Vec<String> {
    code(|a, pool| {
        let mut arithmetic = Arithmetic { a, pool, set };
        for instruction in instructions {
            arithmetic.operation(group, instruction);
        }
    })
}

/// Returns the listing of code, without the constants that follow it.
fn code(emit: impl FnOnce(&mut Assembler, &mut Pool)) -> Vec<String> {
    let mut lines = listing(|a| {
        let mut pool = Pool::new(a);
        emit(a, &mut pool);
        a.ret();
        pool.emit(a);
    });
    let end = lines.iter().position(|line| line == "ret").expect("the end of the code");
    lines.truncate(end);
    lines
}

fn assert_lines(actual: &[String], expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(actual, expected);
}

#[test]
fn scalar_operations() {
    let lines = code(|a, pool| {
        for instruction in &function() {
            scalar::operation(a, pool, instruction);
        }
        scalar::operation(a, pool, &instruction(Kind::ImulhR, 0));
        scalar::operation(a, pool, &instruction(Kind::IsmulhR, 0));
    });
    assert_lines(
        &lines,
        "sub r8, r13
         xor r8, r13
         lea r8, [r8+r13*4]
         imul r8, r13
         ror r8, 0Dh
         add r8, 0FFFFFFFF80000000h
         xor r8, 4Dh
         imul r8, [rip+1Bh]
         mov rax, r8
         mul r13
         mov r8, rdx
         mov rax, r8
         imul r13
         mov r8, rdx",
    );
}

#[test]
fn operations_of_avx2() {
    assert_lines(
        &avx2(&function()),
        "vpsubq ymm0, ymm0, ymm5
         vpxor ymm0, ymm0, ymm5
         vpsllq ymm6, ymm5, 2
         vpaddq ymm0, ymm0, ymm6
         vpshufd ymm6, ymm5, 0B1h
         vpmulld ymm6, ymm6, ymm0
         vpmuludq ymm0, ymm0, ymm5
         vpsrlq ymm7, ymm6, 20h
         vpaddd ymm6, ymm6, ymm7
         vpsllq ymm6, ymm6, 20h
         vpaddq ymm0, ymm0, ymm6
         vpsrlq ymm6, ymm0, 0Dh
         vpsllq ymm7, ymm0, 33h
         vpor ymm0, ymm6, ymm7
         vpaddq ymm0, ymm0, [rip+39h]
         vpxor ymm0, ymm0, [rip+51h]
         vpmulld ymm6, ymm0, [rip+68h]
         vpmuludq ymm0, ymm0, [rip+60h]
         vpsrlq ymm7, ymm6, 20h
         vpaddd ymm6, ymm6, ymm7
         vpsllq ymm6, ymm6, 20h
         vpaddq ymm0, ymm0, ymm6",
    );
}

#[test]
fn rotations_of_avx2_by_bytes() {
    let rotations = [16, 56, 16].map(|count| instruction(Kind::IrorC, count));
    assert_lines(
        &avx2(&rotations),
        "vpshufb ymm0, ymm0, [rip+37h]
         vpshufb ymm0, ymm0, [rip+4Eh]
         vpshufb ymm0, ymm0, [rip+25h]",
    );
}

#[test]
fn operations_of_avx512() {
    assert_lines(
        &avx512(Set::Avx512, &function()),
        "vpsubq zmm0, zmm0, zmm5
         vpxorq zmm0, zmm0, zmm5
         vpsllq zmm8, zmm5, 2
         vpaddq zmm0, zmm0, zmm8
         vpmullq zmm0, zmm0, zmm5
         vprorq zmm0, zmm0, 0Dh
         vpaddq zmm0, zmm0, [rip+50h]{1to8}
         vpxorq zmm0, zmm0, [rip+4Eh]{1to8}
         vpmullq zmm0, zmm0, [rip+4Ch]{1to8}",
    );
}

#[test]
fn high_products_of_avx2() {
    assert_lines(
        &avx2(&[instruction(Kind::IsmulhR, 0)]),
        "vblendvpd ymm12, ymm11, ymm5, ymm0
         vblendvpd ymm13, ymm11, ymm0, ymm5
         vpaddq ymm12, ymm12, ymm13
         vpshufd ymm6, ymm0, 0F5h
         vpshufd ymm7, ymm5, 0F5h
         vpmuludq ymm8, ymm0, ymm5
         vpmuludq ymm9, ymm0, ymm7
         vpmuludq ymm10, ymm5, ymm6
         vpmuludq ymm6, ymm6, ymm7
         vpsrlq ymm8, ymm8, 20h
         vpaddq ymm9, ymm9, ymm8
         vpblendd ymm8, ymm9, ymm11, 0AAh
         vpaddq ymm10, ymm10, ymm8
         vpsrlq ymm9, ymm9, 20h
         vpsrlq ymm10, ymm10, 20h
         vpaddq ymm6, ymm9, ymm6
         vpaddq ymm0, ymm10, ymm6
         vpsubq ymm0, ymm0, ymm12",
    );
}

#[test]
fn high_products_of_avx512() {
    assert_lines(
        &avx512(Set::Avx512, &[instruction(Kind::IsmulhR, 0)]),
        "vpmovq2m k1, zmm0
         vpmovq2m k2, zmm5
         vmovdqu64 zmm14, zmm0
         vpshufd zmm8, zmm0, 0F5h
         vpshufd zmm9, zmm5, 0F5h
         vpmuludq zmm10, zmm0, zmm5
         vpmuludq zmm11, zmm0, zmm9
         vpmuludq zmm12, zmm5, zmm8
         vpmuludq zmm8, zmm8, zmm9
         vpsrlq zmm10, zmm10, 20h
         vpaddq zmm11, zmm11, zmm10
         vpandq zmm10, zmm11, [rip+31h]{1to8}
         vpaddq zmm12, zmm12, zmm10
         vpsrlq zmm11, zmm11, 20h
         vpsrlq zmm12, zmm12, 20h
         vpaddq zmm8, zmm11, zmm8
         vpaddq zmm0, zmm12, zmm8
         vpsubq zmm0{k1}, zmm0, zmm5
         vpsubq zmm0{k2}, zmm0, zmm14",
    );
}

#[test]
fn high_products_of_52_bits() {
    assert_lines(
        &avx512(Set::Avx512Ifma, &[instruction(Kind::ImulhR, 0)]),
        "vpsrlq zmm8, zmm0, 34h
         vpsrlq zmm9, zmm5, 34h
         vpxorq zmm10, zmm10, zmm10
         vpxorq zmm11, zmm11, zmm11
         vpmadd52huq zmm10, zmm0, zmm5
         vpmadd52huq zmm11, zmm0, zmm9
         vpmadd52luq zmm10, zmm0, zmm9
         vpmadd52huq zmm11, zmm8, zmm5
         vpmadd52luq zmm10, zmm8, zmm5
         vpmadd52luq zmm11, zmm8, zmm9
         vpsrlq zmm10, zmm10, 0Ch
         vpsllq zmm11, zmm11, 28h
         vpaddq zmm0, zmm10, zmm11",
    );
}
