//! What tests compile C and C++ with: the reference implementation, to compare with it, and the
//! programs that use the C library.

use std::path::Path;

use anyhow::{Context, Result};

use super::announce;
use super::debian::Debian;
use crate::{process, workspace};

/// Programs, and the Debian packages that bring them.
const TOOLS: [(&str, &str); 2] = [("cmake", "cmake"), ("c++", "build-essential")];

/// What the tests of the C library need besides.
const C_LIBRARY_TOOLS: [(&str, &str); 2] = [("emcc", "emscripten"), ("valgrind", "valgrind")];

/// The reference implementation as Debian has it: its header, and the package.
const REFERENCE: (&str, &str) = ("/usr/include/randomx.h", "librandomx-dev");

/// Installs CMake and a C++ compiler if they are not there.
pub(crate) fn cpp_tools() -> Result<()> {
    install(&missing(&TOOLS), "1 minute")
        .context("install CMake and a C++ compiler by hand: tests build the reference with them")
}

/// Installs what the tests of the C library use.
pub(crate) fn c_library_tools() -> Result<()> {
    let mut packages = missing(&C_LIBRARY_TOOLS);
    let (header, package) = REFERENCE;
    if !Path::new(header).is_file() {
        packages.push(package);
    }
    install(&packages, "2 minutes").context(
        "install Emscripten, Valgrind and librandomx by hand: the C library is tested with them",
    )
}

fn missing(tools: &[(&str, &'static str)]) -> Vec<&'static str> {
    let absent = tools.iter().filter(|(program, _)| process::find(program).is_none());
    absent.map(|(_, package)| *package).collect()
}

fn install(packages: &[&str], time: &str) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    announce(&format!("apt-get install {} (about {time})", packages.join(" ")));
    let log = workspace::cache_dir()?.join("logs/cpp.log");
    let debian = Debian::detect()?;
    debian.update(&log)?;
    debian.install(packages, &log)
}
