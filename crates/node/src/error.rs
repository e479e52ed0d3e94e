//! Errors that the add-on throws.

use napi::Error;
use randomx::{CacheError, VmError};

/// The value of an error's `code` property, as the package's errors have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An argument is not what its documentation says.
    InvalidArgument,
    /// An allocation failed. Nothing was kept.
    OutOfMemory,
    /// The thread that computes a dataset panicked.
    WorkerFailed,
}

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        match self {
            Code::InvalidArgument => "invalid-argument",
            Code::OutOfMemory => "out-of-memory",
            Code::WorkerFailed => "worker-failed",
        }
    }
}

/// The result of an export.
pub(crate) type Result<T> = napi::Result<T, Code>;

/// Makes errors.
pub(crate) struct Failure;

impl Failure {
    pub(crate) fn invalid_argument(message: String) -> Error<Code> {
        Error::new(Code::InvalidArgument, message)
    }

    pub(crate) fn cache(error: CacheError) -> Error<Code> {
        Error::new(Code::OutOfMemory, error.to_string())
    }

    pub(crate) fn vm(error: VmError) -> Error<Code> {
        let code = match error {
            VmError::OutOfMemory { .. } => Code::OutOfMemory,
            // All others refuse an option.
            _ => Code::InvalidArgument,
        };
        Error::new(code, error.to_string())
    }
}
