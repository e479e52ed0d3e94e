//! The features that the module needs, and its listing. `crates/wasmi` runs it.

use wasmparser::{Validator, WasmFeatures};

use super::*;
use crate::jit::wasm::listings::assert_listing;

#[test]
fn the_module_needs_no_optional_feature() {
    let baseline = WasmFeatures::WASM2;
    let validate = |features, shared_memory| {
        let bytes = module(Features { shared_memory, ..Features::default() });
        Validator::new_with_features(features).validate_all(&bytes).map(|_| bytes.len())
    };
    assert!(validate(baseline, false).expect("a valid module") < 6000);
    validate(baseline | WasmFeatures::THREADS, true).expect("a valid module");
    assert!(validate(baseline, true).is_err(), "its memory is shared");
}

#[test]
fn quarter_rounds_are_as_listed() {
    let mut body = Body::new(0);
    let permutation = Permutation::new(&mut body);
    let [a0, a1, b0, b1, c0, c1, d0, d1] = permutation.pairs;
    permutation.mix(&mut body, [[a0, a1], [b0, b1], [c0, c1], [d0, d1]]);
    let mut module = Module::new();
    module.function(&[], &[], &body);
    assert_listing("argon2d/tests/quarter_rounds", &module.finish());
}
