//! The worker's clock.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Returns the milliseconds since the worker's time origin.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;
}
