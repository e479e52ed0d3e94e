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
    let code = program.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
