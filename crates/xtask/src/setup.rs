//! Installs tools that a machine lacks.
//!
//! Every step looks first and does nothing if the tool exists. Otherwise it prints in one line what
//! it installs and about how long that takes. `FORCE_FALLBACK=1` skips the attempts that need more
//! than package registries.

mod browsers;
mod build_std;
mod chromium;
mod cpp;
mod crates_io;
mod debian;
mod deny;
mod dieharder;
mod foreign;
mod lock;
mod monero;
mod npm;
mod private_toolchain;
mod python;
mod snap;
mod target;
mod wasm;

use std::env;
use std::env::consts::ARCH;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::tier::System;
use crate::{output, workspace};

pub(crate) use browsers::{Browsers, assert_firefox_exists, browsers, only_chromium};
pub(crate) use cpp::{c_library_tools, cpp_tools, x86_64_emulator};
pub(crate) use deny::cargo_deny;
pub(crate) use dieharder::dieharder;
pub(crate) use foreign::{
    ARM64, ARMV7, Foreign, ForeignTools, I686, RISCV64, S390X, WINDOWS, checker,
    emscripten_library, foreign_tools, installed_foreign_tools, library_for_checks, module_flags,
};
#[cfg(test)]
pub(crate) use lock::Waiting;
pub(crate) use lock::{Held, alone};
pub(crate) use monero::{MONEROD_PATH, monerod};
pub(crate) use npm::{Node, npm, packages};
pub(crate) use python::{has_python, python};
pub(crate) use target::{EMSCRIPTEN, TARGET};
pub(crate) use wasm::{WasmTools, wasm_tools};

/// The targets of lints, for which nothing here links.
pub(crate) const MACOS_ARM64: &str = "aarch64-apple-darwin";
pub(crate) const MACOS_X86_64: &str = "x86_64-apple-darwin";
pub(crate) const WINDOWS_MSVC: &str = "x86_64-pc-windows-msvc";

/// Installs the tools that `cargo xtask test --full` needs on a system.
pub(crate) fn everything(system: System) -> Result<()> {
    if system == System::Debian {
        assert_firefox_exists()?;
    }
    packages()?;
    let wasm = wasm_tools()?;
    module_flags(&wasm)?;
    for target in [MACOS_ARM64, MACOS_X86_64, WINDOWS_MSVC] {
        library_for_checks(&wasm, target)?;
    }
    cargo_deny()?;
    match system {
        System::Any => {
            only_chromium()?;
        }
        System::Debian => {
            cpp_tools()?;
            c_library_tools()?;
            emscripten_library(&wasm)?;
            for foreign in foreign_of(ARCH) {
                foreign_tools(foreign)?;
            }
            browsers()?;
            monerod()?;
            dieharder()?;
            python()?;
        }
    }
    Ok(())
}

/// Returns the targets whose programs the tests run in emulators on a processor.
fn foreign_of(processor: &str) -> &'static [&'static Foreign] {
    match processor {
        "x86_64" => &[&ARM64, &WINDOWS, &RISCV64, &I686, &ARMV7, &S390X],
        "aarch64" => &[],
        _ => &[&ARM64],
    }
}

/// Returns the program that the user chose with a variable, if it is set and not empty.
fn chosen(variable: &str) -> Result<Option<PathBuf>> {
    let path = workspace::non_empty(variable);
    if let Some(path) = &path {
        ensure!(
            path.is_file(),
            "{variable}: expected a program, {} does not exist",
            path.display()
        );
    }
    Ok(path)
}

fn announce(what: &str) {
    output::line(format_args!("setup: {what}"));
}

fn fallback_is_forced() -> bool {
    env::var_os("FORCE_FALLBACK").is_some_and(|value| value == "1")
}
