//! Linkers, emulators and Rust's standard library for other processors and systems than this one.

mod node;
mod targets;
mod wine;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::build_std::{Purpose, TRAPPING, build_std};
use super::cpp::install_missing;
use super::debian;
use super::lock::{self, Held};
use super::target::{EMSCRIPTEN, TARGET};
use super::wasm::{run_rustup, standard_library_sources};
use super::{WasmTools, announce, wasm_tools};
use crate::{output, process, remap, stand_in, workspace};

pub(crate) use targets::{ARM64, ARMV7, I686, RISCV64, S390X, WINDOWS};

/// A target that this machine links and emulates.
pub(crate) struct Foreign {
    /// Its usual name, such as `ARM64`.
    pub(crate) name: &'static str,
    /// Rust's target triple, such as `aarch64-unknown-linux-gnu`.
    pub(crate) target: &'static str,
    /// The linker and its Debian package.
    linker: (&'static str, &'static str),
    /// A file of the C library and its Debian package, which the linker's package only recommends.
    library: Option<(&'static str, &'static str)>,
    /// The emulator and its Debian package.
    emulator: (&'static str, &'static str),
    /// The folder in which the emulator looks for libraries.
    root: Option<&'static str>,
    /// The program that starts others with the libraries in that folder, for a target whose programs this machine's
    /// kernel may be able to run.
    loader: Option<&'static str>,
    standard_library: StandardLibrary,
}

/// Where the standard library of a target comes from if rustup has none.
enum StandardLibrary {
    /// Debian's package for this architecture of Debian's.
    Packaged(&'static str),
    /// Its sources, for programs or only to check code.
    Built(Purpose),
}

/// How a library is built if Debian's package of it cannot be used.
const UNPACKAGED: Purpose = Purpose::Link;

/// The packages of the standard library for the compiler in the package `rustc-web`.
const STANDARD_LIBRARY: &str = "libstd-rust-web-dev";

/// The flags of the compiler for the target.
const FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";

/// The tools that build and run programs for a target.
pub(crate) struct ForeignTools {
    foreign: &'static Foreign,
    /// The toolchain of wasm builds.
    rust: WasmTools,
    /// The folder with the standard library for the target, unless it is the toolchain's own.
    sysroot: Option<PathBuf>,
    /// The command that runs programs.
    runner: Vec<String>,
    /// Variables for the emulator.
    environment: Vec<(&'static str, OsString)>,
}

/// Returns the tools for a target if all of them are installed.
pub(crate) fn installed_foreign_tools(foreign: &'static Foreign) -> Result<Option<ForeignTools>> {
    let has_programs = [foreign.linker, foreign.emulator].map(|(name, _)| process::find(name));
    let has_library = foreign.library.is_none_or(|(file, _)| Path::new(file).is_file());
    let cache = workspace::cache_dir()?;
    let has_folder = foreign.target != WINDOWS.target || wine::is_installed(&cache);
    if !has_library || !has_folder || has_programs.contains(&None) {
        return Ok(None);
    }
    let rust = wasm_tools()?;
    let library = if rust.is_private() {
        library_folder(foreign.target, &foreign.standard_library, &rust, &cache)?
    } else {
        own_library(&rust, foreign.target)?
    };
    if library.is_dir() { foreign_tools(foreign).map(Some) } else { Ok(None) }
}

/// Installs a linker, an emulator and the standard library for a target if they are missing.
pub(crate) fn foreign_tools(foreign: &'static Foreign) -> Result<ForeignTools> {
    let name = foreign.name;
    let library: Vec<_> = foreign.library.into_iter().collect();
    install_missing(&[foreign.linker, foreign.emulator], &library, "1 minute").with_context(
        || format!("install a C compiler and an emulator for {name} by hand: tests use them"),
    )?;
    let rust = wasm_tools()?;
    let cache = workspace::cache_dir()?;
    let environment =
        if foreign.target == WINDOWS.target { wine::environment(&cache)? } else { Vec::new() };
    let sysroot = sysroot(&rust, foreign.target, &foreign.standard_library)?;
    Ok(ForeignTools { foreign, rust, sysroot, runner: runner(foreign), environment })
}

/// Returns the command that runs programs for a target: its loader if this machine's kernel starts that, or else the
/// emulator.
fn runner(foreign: &Foreign) -> Vec<String> {
    let Foreign { name, root, .. } = foreign;
    if let (Some(loader), Some(root)) = (foreign.loader, root) {
        let trial = process::command(loader).arg("--version").output();
        if trial.is_ok_and(|output| output.status.success()) {
            output::line(format_args!("{name}: this processor runs its programs"));
            return [loader, "--library-path", &format!("{root}/lib")].map(str::to_owned).into();
        }
        output::line(format_args!("{name}: {} runs its programs", foreign.emulator.0));
    }
    let root = root.iter().flat_map(|root| ["-L".to_owned(), (*root).to_owned()]);
    [foreign.emulator.0.to_owned()].into_iter().chain(root).collect()
}

impl ForeignTools {
    /// Returns a command of Cargo that builds for the target, and runs its tests.
    pub(crate) fn cargo(&self, subcommand: &str) -> Result<Command> {
        let Foreign { target, linker, .. } = self.foreign;
        let mut cargo = self.rust.command("cargo")?;
        cargo.env(FLAGS, remap::encoded(&self.sysroot_flag()));
        let variable = target.to_uppercase().replace('-', "_");
        cargo.env(format!("CARGO_TARGET_{variable}_LINKER"), linker.0);
        // A test that starts its own program again reads this variable, too.
        cargo.env(format!("CARGO_TARGET_{variable}_RUNNER"), self.runner.join(" "));
        cargo.envs(self.environment.iter().map(|(name, value)| (name, value)));
        cargo.args([subcommand, "--locked", "--target", target]);
        Ok(cargo)
    }

    /// Returns a command of Cargo that builds programs to publish.
    pub(crate) fn published(&self) -> Result<Command> {
        let mut cargo = self.cargo("build")?;
        cargo.arg("--release");
        let flags = [remap::flags(&self.rust.sysroot()?)?, self.sysroot_flag()].concat();
        remap::published(&mut cargo, &flags);
        Ok(cargo)
    }

    fn sysroot_flag(&self) -> Vec<String> {
        sysroot_flag(self.sysroot.as_deref())
    }

    /// Returns the folder of what Cargo builds in a profile.
    pub(crate) fn built(&self, profile: &str) -> PathBuf {
        self.rust.built(self.foreign.target, profile)
    }

    /// Returns a command that runs the toolchain's compiler.
    pub(crate) fn rustc(&self) -> Result<Command> {
        self.rust.command("rustc")
    }

    /// Returns a command that compiles and links programs in C for the target.
    pub(crate) fn c_compiler(&self) -> Command {
        process::command(self.foreign.linker.0)
    }

    /// Returns a command that runs scripts in a Node.js for the target, which it installs if it is missing.
    pub(crate) fn node(&self) -> Result<Command> {
        let mut node = self.emulate(&node::node(self.foreign)?);
        // Wine 8 says that it is a Windows that Node.js no longer supports.
        node.env("NODE_SKIP_PLATFORM_CHECK", "1");
        Ok(node)
    }

    /// Returns a command that runs a program for the target.
    pub(crate) fn emulate(&self, program: &Path) -> Command {
        let mut command = process::command(&self.runner[0]);
        command.args(&self.runner[1..]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.arg(program);
        command
    }
}

/// Returns the flag that names the folder of a standard library, unless it is the toolchain's own.
fn sysroot_flag(folder: Option<&Path>) -> Vec<String> {
    folder.iter().map(|folder| format!("--sysroot={}", folder.display())).collect()
}

/// Installs the standard library for checks of code for a target that this machine cannot link. Returns its folder,
/// unless it is the toolchain's own.
pub(crate) fn library_for_checks(rust: &WasmTools, target: &str) -> Result<Option<PathBuf>> {
    sysroot(rust, target, &StandardLibrary::Built(Purpose::Check))
}

/// Returns a command of Cargo for such a target: it checks Rust code, and builds nothing. C code is not even compiled.
pub(crate) fn checker(subcommand: &str, target: &str) -> Result<Command> {
    let rust = wasm_tools()?;
    let sysroot = library_for_checks(&rust, target)?;
    let mut cargo = rust.command(&format!("cargo-{subcommand}"))?;
    if let Some(folder) = sysroot {
        cargo.env(FLAGS, format!("--sysroot={}", folder.display()));
    }
    cargo.args([subcommand, "--locked", "--target", target]);
    stand_in::replace_c_tools(&mut cargo, target)?;
    Ok(cargo)
}

/// Installs the standard library for a target. Returns its folder, unless it is the toolchain's own.
fn sysroot(rust: &WasmTools, target: &str, origin: &StandardLibrary) -> Result<Option<PathBuf>> {
    let cache = workspace::cache_dir()?;
    if rust.is_private() {
        return standard_library(target, origin, rust, &cache).map(Some);
    }
    if own_library(rust, target)?.is_dir() {
        return Ok(None);
    }
    announce(&format!("rustup target add {target}: its standard library (about 10 seconds)"));
    let rustup = process::find("rustup").with_context(|| {
        format!("install Rust's standard library for {target} by hand: rustup is not on PATH")
    })?;
    run_rustup(&cache, rustup, ["target", "add", target], &format!("rustup-{target}.log"))?;
    Ok(None)
}

/// Returns the folder that holds a target's standard library if it is the toolchain's own.
fn own_library(rust: &WasmTools, target: &str) -> Result<PathBuf> {
    Ok(rust.sysroot()?.join("lib/rustlib").join(target).join("lib"))
}

/// Returns the folder of the standard library for Emscripten, and builds it first if the cache lacks it. Debian does
/// not package it, and rustup's expects one particular version of Emscripten.
pub(crate) fn emscripten_library(rust: &WasmTools) -> Result<PathBuf> {
    standard_library_sources(rust)?;
    let origin = StandardLibrary::Built(Purpose::Abort);
    standard_library(EMSCRIPTEN, &origin, rust, &workspace::cache_dir()?)
}

/// Returns the flags of the compiler for modules that pages download. Their standard library is the private toolchain's,
/// or is in the cache, and is built first if it is not there: rustup's has texts of panics.
pub(crate) fn module_flags(rust: &WasmTools) -> Result<Vec<String>> {
    let library = if rust.is_private() {
        None
    } else {
        standard_library_sources(rust)?;
        let origin = StandardLibrary::Built(Purpose::Trap);
        Some(standard_library(TARGET, &origin, rust, &workspace::cache_dir()?)?)
    };
    Ok([TRAPPING.map(str::to_owned).to_vec(), sysroot_flag(library.as_deref())].concat())
}

/// Returns the folder of a standard library in the cache. A library fits only the compiler that built it.
fn library_folder(
    target: &str,
    origin: &StandardLibrary,
    rust: &WasmTools,
    cache: &Path,
) -> Result<PathBuf> {
    let version = compiler_version(rust)?;
    let compiler = if rust.is_private() {
        version
    } else {
        format!("rustup-{version}-{}", compiler_commit(rust)?)
    };
    Ok(cache.join("standard-libraries").join(compiler).join(folder_name(target, origin)))
}

/// Returns a name made of the target and the recipe. A revision with another recipe has another folder.
fn folder_name(target: &str, origin: &StandardLibrary) -> String {
    let purpose = match origin {
        StandardLibrary::Packaged(_) => UNPACKAGED,
        StandardLibrary::Built(purpose) => *purpose,
    };
    format!("{target}-{}", purpose.recipe())
}

/// Returns the compiler's version, such as `1.96.0`.
fn compiler_version(rust: &WasmTools) -> Result<String> {
    let version = process::read(rust.command("rustc")?.arg("--version"))?;
    version.split(' ').nth(1).map(str::to_owned).context("rustc prints no version")
}

/// Returns the commit that the compiler was built from, or `unknown`. All nightly compilers of a series have one version.
fn compiler_commit(rust: &WasmTools) -> Result<String> {
    let described = process::read(rust.command("rustc")?.arg("-vV"))?;
    let commit = described.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    Ok(commit.unwrap_or("unknown").to_owned())
}

/// Installs the standard library unless it was done before.
fn standard_library(
    target: &str,
    origin: &StandardLibrary,
    rust: &WasmTools,
    cache: &Path,
) -> Result<PathBuf> {
    let sysroot = library_folder(target, origin, rust, cache)?;
    let is_there = || sysroot.is_dir().then_some(());
    lock::once(cache, &format!("library-{target}"), is_there, |held| {
        install_library(target, origin, rust, cache, &sysroot, held)
    })?;
    Ok(sysroot)
}

/// Installs the standard library into the folder `sysroot`.
fn install_library(
    target: &str,
    origin: &StandardLibrary,
    rust: &WasmTools,
    cache: &Path,
    sysroot: &Path,
    held: &Held,
) -> Result<()> {
    let log = cache.join(format!("logs/{target}.log"));
    process::with_work_folder(&cache.join("unfinished-library").join(target), |work| {
        let finished = match origin {
            StandardLibrary::Packaged(architecture) => {
                let version = compiler_version(rust)?;
                unpack(target, architecture, &version, work, &log, held).or_else(|error| {
                    // A mirror of Debian lacks a package for some hours, or for good.
                    announce(&format!("no package has it: {error:#}"));
                    build(UNPACKAGED, target, rust, work, &log, held)
                })?
            }
            StandardLibrary::Built(purpose) => build(*purpose, target, rust, work, &log, held)?,
        };
        fs::create_dir_all(sysroot.parent().unwrap_or(sysroot))?;
        fs::rename(finished, sysroot)
            .with_context(|| format!("cannot move files to {}", sysroot.display()))
    })
}

/// Unpacks Debian's build of the standard library, and returns its folder.
fn unpack(
    target: &str,
    architecture: &str,
    version: &str,
    work: &Path,
    log: &Path,
    held: &Held,
) -> Result<PathBuf> {
    announce(&format!(
        "the standard library for {target} from Debian's packages (about 20 seconds)"
    ));
    let package =
        debian::download_foreign(STANDARD_LIBRARY, architecture, version, work, log, held)?;
    let mut dpkg = process::command("dpkg-deb");
    process::run(dpkg.arg("-x").arg(package).arg(work).stdin(held.stdin()?))?;
    let library = Path::new("lib/rustlib").join(target);
    if !work.join("usr").join(&library).is_dir() {
        bail!("{STANDARD_LIBRARY}:{architecture} contains no {}", library.display());
    }
    Ok(work.join("usr"))
}

/// Builds the standard library, and returns its folder.
fn build(
    purpose: Purpose,
    target: &str,
    rust: &WasmTools,
    work: &Path,
    log: &Path,
    held: &Held,
) -> Result<PathBuf> {
    let time = match purpose {
        Purpose::Link | Purpose::Abort | Purpose::Trap => "2 minutes",
        Purpose::Check => "30 seconds",
    };
    announce(&format!("the standard library for {target} from its sources (about {time})"));
    let sysroot = work.join("sysroot");
    let libraries = sysroot.join("lib/rustlib").join(target).join("lib");
    build_std(purpose, &rust.sysroot()?, target, work, &libraries, log, held)?;
    Ok(sysroot)
}

#[test]
fn programs_run_in_the_emulator_if_the_kernel_starts_no_loader() {
    let run = |loader| runner(&Foreign { loader, ..I686 });
    let emulated = ["qemu-i386", "-L", "/usr/i686-linux-gnu"];
    assert_eq!(run(None), emulated);
    assert_eq!(run(Some("/nowhere/ld-linux.so.2")), emulated);
    // It is no loader, but a program that every system with Rust has.
    let direct = ["rustc", "--library-path", "/usr/i686-linux-gnu/lib"];
    assert_eq!(run(Some("rustc")), direct);
}

#[test]
fn libraries_that_are_built_in_different_ways_have_different_folders() {
    let purposes = [Purpose::Link, Purpose::Abort, Purpose::Trap, Purpose::Check];
    let names = purposes.map(|purpose| folder_name(TARGET, &StandardLibrary::Built(purpose)));
    assert_eq!(std::collections::BTreeSet::from(names).len(), purposes.len());
}
