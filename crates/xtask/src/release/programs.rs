//! An archive of the programs for one target: `randomx` and `randomx-audit`, with their documents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::compare;
use crate::foreign_smoke::HASHES;
use crate::setup::{Foreign, ForeignTools, Node, foreign_tools};
use crate::{build, process, workspace};

/// The packages of the programs, and the programs.
const PROGRAMS: [(&str, &str); 2] =
    [("randomx-cli", "randomx"), ("randomx-audit", "randomx-audit")];

/// The variable that holds a commit's time: <https://reproducible-builds.org/docs/source-date-epoch>.
pub(crate) const TIME: &str = "SOURCE_DATE_EPOCH";

/// The compiler for a target, and what runs its programs here.
pub(crate) struct Builder {
    target: String,
    /// The tools for another system, or `None` for this one.
    foreign: Option<ForeignTools>,
}

impl Builder {
    /// Builds for this system.
    pub(crate) fn native() -> Result<Self> {
        Ok(Builder { target: build::host()?, foreign: None })
    }

    /// Builds for another system, after installing what that needs.
    pub(crate) fn foreign(foreign: &'static Foreign) -> Result<Self> {
        let target = foreign.target.to_owned();
        Ok(Builder { target, foreign: Some(foreign_tools(foreign)?) })
    }

    /// The target, such as `x86_64-unknown-linux-gnu`.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    fn cargo(&self) -> Result<Command> {
        match &self.foreign {
            Some(tools) => tools.published(),
            None => {
                let mut cargo = process::command("cargo");
                cargo.args(["build", "--locked", "--release"]);
                build::published(&mut cargo)?;
                Ok(cargo)
            }
        }
    }

    /// Returns the compiler's version and date, as in `1.95.0 (59807616e 2026-04-14)`.
    fn compiler(&self) -> Result<String> {
        let mut rustc = match &self.foreign {
            Some(tools) => tools.rustc()?,
            None => process::command("rustc"),
        };
        let version = process::read(rustc.arg("--version"))?;
        let version = version.trim().strip_prefix("rustc ").context("rustc prints no version")?;
        Ok(version.to_owned())
    }

    /// Returns the folder of what is built.
    fn folder(&self) -> PathBuf {
        match &self.foreign {
            Some(tools) => tools.built("release"),
            None => workspace::target_dir().join("release"),
        }
    }

    /// Returns a command that runs a built program here.
    fn run(&self, program: &Path) -> Command {
        match &self.foreign {
            Some(tools) => tools.emulate(program),
            None => process::command(program),
        }
    }
}

/// The name of a program's file on a system.
fn file_name(program: &str, target: &str) -> String {
    let extension = if target.contains("-windows-") { ".exe" } else { "" };
    format!("{program}{extension}")
}

/// Builds the programs and packs them into the folder `output`. `commit` is the time of the files in the archive,
/// in seconds since 1970. Fails if a program contains a path in one of the folders `private`. Returns the
/// archive.
pub(crate) fn pack(
    builder: &Builder,
    commit: &str,
    output: &Path,
    private: &[PathBuf],
) -> Result<PathBuf> {
    let mut cargo = builder.cargo()?;
    // MinGW's linker writes this time into programs, and without it the current one.
    cargo.env(TIME, commit);
    cargo.args(PROGRAMS.iter().flat_map(|(package, _)| ["--package", package]));
    let files = PROGRAMS.map(|(_, name)| builder.folder().join(file_name(name, &builder.target)));
    build::cargo(&mut cargo, &files)?;
    let mut pack = Node::Installed.run("crates/xtask/scripts/program.mjs")?;
    pack.args([&builder.target, &builder.compiler()?]).arg(output).env(TIME, commit);
    for file in files {
        compare::contains_none(&file, private)?;
        pack.arg(file);
    }
    Ok(output.join(process::read(&mut pack)?.trim()))
}

/// Unpacks this system's archive, one of those in the folder `archives`, and checks it as [`check`] does.
pub(super) fn check_native(archives: &Path, unpacked: &Path) -> Result<()> {
    let builder = Builder::native()?;
    let names = compare::files(archives)?;
    let is_ours = |name: &&PathBuf| name.to_string_lossy().contains(&builder.target);
    let name = names.iter().find(is_ours).context("no archive of programs was built")?;
    fs::create_dir_all(unpacked)
        .with_context(|| format!("cannot create {}", unpacked.display()))?;
    check(&builder, &archives.join(name), unpacked)
}

/// Unpacks an archive into an empty folder, checks its list of hashes, and runs its programs.
pub(crate) fn check(builder: &Builder, archive: &Path, folder: &Path) -> Result<()> {
    let mut unpack = Node::Installed.run("crates/xtask/scripts/unpack.mjs")?;
    let inner = process::read(unpack.arg(archive).arg(folder))?;
    let [randomx, audit] = PROGRAMS
        .map(|(_, program)| folder.join(inner.trim()).join(file_name(program, &builder.target)));
    let key = ["hash", "--key-text", "test key 000", "--input-text", "This is a test", "--version"];
    for (version, hash) in ["v1", "v2"].into_iter().zip(HASHES) {
        let printed = process::read(builder.run(&randomx).args(key).arg(version))?;
        if printed.trim() != hash {
            bail!("{}: {version}: expected {hash}, got {printed:?}", archive.display());
        }
    }
    process::run(builder.run(&randomx).arg("info"))?;
    process::run(builder.run(&audit).arg("--version"))
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn programs_for_windows_have_an_extension() {
        assert_eq!(file_name("randomx", "aarch64-unknown-linux-gnu"), "randomx");
        assert_eq!(file_name("randomx", "x86_64-pc-windows-gnu"), "randomx.exe");
        assert_eq!(file_name("randomx-audit", "x86_64-pc-windows-msvc"), "randomx-audit.exe");
    }
}
