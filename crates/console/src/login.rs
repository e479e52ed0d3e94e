//! Logins in arguments.

use clap::{
    Error, Parser,
    error::{ContextKind, ContextValue},
};

/// Parses the arguments of this process. If one cannot be used, ends the process with a message. That shows no login of an
/// address, whichever argument it is in: terminals and service managers keep messages.
pub fn parse_arguments<P: Parser>() -> P {
    P::try_parse().unwrap_or_else(|problem| hide_logins(problem).exit())
}

fn hide_logins(mut problem: Error) -> Error {
    let hidden: Vec<_> = problem.context().filter_map(hide_login).collect();
    for (kind, shown) in hidden {
        problem.insert(kind, shown);
    }
    problem
}

/// Returns what replaces a part of a message that has a login.
fn hide_login((kind, value): (ContextKind, &ContextValue)) -> Option<(ContextKind, ContextValue)> {
    let ContextValue::String(text) = value else { return None };
    let (_, rest) = text.rsplit_once('@')?;
    Some((kind, ContextValue::String(format!("***@{rest}"))))
}
