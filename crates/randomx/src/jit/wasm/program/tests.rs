//! The modules of programs, validated and compared with `tests/*.wat`. The crate's `tests/jit` checks
//! their results.

use super::{PART, Scope, module};
use crate::jit::wasm::Features;
use crate::jit::wasm::listings::assert_listing;
use crate::params::Version;
use crate::program::{Configuration, Instruction, Opcode, Program};
use crate::rounding::RoundingMode;

/// The features that every browser has.
const NONE: Features =
    Features { fused_multiply_add: false, wide_arithmetic: false, shared_memory: false };
const ALL: Features =
    Features { fused_multiply_add: true, wide_arithmetic: true, shared_memory: true };

/// Returns each operation twice: with two different registers, and with the same one.
fn every_operation(version: Version) -> Program {
    let mut opcode = 0;
    let mut instructions = Vec::new();
    for (_, count) in Opcode::FREQUENCIES {
        for src in [4, 5] {
            instructions.push(Instruction { opcode, dst: 5, src, modifier: 7, imm32: 0x8123_4567 });
        }
        opcode = opcode.wrapping_add(*count as u8);
    }
    let configuration = Configuration { read_registers: [0, 3, 4, 7], ..Configuration::ZERO };
    Program { version, configuration, instructions }
}

#[test]
fn modules_are_as_listed() {
    for (name, version, features) in [("v1_none", Version::V1, NONE), ("v2_all", Version::V2, ALL)]
    {
        let program = every_operation(version);
        let module = module(&program, RoundingMode::Nearest, Scope::Iteration, features, PART);
        assert_listing(&format!("program/tests/{name}"), &module);
    }
}

#[test]
fn parts_of_any_length_are_valid() {
    for version in Version::ALL {
        for features in [NONE, ALL] {
            for scope in [Scope::Iteration, Scope::Instructions] {
                // The third part has CFROUND, so it is there for every mode only. Besides the parts, there are the
                // function that sets the mode and the one that calls the parts.
                for (part, functions) in [(0, 2 + 2 + 1 + 2), (usize::MAX, 1 + 2)] {
                    for mode in RoundingMode::ALL {
                        let module = module(&every_operation(version), mode, scope, features, part);
                        wasmparser::validate(&module).expect("a valid module");
                        let with = format!("{version:?}, {features:?}, {scope:?}, {mode:?}");
                        assert_eq!(count(&module), functions, "{with}");
                    }
                }
            }
        }
    }
}

#[test]
fn programs_that_keep_their_mode_are_compiled_for_that_mode() {
    let mut program = every_operation(Version::V1);
    program.instructions.retain(|instruction| instruction.opcode() != Opcode::Cfround);
    for mode in RoundingMode::ALL {
        let module = module(&program, mode, Scope::Iteration, NONE, 0);
        wasmparser::validate(&module).expect("a valid module");
        let expected = if mode == RoundingMode::Nearest { 3 + 1 } else { 3 + 2 };
        assert_eq!(count(&module), expected, "{mode:?}");
    }
}

/// Counts the functions of a module.
fn count(module: &[u8]) -> usize {
    let payloads = wasmparser::Parser::new(0).parse_all(module);
    payloads
        .filter(|payload| matches!(payload, Ok(wasmparser::Payload::CodeSectionEntry(_))))
        .count()
}
