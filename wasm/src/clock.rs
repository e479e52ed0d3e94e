//! JavaScript's clock.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Returns the milliseconds since a fixed moment.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;
}
