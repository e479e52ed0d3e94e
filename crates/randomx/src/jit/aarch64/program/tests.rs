//! The code of programs, read back and compared with `tests/*.txt`. The crate's `tests/jit` checks
//! its results.

use super::{Features, LONGEST_FRAME, LONGEST_OPERATION};
use crate::aes::{Aes, AesGenerator4R};
use crate::cpu::Cpu;
use crate::jit::program::Isa;
use crate::params::{SCRATCHPAD_L3, Version};
use crate::program::{Configuration, Instruction, Opcode, Program};
use crate::scratchpad::{L1_MASK, L2_MASK, L3_MASK};

const FEATURES: [Features; 2] = [Features { aes: true }, Features { aes: false }];

fn word(opcode: Opcode, dst: u8, src: u8, modifier: u8, imm32: u32) -> Instruction {
    let before = Opcode::FREQUENCIES.iter().take_while(|(other, _)| *other != opcode);
    let opcode = before.map(|(_, count)| *count as u8).sum();
    Instruction { opcode, dst, src, modifier, imm32 }
}

fn program(version: Version, instructions: Vec<Instruction>) -> Program {
    Program { version, configuration: Configuration::ZERO, instructions }
}

fn words(code: &[u8]) -> Vec<u32> {
    code.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// Compares the code of each operation, with two different registers and with the same one, with a
/// listing of binutils.
fn compare(version: Version, listing: &str) {
    let with = |src| {
        Opcode::FREQUENCIES.iter().map(move |&(opcode, _)| word(opcode, 5, src, 7, 0x8123_4567))
    };
    let program = program(version, with(4).chain(with(5)).collect());
    let list = FEATURES[0].list(&program).expect("a short program");
    let actual: Vec<String> =
        list.iter().flat_map(|code| words(code)).map(|word| format!("{word:08x}")).collect();
    let expected: Vec<&str> =
        listing.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(actual, expected, "{}", actual.join("\n"));
}

#[test]
fn operations_of_v1() {
    compare(Version::V1, include_str!("tests/v1.txt"));
}

#[test]
fn operations_of_v2() {
    compare(Version::V2, include_str!("tests/v2.txt"));
}

/// The capacity of a lane's code memory depends on these limits.
#[test]
fn code_is_within_the_assumed_lengths() {
    for features in FEATURES {
        for version in Version::ALL {
            let frame = length(features, &program(version, Vec::new()));
            assert!(frame <= LONGEST_FRAME, "the frame of {version}: {frame} bytes");
            for (opcode, _) in Opcode::FREQUENCIES {
                for (dst, src) in [(4, 5), (0, 7), (4, 4)] {
                    for modifier in [0, 1, 0xff] {
                        // Beyond the first literals, which stay in registers.
                        let instruction = word(*opcode, dst, src, modifier, 0x8123_4567);
                        let [one, two] = [20, 40].map(|count| {
                            length(features, &program(version, vec![instruction; count]))
                        });
                        let each = (two - one).div_ceil(20);
                        assert!(each <= LONGEST_OPERATION, "{opcode:?}: {each} bytes");
                    }
                }
            }
        }
    }
}

fn length(features: Features, program: &Program) -> usize {
    let mut emitter = features.emitter();
    features.emit(&mut emitter, program).expect("a short program").len()
}

/// Decodes the code of random programs: each access to memory has a masked or a constant address in
/// the scratchpad, or is the load of a literal.
#[test]
fn every_access_is_within_the_scratchpad() {
    let mut generator = AesGenerator4R::new(&[3; 64], Aes::new(Cpu::detect()));
    let mut accesses = 0;
    for version in Version::ALL {
        for _ in 0..200 {
            let program = Program::generate(&mut generator, version);
            for code in FEATURES[0].list(&program).expect("a program") {
                let words = words(&code);
                for (index, &access) in words.iter().enumerate() {
                    let is_access = access >> 25 & 0b101 == 0b100;
                    let is_literal = access & 0x3b00_0000 == 0x1800_0000;
                    if is_access && !is_literal {
                        let before = index.checked_sub(1).map_or(0, |index| words[index]);
                        assert!(is_within(before, access), "{before:08x} {access:08x}");
                        accesses += 1;
                    }
                }
            }
        }
    }
    // A fifth of the instructions.
    assert!(accesses > 200 * (256 + 384) / 8, "{accesses} accesses");
}

/// Whether an access of 8 bytes is within the scratchpad, with the address that the instruction before
/// it has left in `x16`.
fn is_within(before: u32, access: u32) -> bool {
    const X1: u32 = 1 << 5;
    const X16: u32 = 16 << 5;
    let offset = (access >> 10 & 0xfff) * 8;
    // `ldr` and `str` of 8 bytes, of general purpose and of NEON registers.
    match access & 0xfb20_0fe0 {
        index if index == 0xf820_0800 | X1 => {
            // `[x1, x16]`, behind `and w16, n, #mask`.
            let masks = [L1_MASK, L2_MASK, L3_MASK].map(|mask| {
                let mut assembler = super::Assembler::new(4);
                let [address, ..] = super::registers::T;
                assembler.and_mask32(address, address, mask);
                words(assembler.finish().expect("an instruction"))[0] & !X16
            });
            access >> 16 & 31 == 16
                && access >> 13 & 7 == 3
                && masks.contains(&(before & !(31 << 5)))
        }
        _ if access & 0xfb00_03e0 == 0xf900_0000 | X1 => true,
        _ if access & 0xfb00_03e0 == 0xf900_0000 | X16 => {
            // `[x16, #offset]`, behind `add x16, x1, #upper, lsl #12`.
            let upper = (before >> 10 & 0xfff) << 12;
            before & 0xffc0_03ff == 0x9140_0030 && (upper + offset + 8) as usize <= SCRATCHPAD_L3
        }
        _ => false,
    }
}
