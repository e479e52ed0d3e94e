//! The wasm toolchain: a compiler, wasm-bindgen, wasm-pack and wasm-opt.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};

use super::crates_io::install;
use super::lock::{self, Held};
use super::target::{TARGET, has_target, target_library, unset_native_settings};
use super::{announce, fallback_is_forced, private_toolchain};
use crate::{process, versions, workspace};

/// An installed wasm toolchain.
pub(crate) struct WasmTools {
    /// The folder of the private compiler; none if rustup's can build for wasm.
    private: Option<PathBuf>,
    /// Folders that come before all others on `PATH`.
    path: Vec<PathBuf>,
    /// Names the compiler and its standard library. Another compiler makes another build.
    identity: String,
}

/// Installs the parts of the wasm toolchain that are missing.
pub(crate) fn wasm_tools() -> Result<WasmTools> {
    let cache = workspace::cache_dir()?;
    let private = compiler(&cache)?;
    if private.is_none() {
        // As in `rustc 1.95.0 (59807616e 2026-04-14)`.
        let rustc = process::read(process::command("rustc").arg("--version"))?;
        versions::check_for_wasm("rustc", rustc.split(' ').nth(1).unwrap_or(&rustc))?;
    }
    let bindgen = versions::wasm_bindgen()?;
    // The default features are TLS, which only remote WebDrivers need.
    let options = ["--no-default-features"];
    let bindgen = install(&cache, "wasm-bindgen", "wasm-bindgen-cli", &bindgen, &options)?;
    let pack = install(&cache, "wasm-pack", "wasm-pack", versions::WASM_PACK, &[])?;

    let mut path: Vec<PathBuf> = private.iter().map(|folder| folder.join("bin")).collect();
    path.extend([bindgen, pack]);
    // wasm-opt. The folder `node_modules/.bin` contains another `node`, too.
    path.push(workspace::root().join("node_modules/binaryen/bin"));
    let mut tools = WasmTools { private, path, identity: String::new() };
    tools.identity = tools.identify()?;
    tools.forget_other_builds()?;
    Ok(tools)
}

/// Installs the sources of the standard library if they are missing. Modules are built with a standard
/// library of their own, and so are targets without a compiled one.
pub(super) fn standard_library_sources(tools: &WasmTools) -> Result<()> {
    if tools.sysroot()?.join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file() {
        return Ok(());
    }
    let rustup = process::find("rustup").context(
        "install the sources of the Rust standard library by hand: rustup is not on PATH",
    )?;
    announce("rustup component add rust-src: the standard library's sources (about 10 seconds)");
    let component = ["component", "add", "rust-src"];
    run_rustup(&workspace::cache_dir()?, rustup, component, "rust-src.log")
}

/// Runs rustup, which does not expect to run twice at once.
pub(super) fn run_rustup(
    cache: &Path,
    rustup: PathBuf,
    arguments: [&str; 3],
    log: &str,
) -> Result<()> {
    let mut command = process::command(rustup);
    command.args(arguments);
    let log = cache.join("logs").join(log);
    lock::alone(cache, "rustup", |held| held.run_logged(&mut command, &log))
}

impl WasmTools {
    /// Returns a command that runs in the repository with this toolchain.
    pub(crate) fn command(&self, program: &str) -> Result<Command> {
        // Windows starts no script by its first line, and npm makes command files for scripts in this folder. It
        // is the last, because it contains another `node`, too.
        let scripts = workspace::root().join("node_modules/.bin");
        let last = if cfg!(windows) { vec![scripts] } else { Vec::new() };
        let path = process::path_with(&self.path, &last)?;
        let found = which::which_in(program, Some(&path), workspace::root())
            .with_context(|| format!("{program} is not on PATH"))?;
        let mut command = process::command(found);
        unset_native_settings(&mut command);
        if self.private.is_some() {
            command.env_remove("RUSTUP_TOOLCHAIN");
        }
        command.env("PATH", path).env("CARGO_TARGET_DIR", self.target_dir());
        Ok(command)
    }

    /// Returns the build folder of this toolchain's Cargo.
    fn target_dir(&self) -> PathBuf {
        workspace::wasm_target_dir(self.is_private())
    }

    /// Returns the folder of what Cargo builds for a target in a profile.
    pub(crate) fn built(&self, target: &str, profile: &str) -> PathBuf {
        self.target_dir().join(target).join(profile)
    }

    /// Whether the compiler is the private one.
    pub(super) fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// Returns the folder of the compiler and its standard library.
    pub(crate) fn sysroot(&self) -> Result<PathBuf> {
        let printed = process::read(self.command("rustc")?.args(["--print", "sysroot"]))?;
        Ok(PathBuf::from(printed.trim()))
    }

    /// Returns the names and versions of the programs that make a module.
    pub(crate) fn versions(&self) -> Result<[String; 4]> {
        let read = |program| process::read(self.command(program)?.arg("--version"));
        // As in `rustc 1.95.0 (59807616e 2026-04-14)` and `wasm-opt version 132 (version_132)`.
        let names = [read("rustc")?, read("wasm-bindgen")?, read("wasm-pack")?, read("wasm-opt")?];
        Ok(names.map(|name| name.trim().replacen(" version ", " ", 1)))
    }

    /// Names the compiler and its standard library.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    fn identify(&self) -> Result<String> {
        let rustc = self.command("rustc")?;
        let library = target_library(Path::new(rustc.get_program())).context("no wasm library")?;
        let changed = library.metadata()?.modified()?.duration_since(UNIX_EPOCH)?;
        let version = process::read(self.command("rustc")?.arg("-vV"))?;
        Ok(format!("{version}library: {} {}\n", library.display(), changed.as_nanos()))
    }

    /// Empties the build folder if the compiler changed. Cargo distinguishes compilers by version
    /// only, and two private compilers of one version have different standard libraries.
    fn forget_other_builds(&self) -> Result<()> {
        // Two runs would see the change, and the slower one would remove what the other has begun to build.
        lock::alone(&workspace::lock_dir(), "wasm-compiler", |_| self.forget_others())
    }

    fn forget_others(&self) -> Result<()> {
        let folder = self.target_dir();
        let record = folder.join("compiler");
        if fs::read_to_string(&record).is_ok_and(|last| last == self.identity) {
            return Ok(());
        }
        process::remove_dir(&folder)?;
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&record, &self.identity))
            .with_context(|| format!("cannot write {}", record.display()))
    }
}

/// Finds or installs a compiler for wasm. Returns the folder of the private one if that is it.
fn compiler(cache: &Path) -> Result<Option<PathBuf>> {
    let forced = fallback_is_forced();
    if !forced && has_target(Path::new("rustc")) {
        return Ok(None);
    }
    if let Some(private) = private_toolchain::installed(cache) {
        return Ok(Some(private));
    }
    if !forced && add_target_with_rustup(cache) {
        return Ok(None);
    }
    let find = || private_toolchain::installed(cache);
    let install = |held: &Held| private_toolchain::install(cache, held);
    let installed = lock::once(cache, "toolchain", find, install);
    installed.map(Some).with_context(|| {
        format!("cannot install a compiler for wasm; try `rustup target add {TARGET}`")
    })
}

fn add_target_with_rustup(cache: &Path) -> bool {
    let Some(rustup) = process::find("rustup") else {
        return false;
    };
    announce("rustup target add: the standard library for wasm (about 10 seconds)");
    run_rustup(cache, rustup, ["target", "add", TARGET], "rustup.log").is_ok()
        && has_target(Path::new("rustc"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::WasmTools;

    #[test]
    fn the_private_compiler_empties_no_other_build_folder() {
        let tools = |private| WasmTools { private, path: Vec::new(), identity: String::new() };
        let private = tools(Some(PathBuf::from("/cache/toolchain")));
        assert_ne!(private.target_dir(), tools(None).target_dir());
    }
}
