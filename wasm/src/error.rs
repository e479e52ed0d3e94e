//! What this module throws.

use js_sys::{Error, Reflect};
use randomx::{CacheError, VmError};
use wasm_bindgen::JsValue;

/// A failure, on its way to becoming a JavaScript `Error` with a `code` property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// `invalid-argument`: the sentence names the argument.
    InvalidArgument(String),
    /// `out-of-memory`: the memory that was asked for is not to be had; nothing was kept.
    OutOfMemory(String),
}

impl Failure {
    /// The value of the `code` property.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument(_) => "invalid-argument",
            Self::OutOfMemory(_) => "out-of-memory",
        }
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        match self {
            Self::InvalidArgument(message) | Self::OutOfMemory(message) => message,
        }
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        // Any key has a cache: memory is all that a cache can lack.
        Self::OutOfMemory(error.to_string())
    }
}

impl From<VmError> for Failure {
    fn from(error: VmError) -> Self {
        match error {
            VmError::OutOfMemory { .. } => Self::OutOfMemory(error.to_string()),
            // The others reject an option.
            _ => Self::InvalidArgument(error.to_string()),
        }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let error = Error::new(failure.message());
        // A fresh Error is an extensible object: the property is always set.
        let _ = Reflect::set(&error, &"code".into(), &failure.code().into());
        error.into()
    }
}
