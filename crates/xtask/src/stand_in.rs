//! A stand-in for another system's C compiler and archiver, for lints.
//!
//! Lints of Rust code neither link nor run anything. But the build scripts of crates that contain C code, such as
//! `ring`, compile it, which needs the other system's headers. This program takes the place of the compiler and
//! the archiver there: it compiles nothing, and creates the files that a build script expects, empty. A program
//! linked with them would lack every function of theirs, so the linker would refuse it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::process;

/// The variable that makes this program the stand-in.
const VARIABLE: &str = "RANDOMX_XTASK_STANDS_IN";

/// Makes build scripts that a command of Cargo starts use the stand-in for a target.
pub(crate) fn replace_c_tools(cargo: &mut Command, target: &str) -> Result<()> {
    let itself = process::itself()?;
    let target = target.replace('-', "_");
    for tool in ["CC", "AR"] {
        cargo.env(format!("{tool}_{target}"), itself);
    }
    cargo.env(VARIABLE, "1");
    Ok(())
}

/// Does what the stand-in does, if this process is one.
pub(crate) fn run() -> Option<ExitCode> {
    env::var_os(VARIABLE)?;
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let written = created(&arguments).map_or(Ok(()), |file| {
        fs::write(&file, "").with_context(|| format!("cannot write {}", file.display()))
    });
    Some(match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    })
}

/// Returns the file that a compiler or an archiver with these arguments creates. Build scripts also ask what a
/// compiler is and which flags it knows, which creates none.
fn created(arguments: &[OsString]) -> Option<PathBuf> {
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(PathBuf::from)
    };
    let joined = |name: &str| {
        let mut all = arguments.iter().filter_map(|argument| argument.to_str());
        all.find_map(|argument| argument.strip_prefix(name)).map(PathBuf::from)
    };
    after("-o").or_else(|| after("cq")).or_else(|| after("cqD")).or_else(|| joined("-out:"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::created;

    #[test]
    fn the_created_file_is_that_of_the_real_tools() {
        let file = |arguments: &str| {
            let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            created(&arguments)
        };
        assert_eq!(file("-O3 -c a.c -o a.o").as_deref(), Some(Path::new("a.o")));
        assert_eq!(file("cqD lib.a a.o b.o").as_deref(), Some(Path::new("lib.a")));
        assert_eq!(file("cq lib.a a.o").as_deref(), Some(Path::new("lib.a")));
        assert_eq!(file("-out:a.lib -nologo a.o").as_deref(), Some(Path::new("a.lib")));
        assert_eq!(file("-E detect.c"), None);
        assert_eq!(file("sD lib.a"), None);
    }
}
