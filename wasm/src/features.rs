//! Detection of features that only some JavaScript engines have.

use crate::{error::Failure, host};
use js_sys::{BigInt, Object, Uint8Array, WebAssembly};
use randomx::jit::wasm::Features;
use randomx::jit::wasm::assembler::{Body, Type};
use randomx::jit::wasm::module::Module;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// The bits of features, in both directions between Rust and JavaScript.
const FUSED_MULTIPLY_ADD: u32 = 1;
const WIDE_ARITHMETIC: u32 = 2;
const SHARED_MEMORY: u32 = 4;

/// Detects features, as bits: 1 for a multiply-and-add that rounds once, 2 for products of 128 bits.
/// JavaScript itself detects whether memory can be shared.
#[wasm_bindgen(js_name = detectFeatures)]
pub fn detect_features() -> u32 {
    let mut bits = 0;
    if rounds_once() {
        bits |= FUSED_MULTIPLY_ADD;
    }
    if WebAssembly::validate(&Uint8Array::from(wide_product().as_slice())) == Ok(true) {
        bits |= WIDE_ARITHMETIC;
    }
    bits
}

/// Returns features from bits. 4 is shared memory.
pub(crate) fn from_bits(bits: u32) -> Features {
    Features {
        fused_multiply_add: bits & FUSED_MULTIPLY_ADD != 0,
        wide_arithmetic: bits & WIDE_ARITHMETIC != 0,
        shared_memory: bits & SHARED_MEMORY != 0,
    }
}

/// Returns whether `f64x2.relaxed_madd` is available and rounds once. An engine may also round the
/// product, depending on the processor. With these numbers the sum is then zero.
fn rounds_once() -> bool {
    let sum = || {
        let exports = host::instantiate(&host::compile(&multiply_add())?, &Object::new())?;
        let [a, b, c] = [1.0 + HALF_DIGITS, 1.0 - HALF_DIGITS, -1.0_f64]
            .map(|number| JsValue::from(BigInt::from(number.to_bits())));
        let function = host::function(&exports, "sum_is_zero")?;
        function.call3(&JsValue::UNDEFINED, &a, &b, &c).map_err(|error| Failure::refused(&error))
    };
    sum().is_ok_and(|is_zero| is_zero == 0)
}

/// Its square is lost in a sum with 1.
const HALF_DIGITS: f64 = 1.0 / (1 << 30) as f64;

/// A module that takes the bits of three numbers, and returns whether the first times the second plus
/// the third is zero.
fn multiply_add() -> Vec<u8> {
    let mut body = Body::new(3);
    for number in 0..3 {
        body.local_get(body.parameter(number));
        body.i64x2_splat();
    }
    body.f64x2_relaxed_madd();
    body.i64x2_extract_lane(0);
    body.i64_eqz();
    module("sum_is_zero", &[Type::I64; 3], &[Type::I32], &body)
}

fn wide_product() -> Vec<u8> {
    let mut body = Body::new(0);
    body.i64_const(1);
    body.i64_const(1);
    body.i64_mul_wide_u();
    module("product", &[], &[Type::I64; 2], &body)
}

fn module(name: &str, parameters: &[Type], results: &[Type], body: &Body) -> Vec<u8> {
    let mut module = Module::new();
    let function = module.function(parameters, results, body);
    module.export(name, function);
    module.finish()
}
