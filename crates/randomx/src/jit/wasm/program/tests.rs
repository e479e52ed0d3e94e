//! The modules of programs, validated and compared with `tests/*.wat`. That they compute the right
//! thing is tested in `tests/jit` of the crate.

use super::{Emitter, Scope};
use crate::jit::wasm::Features;
use crate::params::Version;
use crate::program::{Configuration, Instruction, Opcode, Program};

/// The baseline that every visitor has.
const NONE: Features =
    Features { fused_multiply_add: false, wide_arithmetic: false, shared_memory: false };
const ALL: Features =
    Features { fused_multiply_add: true, wide_arithmetic: true, shared_memory: true };

/// Each operation, once with two registers and once with one.
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

fn listing(version: Version, features: Features) -> String {
    let mut emitter = Emitter::default();
    let module = emitter.emit(&every_operation(version), Scope::Iteration, features, 2);
    let mut text = wasmprinter::print_bytes(module).expect("a module");
    // The second copy is the first once more.
    let second = text.rfind("  (func (;1;)").expect("two functions");
    text.truncate(second);
    text
}

#[test]
fn v1_on_every_engine() {
    assert_eq!(listing(Version::V1, NONE), include_str!("tests/v1_none.wat"));
}

#[test]
fn v2_with_all_features() {
    assert_eq!(listing(Version::V2, ALL), include_str!("tests/v2_all.wat"));
}

#[test]
fn an_emitter_leaves_nothing_of_an_earlier_program() {
    let mut used = Emitter::default();
    for version in Version::ALL {
        for features in [NONE, ALL] {
            for scope in [Scope::Iteration, Scope::Instructions] {
                let program = every_operation(version);
                let module = used.emit(&program, scope, features, 3);
                assert_eq!(module, Emitter::default().emit(&program, scope, features, 3));
                wasmparser::validate(module).expect("a valid module");
            }
        }
    }
}
