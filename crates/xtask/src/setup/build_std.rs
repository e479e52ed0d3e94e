//! Builds Rust's standard library from its sources.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use anyhow::Result;

use super::lock::Held;
use super::target;
use crate::{process, remap};

/// Flags of the compiler that make a panic a trap.
pub(super) const TRAPPING: [&str; 2] = ["-Zunstable-options", "-Cpanic=immediate-abort"];

/// The purpose of a standard library.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// Programs, and their tests.
    Link,
    /// Programs that abort when they panic.
    Abort,
    /// Modules of WebAssembly that pages download: a panic is a trap without a text, and algorithms are small.
    Trap,
    /// Checks of code, which need no machine code.
    Check,
}

impl Purpose {
    /// Returns Cargo's subcommand, and how the names of the files end that it makes.
    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Purpose::Link | Purpose::Abort | Purpose::Trap => ("build", ".rlib"),
            Purpose::Check => ("check", ".rmeta"),
        }
    }

    /// Returns the crates, and flags of the compiler.
    fn crates(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Purpose::Link => ("std,panic_unwind,proc_macro,test", &[]),
            Purpose::Check => ("std,panic_unwind", &[]),
            Purpose::Abort => ("std,panic_abort", &["-Cpanic=abort"]),
            Purpose::Trap => ("std,panic_abort", &TRAPPING),
        }
    }

    /// Returns the options of Cargo that choose features of the library.
    fn features(self) -> &'static [&'static str] {
        match self {
            Purpose::Trap => &["-Zbuild-std-features=optimize_for_size"],
            Purpose::Link | Purpose::Abort | Purpose::Check => &[],
        }
    }

    /// Returns a text that names how the library is built: another way has another text.
    pub(super) fn recipe(self) -> String {
        let mut hasher = DefaultHasher::new();
        (self.parts(), self.crates(), self.features(), BITCODE, ANCHOR).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// The flag for the bitcode that optimisation across crates needs. Cargo leaves it out.
const BITCODE: &str = "-Cembed-bitcode=yes";

/// The manifest of an empty package, whose build includes that of the standard library. The profile is the one that
/// releases have.
const ANCHOR: &str = "\
[package]
name = \"anchor\"

[profile.release]
codegen-units = 1

[workspace]
";

/// Builds the standard library for a target with the toolchain that has the sources, and copies it to the
/// folder `libraries`. `work` is a folder for intermediate files.
pub(super) fn build_std(
    purpose: Purpose,
    toolchain: &Path,
    target: &str,
    work: &Path,
    libraries: &Path,
    log: &Path,
    held: &Held,
) -> Result<()> {
    let (subcommand, ending) = purpose.parts();
    let (crates, strategy) = purpose.crates();
    let anchor = work.join("anchor");
    fs::create_dir_all(anchor.join("src"))?;
    fs::write(anchor.join("Cargo.toml"), ANCHOR)?;
    fs::write(anchor.join("src/lib.rs"), "#![no_std]\n")?;

    let target_dir = work.join("target");
    let mut cargo = process::command(toolchain.join("bin/cargo"));
    target::unset_native_settings(&mut cargo);
    cargo.current_dir(anchor).env("RUSTC", toolchain.join("bin/rustc"));
    cargo.env("CARGO_TARGET_DIR", &target_dir);
    let mut flags = remap::flags(toolchain)?;
    flags.extend(strategy.iter().map(|&flag| flag.to_owned()));
    flags.push(BITCODE.into());
    cargo.env("CARGO_ENCODED_RUSTFLAGS", remap::encoded(&flags));
    // Building the standard library is an unstable feature of a stable compiler.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.args([subcommand, "--release", "--target", target]);
    cargo.arg(format!("-Zbuild-std={crates}")).args(purpose.features());
    held.run_logged(&mut cargo, log)?;

    fs::create_dir_all(libraries)?;
    for entry in fs::read_dir(target_dir.join(target).join("release/deps"))? {
        let built = entry?;
        let name = built.file_name();
        let shown = name.to_string_lossy();
        if shown.ends_with(ending) && !shown.starts_with("libanchor-") {
            fs::copy(built.path(), libraries.join(&name))?;
        }
    }
    Ok(())
}
