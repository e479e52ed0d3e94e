//! A shorter build of DataFusion for tests. No program that users get contains it.
//!
//! For most futures in DataFusion 55, rustc proves anew that all types of a query may be sent to another thread. That
//! takes most of the time of a build, and again of a lint. rustc's next trait solver remembers such proofs. It is
//! unstable, so a wrapper of the compiler asks for it while DataFusion is compiled, and for nothing else. DataFusion
//! has since been changed, which makes this file superfluous with its next version:
//! <https://github.com/apache/datafusion/pull/24329>.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::process;

/// The variable that makes this program the wrapper.
const VARIABLE: &str = "RANDOMX_XTASK_WRAPS";

/// Lets a stable compiler accept the flags.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// The next solver, and code only for items that other crates use.
const FLAGS: [&str; 2] = ["-Znext-solver=globally", "-Zhint-mostly-unused"];

/// Makes a command of Cargo compile DataFusion with the flags, if the compiler has them.
pub(crate) fn shorten(cargo: &mut Command) -> Result<()> {
    let mut rustc = process::command(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.env(UNSTABLE.0, UNSTABLE.1).args(FLAGS).args(["--print", "sysroot"]);
    let has_flags = rustc.output().is_ok_and(|output| output.status.success());
    // A wrapper that the user's variables name keeps its place.
    let is_free = |name| env::var_os(name).is_none();
    if has_flags && is_free("RUSTC_WRAPPER") && is_free("CARGO_BUILD_RUSTC_WRAPPER") {
        cargo.env("RUSTC_WRAPPER", process::itself()?).env(VARIABLE, "1");
    }
    Ok(())
}

/// Runs the compiler's command in the arguments, if this process is the wrapper.
pub(crate) fn run() -> Option<ExitCode> {
    env::var_os(VARIABLE)?;
    let mut arguments = env::args_os().skip(1);
    let mut rustc = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    if is_datafusion(&arguments) {
        rustc.env(UNSTABLE.0, UNSTABLE.1).args(FLAGS);
    }
    Some(become_program(rustc.args(arguments)))
}

/// Lets a program take the place of this process, so that Cargo sees how it ends.
#[cfg(unix)]
fn become_program(command: &mut Command) -> ExitCode {
    use std::os::unix::process::CommandExt;

    eprintln!("error: cannot start the compiler: {}", command.exec());
    ExitCode::FAILURE
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> ExitCode {
    let status = command.status().map(|status| status.success());
    if let Err(error) = &status {
        eprintln!("error: cannot start the compiler: {error}");
    }
    if status.is_ok_and(|succeeded| succeeded) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether these arguments of rustc name one of DataFusion's crates.
fn is_datafusion(arguments: &[OsString]) -> bool {
    let names = arguments.iter().skip_while(|argument| *argument != "--crate-name").nth(1);
    names
        .and_then(|name| name.to_str())
        .is_some_and(|name| name == "datafusion" || name.starts_with("datafusion_"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::is_datafusion;

    #[test]
    fn only_crates_of_datafusion_get_the_flags() {
        let is = |arguments: &str| {
            let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            is_datafusion(&arguments)
        };
        assert!(is("--crate-name datafusion --edition=2024 src/lib.rs"));
        assert!(is("--crate-name datafusion_catalog --edition=2024 src/lib.rs"));
        assert!(!is("--crate-name randomx_datafusion --edition=2024 src/lib.rs"));
        assert!(!is("--crate-name arrow --extern datafusion"));
        assert!(!is("-vV"));
    }
}
