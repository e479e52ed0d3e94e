//! The code of programs, read back by a disassembler and compared with `tests/*.asm`. The
//! crate's `tests/jit` checks its results.

use super::modes::Modes;
use super::templates::Templates;
use super::{Features, LONGEST_FRAME, LONGEST_OPERATION, ModeLoads, frame::Frame};
use crate::jit::x86_64::assembler::Assembler;
use crate::jit::x86_64::assembler::tests::disassemble;
use crate::params::Version;
use crate::program::{Configuration, Instruction, Opcode, Program};

const ALL: Features = Features { aes: true, avx512: true, bmi2: true, loads: ModeLoads::One };
const NONE: Features = Features { aes: false, avx512: false, bmi2: false, loads: ModeLoads::One };

fn word(opcode: Opcode, dst: u8, src: u8, modifier: u8, imm32: u32) -> Instruction {
    let before = Opcode::FREQUENCIES.iter().take_while(|(other, _)| *other != opcode);
    let opcode = before.map(|(_, count)| *count as u8).sum();
    Instruction { opcode, dst, src, modifier, imm32 }
}

/// Returns each operation twice: with two different registers, and with the same one.
fn every_operation() -> Vec<Instruction> {
    let with = |src| {
        Opcode::FREQUENCIES.iter().map(move |&(opcode, _)| word(opcode, 5, src, 7, 0x8123_4567))
    };
    with(4).chain(with(5)).collect()
}

fn listing(version: Version, instructions: &[Instruction], features: Features) -> String {
    let mut assembler = Assembler::new(1 << 14);
    let program = Program {
        version,
        configuration: Configuration::ZERO,
        instructions: instructions.to_vec(),
    };
    let modes = Modes::emit(&mut assembler, features.loads);
    let start = assembler.position().offset();
    let templates = Templates::of(features);
    templates.emit(&mut assembler, &program, features, modes).expect("a short program");
    let code = assembler.finish().expect("a short program");
    let mut lines = disassemble(&code[start..]).join("\n");
    lines.push('\n');
    lines
}

#[test]
fn operations_of_v1_with_all_extensions() {
    let expected = include_str!("tests/v1_all.asm");
    assert_eq!(listing(Version::V1, &every_operation(), ALL), expected);
}

#[test]
fn operations_of_v2_on_every_processor() {
    let expected = include_str!("tests/v2_none.asm");
    assert_eq!(listing(Version::V2, &every_operation(), NONE), expected);
}

#[test]
fn four_loads_of_the_rounding_mode() {
    let change = word(Opcode::Cfround, 5, 4, 7, 0x8123_4567);
    let features = Features { loads: ModeLoads::Four, ..ALL };
    let expected = include_str!("tests/v1_four_loads.asm");
    assert_eq!(listing(Version::V1, &[change], features), expected);
}

/// The capacity of a lane's code memory depends on these limits.
#[test]
fn code_is_within_the_assumed_lengths() {
    let [all, none] = [ALL, NONE].map(|least| Features { loads: ModeLoads::Four, ..least });
    for (version, features) in [(Version::V1, all), (Version::V2, all), (Version::V2, none)] {
        for (opcode, _) in Opcode::FREQUENCIES {
            // Addresses in `r12` and `r13` have the longest encodings.
            for (dst, src) in [(4, 5), (5, 4), (0, 7), (4, 4), (5, 5)] {
                for modifier in [0, 1, 0xff] {
                    let program = Program {
                        version,
                        configuration: Configuration::ZERO,
                        instructions: vec![word(*opcode, dst, src, modifier, 0x8123_4567)],
                    };
                    let mut assembler = Assembler::new(1 << 12);
                    let modes = Modes::emit(&mut assembler, features.loads);
                    let start = assembler.position().offset();
                    Templates::of(features)
                        .emit(&mut assembler, &program, features, modes)
                        .expect("a short program");
                    let length = assembler.finish().expect("a short program").len() - start;
                    assert!(length <= LONGEST_OPERATION, "{opcode:?}: {length} bytes");
                }
            }
        }
        let mut assembler = Assembler::new(1 << 13);
        let frame = Frame::begin(&mut assembler, features);
        let configuration = &Configuration { read_registers: [4, 5, 4, 5], ..Configuration::ZERO };
        let places = frame.begin_iteration(&mut assembler, configuration, features);
        frame.end_iteration(&mut assembler, places, configuration, version, features);
        let length = assembler.finish().expect("a short frame").len();
        assert!(length <= LONGEST_FRAME, "the frame of {version}: {length} bytes");
    }
}
