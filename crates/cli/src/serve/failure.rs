//! Error answers.

use std::{fmt, io};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use randomx::VmError;
use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::error::Error;
use randomx_console::printable;

/// A kind of failure. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    InvalidArgument,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    TooLarge,
    /// The client sends too slowly. Browsers repeat requests with this status.
    Timeout,
    /// The work takes too long.
    Unfinished,
    Busy,
    Unsupported,
    OutOfMemory,
    Aborted,
    Internal,
}

impl Code {
    const fn name(self) -> &'static str {
        match self {
            Code::InvalidArgument => "invalid-argument",
            Code::Forbidden => "forbidden",
            Code::NotFound => "not-found",
            Code::MethodNotAllowed => "method-not-allowed",
            Code::TooLarge => "too-large",
            Code::Timeout | Code::Unfinished => "timeout",
            Code::Busy => "busy",
            Code::Unsupported => "unsupported",
            Code::OutOfMemory => "out-of-memory",
            Code::Aborted => "aborted",
            Code::Internal => "internal",
        }
    }

    const fn status(self) -> StatusCode {
        match self {
            Code::InvalidArgument => StatusCode::BAD_REQUEST,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::Timeout => StatusCode::REQUEST_TIMEOUT,
            Code::Busy => StatusCode::TOO_MANY_REQUESTS,
            Code::Unsupported => StatusCode::UNPROCESSABLE_ENTITY,
            Code::OutOfMemory | Code::Unfinished => StatusCode::SERVICE_UNAVAILABLE,
            Code::Aborted => StatusCode::CONFLICT,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// A failure, with a message that names the argument if one is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Failure {
        // Messages quote requests, and clients show them.
        Failure { code, message: printable(&message.into()) }
    }

    /// The failure of an unusable argument.
    pub(crate) fn argument(name: impl fmt::Display, complaint: impl fmt::Display) -> Failure {
        Failure::new(Code::InvalidArgument, format!("{name}: {complaint}"))
    }

    /// The failure of work whose client has gone, or that was stopped.
    pub(crate) fn aborted() -> Failure {
        Failure::new(Code::Aborted, "the work was stopped")
    }

    /// The body of the answer.
    pub(crate) fn json(&self) -> String {
        #[derive(Serialize)]
        struct Body<'a> {
            error: &'a Failure,
        }
        serde_json::to_string(&Body { error: self }).unwrap_or_default()
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Failure", 2)?;
        object.serialize_field("code", self.code.name())?;
        object.serialize_field("message", &self.message)?;
        object.end()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        (self.code.status(), [kind], self.json()).into_response()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = match &error {
            error if error.is_out_of_memory() => Code::OutOfMemory,
            Error::Vm(VmError::Jit(_)) => Code::Unsupported,
            _ => Code::Internal,
        };
        Failure::new(code, error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(problem: io::Error) -> Failure {
        Failure::new(Code::Internal, problem.to_string())
    }
}

#[cfg(test)]
mod tests {
    use randomx::{CacheError, DatasetError, JitError};

    use super::*;

    #[test]
    fn a_failure_is_an_object_with_a_code_and_a_message() {
        let failure = Failure::argument("inputs[3]", "odd number of hex digits (1)");
        let expected = r#"{"error":{"code":"invalid-argument","message":"inputs[3]: odd number of hex digits (1)"}}"#;
        assert_eq!(failure.json(), expected);
        assert_eq!(failure.into_response().status(), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn a_message_has_no_control_characters() {
        let failure = Failure::argument("body", "unknown field `\u{1b}\u{202e}`");
        assert_eq!(failure.message, "body: unknown field `\\u{1b}\\u{202e}`");
    }

    #[test]
    fn errors_of_the_work_have_their_codes() {
        let code = |error: Error| Failure::from(error).code;
        assert_eq!(code(CacheError::OutOfMemory { bytes: 1 }.into()), Code::OutOfMemory);
        assert_eq!(code(DatasetError::OutOfMemory { bytes: 1 }.into()), Code::OutOfMemory);
        assert_eq!(code(Error::Vm(JitError::Unsupported.into())), Code::Unsupported);
        assert_eq!(code(Error::NoStart), Code::Internal);
    }
}
