//! Errors that this module throws.

use js_sys::{Error, RangeError, Reflect};
use randomx::VmError;
use wasm_bindgen::{JsCast, JsValue};

/// A failure, which becomes a JavaScript `Error` with a `code` property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// `invalid-argument`: the message names the argument.
    InvalidArgument(String),
    /// `out-of-memory`: an allocation failed. Nothing was kept.
    OutOfMemory(String),
    /// `worker-failed`: the JavaScript engine refused something unexpectedly.
    Refused(String),
}

impl Failure {
    /// Converts what the JavaScript engine threw when it compiled or called something.
    pub(crate) fn refused(thrown: &JsValue) -> Failure {
        let message = match thrown.dyn_ref::<Error>() {
            Some(error) => error.message().into(),
            None => String::new(),
        };
        if thrown.has_type::<RangeError>() {
            Self::OutOfMemory(message)
        } else {
            Self::Refused(message)
        }
    }

    /// Returns the value of the `code` property.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument(_) => "invalid-argument",
            Self::OutOfMemory(_) => "out-of-memory",
            Self::Refused(_) => "worker-failed",
        }
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        match self {
            Self::InvalidArgument(message)
            | Self::OutOfMemory(message)
            | Self::Refused(message) => message,
        }
    }
}

impl From<VmError> for Failure {
    fn from(error: VmError) -> Self {
        match error {
            VmError::OutOfMemory { .. } => Self::OutOfMemory(error.to_string()),
            // All others refuse an option.
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
