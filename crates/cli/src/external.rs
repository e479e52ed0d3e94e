//! Commands that are programs of their own, because few users need them and they are long to build.

use std::{
    env,
    ffi::OsString,
    io,
    path::PathBuf,
    process::{Command, ExitCode},
};

use crate::error::Error;

/// The program of `randomx audit` and `randomx collect`.
const PROGRAM: &str = "randomx-audit";

/// Runs a command of the other program, and ends with its exit code.
pub(crate) fn run(command: &'static str, arguments: &[OsString]) -> Result<ExitCode, Error> {
    let beside = || {
        let file = env::current_exe().ok()?.with_file_name(PROGRAM);
        let file = file.with_extension(env::consts::EXE_EXTENSION);
        file.is_file().then_some(file)
    };
    // The one beside this program is of the same release.
    let mut program = Command::new(beside().unwrap_or_else(|| PathBuf::from(PROGRAM)));
    replace(program.arg(command).args(arguments)).map_err(|problem| match problem.kind() {
        io::ErrorKind::NotFound => Error::NotInstalled { command },
        _ => Error::External { command, problem },
    })
}

/// Becomes the program, so that signals reach it.
#[cfg(unix)]
fn replace(program: &mut Command) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(program))
}

#[cfg(not(unix))]
fn replace(program: &mut Command) -> io::Result<ExitCode> {
    let status = program.status()?;
    let code = exit_code(status.code()).ok_or_else(|| io::Error::other(status.to_string()))?;
    Ok(ExitCode::from(code))
}

/// Returns the exit code of this program for that of the other one. If the system ends a program, it has none, or a
/// negative one on Windows, and says nothing about a proof of work.
#[cfg(any(not(unix), test))]
fn exit_code(status: Option<i32>) -> Option<u8> {
    status.and_then(|code| u8::try_from(code).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_no_verdict() {
        for code in [0, 1, 2] {
            assert_eq!(exit_code(Some(i32::from(code))), Some(code));
        }
        // 0xC0000409, the status of an abort on Windows.
        for crashed in [Some(-1_073_740_791), Some(256), None] {
            assert_eq!(exit_code(crashed), None, "{crashed:?}");
        }
    }
}
