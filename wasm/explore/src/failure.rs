//! The errors that this module throws.

use js_sys::{Error, Reflect};
use randomx::{CacheError, VmError};
use wasm_bindgen::JsValue;

/// A failure, on its way to becoming a JavaScript `Error` with a `code` property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// `invalid-argument`: the sentence names the argument.
    InvalidArgument(String),
    /// `out-of-memory`.
    OutOfMemory(String),
    /// `worker-failed`: the JavaScript engine refused to create an object.
    Refused(String),
}

impl From<tsify::Error> for Failure {
    fn from(error: tsify::Error) -> Failure {
        Failure::Refused(error.to_string())
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Failure {
        Failure::OutOfMemory(error.to_string())
    }
}

impl From<VmError> for Failure {
    fn from(error: VmError) -> Failure {
        match error {
            VmError::OutOfMemory { .. } => Failure::OutOfMemory(error.to_string()),
            // All others reject an option.
            _ => Failure::InvalidArgument(error.to_string()),
        }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> JsValue {
        let (code, message) = match &failure {
            Failure::InvalidArgument(message) => ("invalid-argument", message),
            Failure::OutOfMemory(message) => ("out-of-memory", message),
            Failure::Refused(message) => ("worker-failed", message),
        };
        let error = Error::new(message);
        // This cannot fail, because a new Error is extensible.
        let _ = Reflect::set(&error, &"code".into(), &code.into());
        error.into()
    }
}
