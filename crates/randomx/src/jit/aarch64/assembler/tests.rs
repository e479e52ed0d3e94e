//! Encodings, against those of the GNU assembler (binutils 2.40) for the same instructions.

use super::{Assembler, Condition, Gpr, Neon, Prefetch, Shift, logical_immediate};

const fn x(number: u8) -> Gpr {
    Gpr::x(number)
}

const fn v(number: u8) -> Neon {
    Neon::v(number)
}

fn words(emit: &dyn Fn(&mut Assembler)) -> Vec<u32> {
    let mut assembler = Assembler::new(256);
    emit(&mut assembler);
    let code = assembler.finish().expect("a few instructions");
    code.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// A statement's text, and what it does.
type Statement<'a> = (&'static str, &'a dyn Fn(&mut Assembler));

/// Compares each statement with the instructions and the words in `encodings/*.txt`.
macro_rules! check {
    ($file:literal: $($assembler:ident . $method:ident ( $($argument:expr),* );)*) => {
        assert_encodings(
            include_str!(concat!("tests/encodings/", $file, ".txt")),
            &[$((
                stringify!($method($($argument),*)),
                &|$assembler| $assembler.$method($($argument),*),
            )),*],
        )
    };
}

/// Not generic: as part of each statement, this code would take half a minute to compile.
fn assert_encodings(file: &str, statements: &[Statement]) {
    let mut lines = file.lines();
    for (statement, emit) in statements {
        for word in words(emit) {
            let line = lines.next().unwrap_or_default();
            let expected = line.split(' ').next().unwrap_or_default();
            assert_eq!(format!("{word:08x}"), expected, "{statement}: {line}");
        }
    }
    assert_eq!(lines.next(), None, "all lines were compared");
}

#[test]
fn integers() {
    check!("integers":
        a.add(x(8), x(9), x(10));
        a.sub(x(15), x(0), x(30));
        a.eor(x(8), x(9), x(19));
        a.eor32(x(16), x(10), x(13));
        a.mul(x(8), x(8), x(15));
        a.umulh(x(8), x(9), x(10));
        a.smulh(x(8), x(9), x(10));
        a.ror_by(x(8), x(9), x(10));
        a.add_shifted(x(8), x(9), x(10), Shift::Lsl(3));
        a.add_shifted(x(17), x(2), x(17), Shift::Lsr(32));
        a.eor_shifted(x(3), x(16), x(3), Shift::Ror(32));
        a.eor_shifted(x(6), x(4), x(16), Shift::Lsr(32));
        a.cmp(x(16), x(17));
        a.mov(x(8), x(30));
        a.neg(x(16), x(12));
        a.ror(x(8), x(9), 63);
        a.lsr(x(17), x(3), 32);
        a.ubfiz(x(16), x(8), 6, 22);
        a.rbit(x(16), x(17));
        a.and_mask(x(17), x(3), 0x7fff_ffc0_0000_0000);
        a.and_mask(x(16), x(16), 0xc0_0000);
        a.and_mask32(x(16), x(8), 0x3ff8);
        a.and_mask32(x(16), x(8), 0x1f_ffc0);
        a.tst_mask(x(12), 0xff00);
        a.tst_mask(x(16), 0x3c00_0000_0000);
        a.decrement(x(20), x(20));
        a.read_fpcr(x(17));
        a.write_fpcr(x(16));
    );
}

#[test]
fn values() {
    const MIN: i64 = i32::MIN as i64;
    check!("values":
        a.add_value(x(8), x(8), 1, x(16));
        a.add_value(x(8), x(9), 0, x(16));
        a.add_value(x(8), x(9), -1, x(16));
        a.add_value(x(8), x(8), 0x1000, x(16));
        a.add_value(x(8), x(9), 0x12_3456, x(16));
        a.add_value(x(8), x(8), -0xff_ffff, x(16));
        a.add_value(x(8), x(8), 0x123_4567, x(16));
        a.add_value(x(8), x(8), MIN, x(16));
        a.add_value(x(8), x(8), -MIN, x(16));
        a.add_value(Gpr::x(29), Gpr::SP, 0, x(16));
        a.add_value32(x(16), x(8), 0x3123);
        a.add_value32(x(16), x(8), -0x123);
        a.eor_value(x(8), x(8), 0xff, x(16));
        a.eor_value(x(8), x(8), 0x1234_5678, x(16));
        a.eor_value(x(8), x(8), u64::MAX, x(16));
        a.mov_value(x(8), 0);
        a.mov_value(x(8), 1);
        a.mov_value(x(8), u64::MAX);
        a.mov_value(x(8), 0x8000_0000);
        a.mov_value(x(8), 0x00ff_ffff_ffc0_0000);
        a.mov_value(x(8), 0x80f0_0000_0000_0000);
        a.mov_value(x(8), 0xffff_ffff_8765_4321);
        a.mov_value(x(8), 0x1234_5678_9abc_def0);
        a.mov_value(x(8), 0xffff_1234_ffff_ffff);
    );
    assert!(words(&|a| a.add_value(x(8), x(8), 0, x(16))).is_empty());
    assert!(words(&|a| a.eor_value(x(8), x(8), 0, x(16))).is_empty());
}

#[test]
fn memory() {
    check!("memory":
        a.ldr(x(8), x(0), 8);
        a.str(x(8), Gpr::SP, 104);
        a.ldr32(x(8), x(0), 276);
        a.str32(Gpr::ZERO, x(0), 280);
        a.ldr32_next(x(8), x(1));
        a.ldr_indexed(x(16), x(1), x(16));
        a.str_indexed(x(8), x(1), x(16));
        a.ldp(x(8), x(9), x(0), 16);
        a.stp(x(8), x(9), x(17), -16);
        a.ldp_next(x(27), x(28), x(4));
        a.ldr_next(x(27), x(4));
        a.push(x(29), x(30), 128);
        a.pop(x(29), x(30), 128);
        a.ldr_d(v(24), x(16), 4088);
        a.ldr_d_indexed(v(24), x(1), x(16));
        a.ldr_q(v(22), x(0), 256);
        a.ldp_q(v(16), v(17), x(0), 192);
        a.stp_q(v(0), v(1), x(17), 32);
        a.prfm(Prefetch::Keep, x(16), 0);
        a.prfm(Prefetch::Store, x(16), 64);
        a.prfm_indexed(Prefetch::Stream, x(2), x(16));
    );
}

#[test]
fn vectors() {
    check!("vectors":
        a.fadd(v(0), v(0), v(16));
        a.fsub(v(1), v(2), v(17));
        a.fmul(v(4), v(4), v(18));
        a.fdiv(v(5), v(5), v(24));
        a.eor_v(v(0), v(0), v(21));
        a.bif(v(24), v(22), v(20));
        a.fsqrt(v(4), v(5));
        a.scvtf(v(0), v(1));
        a.sxtl(v(0), v(24));
        a.sxtl2(v(1), v(24));
        a.aese(v(0), v(4));
        a.aesd(v(1), v(4));
        a.aesmc(v(0), v(0));
        a.aesimc(v(1), v(1));
        a.swap_halves(v(3), v(3));
        a.clear(v(24));
        a.dup(v(21), x(16));
    );
}

#[test]
fn branches() {
    let code = words(&|a| {
        let (label, data) = (a.label(), a.label());
        let start = a.position();
        a.b(label);
        a.b_if(Condition::Zero, label);
        a.b_if(Condition::NotZero, label);
        a.b_if_back(Condition::NotZero, start);
        a.tbz(x(21), 2, label);
        a.tbnz(x(21), 33, label);
        a.ldr_literal(x(16), data, 1);
        a.adr(x(16), data);
        a.br(x(17));
        a.blr(x(16));
        a.bind(label);
        a.ret();
        a.align(8);
        a.bind(data);
        a.data(0x0123_4567_89ab_cdef);
        a.data(1);
    });
    let expected = include_str!("tests/encodings/branches.txt");
    let expected: Vec<&str> = expected.lines().filter_map(|line| line.split(' ').next()).collect();
    let code: Vec<String> = code.iter().map(|word| format!("{word:08x}")).collect();
    assert_eq!(code, expected);
}

/// Returns the values of all operands with the given size of element.
fn operands(size: u32) -> impl Iterator<Item = u64> {
    (1..size).flat_map(move |ones| {
        (0..size).map(move |rotation| {
            let element = (1u64 << ones) - 1;
            let mask = u64::MAX >> (64 - size);
            let left = if rotation == 0 { 0 } else { element << (size - rotation) };
            let element = (element >> rotation | left) & mask;
            (0..64 / size).fold(0, |value, place| value | element << (place * size))
        })
    })
}

#[test]
fn logical_immediates_are_those_of_the_architecture() {
    let mut count = 0;
    for size in [2, 4, 8, 16, 32, 64] {
        for value in operands(size) {
            let fields = logical_immediate(value).expect("an operand");
            assert_eq!(decoded(fields), value, "{value:#x}");
            count += 1;
        }
    }
    // The architecture has so many: 2 + 12 + 56 + 240 + 992 + 4032.
    assert_eq!(count, 5334);
    for value in [0, u64::MAX, 5, 0x1234_5678, 0xff00_0000_0000_0100, 1 << 32 | 1 << 31 | 1] {
        assert_eq!(logical_immediate(value), None, "{value:#x}");
    }
}

/// Returns the operand of the fields, as the architecture's pseudocode `DecodeBitMasks` does.
fn decoded(fields: u32) -> u64 {
    let (n, rotation, length) = (fields >> 22 & 1, fields >> 16 & 63, fields >> 10 & 63);
    let size = 1 << (n << 6 | (!length & 63)).ilog2();
    let (ones, rotation) = ((length & (size - 1)) + 1, rotation & (size - 1));
    let element = (1u64 << ones) - 1;
    let mask = u64::MAX >> (64 - size);
    let left = if rotation == 0 { 0 } else { element << (size - rotation) };
    let element = (element >> rotation | left) & mask;
    (0..64 / size).fold(0, |value, place| value | element << (place * size))
}

#[test]
fn code_that_does_not_fit_is_an_error() {
    let mut assembler = Assembler::new(4);
    assembler.ret();
    assert!(assembler.finish().is_ok());
    assembler.ret();
    assert_eq!(assembler.finish(), Err(super::AssemblerError::Full));
    let mut assembler = Assembler::new(1 << 17);
    let label = assembler.label();
    assembler.tbz(x(0), 0, label);
    (0..1 << 14).for_each(|_| assembler.ret());
    assembler.bind(label);
    assert_eq!(assembler.finish(), Err(super::AssemblerError::Far));
}
