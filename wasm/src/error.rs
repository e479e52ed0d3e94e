//! Errors that this module throws.

use crate::text::digits;
use js_sys::{Error, RangeError, Reflect};
use randomx::{MAX_LANES, VmError};
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
    /// Returns the failure for an argument that is not what was expected.
    pub(crate) fn unexpected(name: &str, expected: &str, given: &str) -> Failure {
        Self::InvalidArgument([name, ": expected ", expected, ", got ", given].concat())
    }

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

/// As `VmError`'s own messages, whose formatting code would add to the download. WebAssembly has no other error of
/// machine code.
impl From<VmError> for Failure {
    fn from(error: VmError) -> Self {
        match error {
            VmError::OutOfMemory { bytes } => {
                let needed = digits((bytes >> 20) as f64);
                let parts = ["no memory for the RandomX scratchpads: ", &needed, " MiB needed"];
                Self::OutOfMemory(parts.concat())
            }
            VmError::Lanes { requested } => {
                let expected = String::from("1 to ") + &digits(MAX_LANES as f64);
                Self::unexpected("lanes", &expected, &digits(requested as f64))
            }
            _ => Self::Refused(String::from("no machine code for this processor")),
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
