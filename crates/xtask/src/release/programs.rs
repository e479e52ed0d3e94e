//! An archive of the programs for one target: `randomx` and `randomx-audit`, with their documents.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::compare;
use super::packing::Packing;
use super::unpack::{find, unpack};
use crate::builder::{Builder, TIME};
use crate::foreign_smoke::HASHES;
use crate::setup::Node;
use crate::{build, process};

/// The packages of the programs, and the programs.
const PROGRAMS: [(&str, &str); 2] =
    [("randomx-cli", "randomx"), ("randomx-audit", "randomx-audit")];

/// The name of a program's file on a system.
fn file_name(program: &str, target: &str) -> String {
    let extension = if target.contains("-windows-") { ".exe" } else { "" };
    format!("{program}{extension}")
}

/// Builds the programs and packs them. The files in the archive have the time of the last commit. Returns the archive.
pub(crate) fn pack(builder: &Builder, packing: &Packing<'_>) -> Result<PathBuf> {
    let &Packing { commit, output, private } = packing;
    let mut cargo = builder.cargo(Some(commit))?;
    cargo.args(PROGRAMS.iter().flat_map(|(package, _)| ["--package", package]));
    let files = PROGRAMS.map(|(_, name)| builder.folder().join(file_name(name, builder.target())));
    build::cargo(&mut cargo, &files)?;
    let mut pack = Node::Installed.run("crates/xtask/scripts/program.mjs")?;
    pack.args([builder.target(), &builder.compiler()?]).arg(output).env(TIME, commit);
    for file in files {
        compare::contains_none(&file, private)?;
        pack.arg(file);
    }
    Ok(output.join(process::read(&mut pack)?.trim()))
}

/// Unpacks this system's archive, one of those in the folder `archives`, and checks it as [`check`] does.
pub(super) fn check_native(archives: &Path, unpacked: &Path) -> Result<()> {
    let builder = Builder::native()?;
    check(&builder, &find(archives, builder.target())?, unpacked)
}

/// Unpacks an archive into an empty folder, checks its list of hashes, and runs its programs.
pub(crate) fn check(builder: &Builder, archive: &Path, folder: &Path) -> Result<()> {
    let inner = unpack(archive, folder)?;
    let [randomx, audit] =
        PROGRAMS.map(|(_, program)| inner.join(file_name(program, builder.target())));
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
