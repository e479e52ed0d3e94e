//! A Rust compiler for wasm from Debian's packages, for machines where rustup cannot install one.
//!
//! Debian packages a recent compiler for its browsers (`rustc-web`), but no standard library for
//! wasm. The packages are unpacked into the cache folder, away from other compilers, and the
//! standard library is built from `rust-web-src`. The folder is renamed into place last, so it is
//! complete or absent.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::announce;
use super::build_std::{Purpose, build_std};
use super::debian::{self, Debian};
use super::lock::Held;
use super::target::{self, TARGET};
use crate::{process, versions};

/// The packages to unpack. The third one depends on another, `libstd-rust-web-1.96` or so, which
/// contains the compiler's libraries.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "libstd-rust-web-dev", "rust-web-clippy"];
const SOURCES: &str = "rust-web-src";

/// The programs of these packages that the toolchain needs.
const PROGRAMS: [&str; 5] = ["rustc", "rustdoc", "clippy-driver", "cargo", "cargo-clippy"];

/// The folder in the cache. Its number goes up when toolchains are assembled in another way, so that clones of other
/// revisions keep theirs.
const FOLDER: &str = "toolchain-4";

/// Returns the folder of the toolchain if it is complete and works.
pub(super) fn installed(cache: &Path) -> Option<PathBuf> {
    let toolchain = cache.join(FOLDER);
    let linker = linker(&toolchain).ok()?;
    // The programs stop working when the system's LLVM is removed.
    let links = || process::command(&linker).args(["-flavor", "wasm", "--version"]).output();
    let works = PROGRAMS.iter().all(|program| toolchain.join("bin").join(program).is_file())
        && target::has_target(&toolchain.join("bin/rustc"))
        && links().is_ok_and(|output| output.status.success());
    works.then_some(toolchain)
}

/// Assembles the toolchain in the cache folder, and returns its folder.
pub(super) fn install(cache: &Path, held: &Held) -> Result<PathBuf> {
    let debian = Debian::detect()?;
    announce("a private Rust toolchain for wasm from Debian's packages (about 2 minutes)");
    process::with_work_folder(&cache.join("unfinished"), |work| {
        let (logs, work) = (cache.join("logs"), work.to_path_buf());
        let assembly = Assembly { debian, logs, work, held };
        let llvm = assembly.unpack()?;
        assembly.arrange(&llvm)?;
        assembly.build_std()?;

        let toolchain = cache.join(FOLDER);
        process::remove_dir(&toolchain)?;
        Ok(fs::rename(assembly.toolchain(), &toolchain)?)
    })?;
    installed(cache).context("the assembled toolchain does not work")
}

struct Assembly<'a> {
    debian: Debian,
    logs: PathBuf,
    work: PathBuf,
    /// Programs that change the folder `work` hold this lock.
    held: &'a Held,
}

impl Assembly<'_> {
    /// Downloads and unpacks the packages, and installs the libraries that they use. Returns the
    /// series of LLVM, such as `22`.
    fn unpack(&self) -> Result<String> {
        let log = self.logs.join("packages.log");
        self.debian.update(&log);
        let version = debian::newest_version(PACKAGES[0])?;
        versions::check_for_wasm("Debian's rustc-web", &version)?;
        debian::download(&PACKAGES, &version, &self.work, &log, self.held)?;
        debian::download(&[SOURCES], &version, &self.work, &log, self.held)?;
        let clauses = debian::dependencies(&self.package("libstd-rust-web-dev")?)?;
        let libraries = clauses.first().context("libstd-rust-web-dev depends on nothing")?;
        let libraries = debian::package_name(libraries);
        debian::download(&[libraries], &version, &self.work, &log, self.held)?;

        let unpacked: Vec<&str> = PACKAGES.into_iter().chain([libraries]).collect();
        let mut needed = vec!["patchelf".to_owned()];
        for name in &unpacked {
            let package = self.package(name)?;
            needed.extend(debian::dependencies(&package)?);
            let mut dpkg = process::command("dpkg-deb");
            dpkg.arg("-x").arg(package).arg(self.unpacked());
            process::run(dpkg.stdin(self.held.stdin()?))?;
        }
        self.unpack_sources()?;
        needed.retain(|clause| !unpacked.contains(&debian::package_name(clause)));
        let llvm = llvm_series(&needed)?;
        needed.push(format!("lld-{llvm}"));
        self.debian.satisfy(&needed, &log)?;
        Ok(llvm)
    }

    /// Unpacks only the standard library, a twelfth of the package.
    fn unpack_sources(&self) -> Result<()> {
        let archive = self.work.join("sources.tar");
        let mut dpkg = process::command("dpkg-deb");
        dpkg.arg("--fsys-tarfile").arg(self.package(SOURCES)?);
        process::run_into(dpkg.stdin(self.held.stdin()?), File::create(&archive)?)?;
        let mut tar = process::command("tar");
        tar.arg("-xf").arg(&archive).arg("-C").arg(self.unpacked());
        tar.args(["--wildcards", "./usr/src/rustc-*/library"]);
        process::run(tar.stdin(self.held.stdin()?))
    }

    /// Moves the files to where the compiler looks for them.
    fn arrange(&self, llvm: &str) -> Result<()> {
        let from = self.unpacked().join("usr");
        let to = self.toolchain();
        for program in PROGRAMS {
            rename(&from.join("bin").join(program), &to.join("bin").join(program))?;
        }
        let libraries = from.join("lib");
        let driver = find(&libraries, |name| name.starts_with("librustc_driver-"))?;
        rename(&driver, &to.join("lib").join(driver.file_name().unwrap_or_default()))?;
        let host = find(&libraries.join("rustlib"), is_host_triple)?;
        rename(&host, &to.join("lib/rustlib").join(host.file_name().unwrap_or_default()))?;
        let library = find(&from.join("src"), |name| name == "library")?;
        rename(&library, &to.join("lib/rustlib/src/rust/library"))?;

        let linker = linker(&to)?;
        let folder = linker.parent().context("the linker is in no folder")?;
        fs::create_dir_all(folder)?;
        fs::copy(format!("/usr/lib/llvm-{llvm}/bin/lld"), &linker)
            .with_context(|| format!("the package lld-{llvm} contains no lld"))?;

        let mut patchelf = process::command("patchelf");
        patchelf.args(["--set-rpath", "$ORIGIN/../lib"]);
        patchelf.args(PROGRAMS.map(|program| to.join("bin").join(program)));
        process::run(patchelf.stdin(self.held.stdin()?))
    }

    /// Builds the standard library for wasm, and copies it to where the compiler looks for it.
    fn build_std(&self) -> Result<()> {
        let toolchain = self.toolchain();
        let libraries = toolchain.join("lib/rustlib").join(TARGET).join("lib");
        let log = self.logs.join("build-std.log");
        build_std(Purpose::Trap, &toolchain, TARGET, &self.work, &libraries, &log, self.held)
    }

    fn toolchain(&self) -> PathBuf {
        self.work.join("toolchain")
    }

    fn unpacked(&self) -> PathBuf {
        self.work.join("unpacked")
    }

    /// Returns the downloaded file of a package.
    fn package(&self, name: &str) -> Result<PathBuf> {
        find(&self.work, |file| file.strip_prefix(name).is_some_and(|rest| rest.starts_with('_')))
    }
}

/// Returns the path where the compiler looks for the linker of wasm targets.
fn linker(toolchain: &Path) -> Result<PathBuf> {
    Ok(find(&toolchain.join("lib/rustlib"), is_host_triple)?.join("bin/rust-lld"))
}

fn is_host_triple(name: &str) -> bool {
    name.contains("-linux-")
}

/// Returns the `22` of a dependency on `libllvm22`.
fn llvm_series(clauses: &[String]) -> Result<String> {
    let series = clauses.iter().find_map(|clause| {
        let digits = debian::package_name(clause).strip_prefix("libllvm")?;
        Some(digits.chars().take_while(char::is_ascii_digit).collect())
    });
    series.context("Debian's compiler depends on no libllvm")
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))
        .and_then(|()| fs::rename(from, to))
        .with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

/// Returns the first file or folder below `folder`, level by level, whose name is accepted.
fn find(folder: &Path, accepts: impl Fn(&str) -> bool + Copy) -> Result<PathBuf> {
    let mut level = vec![folder.to_path_buf()];
    while !level.is_empty() {
        let mut next = Vec::new();
        for folder in level {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if accepts(&entry.file_name().to_string_lossy()) {
                    return Ok(entry.path());
                }
                if entry.file_type()?.is_dir() {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    bail!("{} lacks a file of Debian's packages", folder.display())
}

#[cfg(test)]
mod tests {
    use super::llvm_series;

    #[test]
    fn reads_series() {
        let clauses = ["libc6 (>= 2.34)".to_owned(), "libllvm22 (>= 1:22)".to_owned()];
        assert_eq!(llvm_series(&clauses).ok().as_deref(), Some("22"));
        assert!(llvm_series(&clauses[..1]).is_err());
    }
}
