//! Logins in arguments.

use std::ffi::OsStr;

use clap::{
    Arg, Command, Error,
    builder::TypedValueParser,
    error::{ContextKind, ContextValue},
};

/// A parser of addresses. Its errors show no login that an address has: terminals and service managers keep messages.
#[derive(Clone)]
pub struct HideLogin<P>(pub P);

impl<P: TypedValueParser> TypedValueParser for HideLogin<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, Error> {
        self.0.parse_ref(command, argument, value).map_err(|mut problem| {
            if let Some((_, rest)) = value.to_string_lossy().rsplit_once('@') {
                let shown = ContextValue::String(format!("***@{rest}"));
                problem.insert(ContextKind::InvalidValue, shown);
            }
            problem
        })
    }
}
