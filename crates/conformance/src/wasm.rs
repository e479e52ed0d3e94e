//! The suites for JavaScript.

use randomx::VmOptions;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// Returns the names of all suites.
#[wasm_bindgen]
pub fn suites() -> Vec<String> {
    crate::suites().map(str::to_owned).collect()
}

/// Runs a suite on the text of its vector file, and returns the report as JSON.
///
/// # Errors
///
/// If the suite cannot be run.
#[wasm_bindgen]
pub fn run(suite: &str, vectors: &str) -> Result<String, JsError> {
    let report = crate::run(suite, vectors, VmOptions::default())?;
    Ok(serde_json::to_string(&report)?)
}
