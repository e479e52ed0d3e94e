//! The modules' listings, and what they need. `crates/wasmi` runs them.

use super::module;
use crate::cpu::Cpu;
use crate::jit::wasm::listings::{assert_functions, assert_listing};
use crate::jit::wasm::{Features, bridge};
use crate::superscalar::{Instruction, Kind, Program, programs};

type Programs = [Program; 8];

const BASELINE: Features =
    Features { fused_multiply_add: false, wide_arithmetic: false, shared_memory: false };

/// Returns one instruction of each kind that has code of its own.
fn every_operation() -> Programs {
    let instruction = |kind, imm32| Instruction { kind, dst: 0, src: 5, modifier: 2 << 2, imm32 };
    let every = [
        instruction(Kind::IsubR, 0),
        instruction(Kind::IxorR, 0),
        instruction(Kind::IaddRs, 0),
        instruction(Kind::ImulR, 0),
        instruction(Kind::IrorC, 13),
        instruction(Kind::IaddC7, 0x8000_0000),
        instruction(Kind::IxorC9, 77),
        instruction(Kind::ImulhR, 0),
        instruction(Kind::IsmulhR, 0),
        instruction(Kind::ImulRcp, 3),
        // A power of two has no reciprocal.
        instruction(Kind::ImulRcp, 4),
    ];
    let mut instructions = every.to_vec();
    std::array::from_fn(|_| Program {
        instructions: std::mem::take(&mut instructions),
        address_register: 6,
    })
}

#[test]
fn modules_are_as_listed() {
    // Of the key's functions only the first has instructions.
    let is_listed = |function| !(1..8).contains(&function);
    let baseline = module(&every_operation(), BASELINE);
    assert_functions("superscalar/tests/baseline", &baseline, is_listed);
    let all = Features { fused_multiply_add: true, wide_arithmetic: true, shared_memory: true };
    assert_functions("superscalar/tests/all", &module(&every_operation(), all), is_listed);
    assert_listing("superscalar/tests/bridge", &bridge::module());
}

/// A module uses only the features that it was generated for.
#[test]
fn modules_need_no_other_features() {
    use wasmparser::{Validator, WasmFeatures};
    let valid = |features, with: WasmFeatures| {
        let wasm2 = WasmFeatures::WASM2.union(with);
        let bytes = module(&programs(b"tiers", Cpu::baseline()), features);
        Validator::new_with_features(wasm2).validate_all(&bytes).is_ok()
    };
    let wide = Features { wide_arithmetic: true, ..BASELINE };
    let shared = Features { shared_memory: true, ..BASELINE };
    assert!(valid(BASELINE, WasmFeatures::empty()));
    assert!(valid(wide, WasmFeatures::WIDE_ARITHMETIC));
    assert!(!valid(wide, WasmFeatures::empty()));
    assert!(valid(shared, WasmFeatures::THREADS));
    assert!(!valid(shared, WasmFeatures::empty()));
}
