//! Shorter builds and lints: this program stands between Cargo and the compiler.
//!
//! Cargo starts it with the compiler's arguments, as `RUSTC_WRAPPER`. No program that users get is built so.

mod built;
mod datafusion;

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Result;

use self::built::Library;
use crate::process;

/// The variable that makes this program the wrapper. It holds the compiler's version.
const VARIABLE: &str = "RANDOMX_XTASK_WRAPS";

/// Makes a build or a lint by Cargo start the compiler through this program.
pub(crate) fn shorten(cargo: &mut Command) -> Result<()> {
    // A wrapper that the user's variables name keeps its place.
    let is_free = |name| env::var_os(name).is_none();
    if is_free("RUSTC_WRAPPER") && is_free("CARGO_BUILD_RUSTC_WRAPPER") {
        let version = process::read(rustc().arg("-vV"))?;
        cargo.env("RUSTC_WRAPPER", process::itself()?).env(VARIABLE, version);
        datafusion::announce(cargo, rustc());
    }
    Ok(())
}

fn rustc() -> Command {
    process::command(env::var_os("RUSTC").unwrap_or("rustc".into()))
}

/// Runs the compiler's command in the arguments, if this process is the wrapper.
pub(crate) fn run() -> Option<ExitCode> {
    let version = env::var_os(VARIABLE)?;
    let mut arguments = env::args_os().skip(1);
    let mut rustc = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    let library = Library::new(&arguments, &version, env::var_os("OUT_DIR").as_deref());
    if library.as_ref().is_some_and(Library::take) {
        return Some(ExitCode::SUCCESS);
    }
    datafusion::add_flags(&mut rustc, &arguments);
    Some(match rustc.args(arguments).status() {
        Ok(status) => {
            if let Some(library) = library.filter(|_| status.success()) {
                library.note();
            }
            code(status)
        }
        Err(error) => {
            eprintln!("error: cannot start the compiler: {error}");
            ExitCode::FAILURE
        }
    })
}

/// Returns the compiler's exit code, for Cargo. Reports a status without one, such as a signal.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or_else(
        || {
            eprintln!("error: the compiler ended with {status}");
            ExitCode::FAILURE
        },
        ExitCode::from,
    )
}

/// Returns the argument after `option`.
fn value<'a>(arguments: &'a [OsString], option: &str) -> Option<&'a OsString> {
    arguments.iter().skip_while(|argument| *argument != option).nth(1)
}

#[cfg(test)]
fn arguments(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}
