//! Compilers for C and C++, and what else the tests of the reference and of the C library need.

use std::path::Path;

use anyhow::{Context, Result};

use super::debian;
use crate::process;

/// Programs that build the reference implementation, and their Debian packages.
const TOOLS: [(&str, &str); 2] = [("cmake", "cmake"), ("c++", "build-essential")];

/// Further programs for the tests of the C library, and their Debian packages.
const C_LIBRARY_TOOLS: [(&str, &str); 2] = [("emcc", "emscripten"), ("valgrind", "valgrind")];

/// The header of Debian's build of the reference implementation, and its package.
const REFERENCE: (&str, &str) = ("/usr/include/randomx.h", "librandomx-dev");

/// Installs CMake and a C++ compiler if they are missing.
pub(crate) fn cpp_tools() -> Result<()> {
    install_missing(&TOOLS, &[], "1 minute").context(
        "install CMake and a C++ compiler by hand: they build the reference implementation",
    )
}

/// Installs Emscripten, Valgrind and Debian's librandomx if they are missing.
pub(crate) fn c_library_tools() -> Result<()> {
    install_missing(&C_LIBRARY_TOOLS, &[REFERENCE], "2 minutes").context(
        "install Emscripten, Valgrind and librandomx by hand: tests of the C library use them",
    )
}

/// Installs QEMU's emulator of x86-64 if it is missing, and returns its name.
pub(crate) fn x86_64_emulator() -> Result<&'static str> {
    const EMULATOR: (&str, &str) = ("qemu-x86_64", "qemu-user");
    install_missing(&[EMULATOR], &[], "1 minute")
        .context("install QEMU's user emulation by hand: tests of machine code use it")?;
    Ok(EMULATOR.0)
}

/// Installs the packages of `programs` that are not on `PATH`, and of `files` that do not exist.
pub(super) fn install_missing(
    programs: &[(&str, &'static str)],
    files: &[(&str, &'static str)],
    time: &str,
) -> Result<()> {
    let mut packages = missing(programs);
    let absent = files.iter().filter(|(file, _)| !Path::new(file).is_file());
    packages.extend(absent.map(|(_, package)| *package));
    if packages.is_empty() { Ok(()) } else { debian::install(&packages, time, "cpp") }
}

fn missing(tools: &[(&str, &'static str)]) -> Vec<&'static str> {
    let absent = tools.iter().filter(|(program, _)| process::find(program).is_none());
    absent.map(|(_, package)| *package).collect()
}
