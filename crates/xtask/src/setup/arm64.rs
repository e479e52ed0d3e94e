//! A linker, an emulator and Rust's standard library for ARM64.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::cpp::install_missing;
use super::debian;
use super::{WasmTools, announce, wasm_tools};
use crate::{process, workspace};

/// The target of tests on ARM64.
pub(crate) const ARM64: &str = "aarch64-unknown-linux-gnu";

/// Programs, and their Debian packages.
const TOOLS: [(&str, &str); 2] =
    [("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"), (EMULATOR, "qemu-user")];

/// The C library of programs for ARM64. The linker's package only recommends it.
const LIBRARY: (&str, &str) = ("/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-dev-arm64-cross");

/// Runs a program for ARM64.
pub(crate) const EMULATOR: &str = "qemu-aarch64";

/// The standard library for the compiler in the package `rustc-web`.
const STANDARD_LIBRARY: &str = "libstd-rust-web-dev";

/// What builds and runs programs for ARM64.
pub(crate) struct Arm64Tools {
    /// The toolchain of wasm builds.
    pub(crate) rust: WasmTools,
    /// The folder with the standard library for ARM64, unless it is the toolchain's own.
    pub(crate) sysroot: Option<PathBuf>,
}

/// Installs a linker, an emulator and the standard library for ARM64 if they are missing.
pub(crate) fn arm64_tools() -> Result<Arm64Tools> {
    install_missing(&TOOLS, &[LIBRARY], "1 minute")
        .context("install a C compiler for ARM64 and QEMU's user mode by hand: tests use them")?;
    let rust = wasm_tools()?;
    let cache = workspace::cache_dir()?;
    if rust.is_private() {
        let sysroot = standard_library(&rust, &cache)?;
        return Ok(Arm64Tools { rust, sysroot: Some(sysroot) });
    }
    announce("rustup target add: the standard library for ARM64 (about 10 seconds)");
    let rustup = process::find("rustup").context("rustup is not on PATH")?;
    let mut rustup = process::command(rustup);
    process::run_logged(
        rustup.args(["target", "add", ARM64]),
        &cache.join("logs/rustup-arm64.log"),
    )?;
    Ok(Arm64Tools { rust, sysroot: None })
}

/// Unpacks Debian's build of the standard library for ARM64 unless it was done before. A library fits
/// only the compiler of its version.
fn standard_library(rust: &WasmTools, cache: &Path) -> Result<PathBuf> {
    let version = process::read(rust.command("rustc")?.arg("--version"))?;
    let version = version.split(' ').nth(1).context("rustc prints no version")?;
    let sysroot = cache.join("arm64").join(version);
    if sysroot.is_dir() {
        return Ok(sysroot);
    }
    announce("the standard library for ARM64 from Debian's packages (about 20 seconds)");
    let work = cache.join("unfinished-arm64");
    process::remove_dir(&work)?;
    fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
    let log = cache.join("logs/arm64.log");
    let package = debian::download_foreign(STANDARD_LIBRARY, "arm64", version, &work, &log)?;
    process::run(process::command("dpkg-deb").arg("-x").arg(package).arg(&work))?;
    let library = Path::new("lib/rustlib").join(ARM64);
    if !work.join("usr").join(&library).is_dir() {
        bail!("{STANDARD_LIBRARY}:arm64 contains no {}", library.display());
    }
    fs::create_dir_all(sysroot.parent().unwrap_or(&sysroot))?;
    fs::rename(work.join("usr"), &sysroot)
        .with_context(|| format!("cannot move files to {}", sysroot.display()))?;
    process::remove_dir(&work)?;
    Ok(sysroot)
}
