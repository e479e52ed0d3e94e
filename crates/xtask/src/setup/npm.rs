//! The npm packages, and the two versions of Node.js that run them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::announce;
use crate::{process, versions, workspace};

/// A Node.js that runs scripts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// The one on the user's `PATH`.
    Installed,
    /// The latest one, from the npm package `node`.
    Current,
}

/// Installs the packages of `package-lock.json` if they are missing or outdated.
pub(crate) fn packages() -> Result<()> {
    versions::check_node(&Node::Installed.version()?)?;
    if packages_are_installed() {
        return Ok(());
    }
    announce("npm ci: the JavaScript tools (about 20 seconds)");
    // All packages are tools, which npm would leave out where `NODE_ENV` is `production`.
    process::run(npm()?.args(["ci", "--include=dev", "--no-fund", "--no-audit"]))
}

/// Returns a command that runs npm in the repository's root.
pub(crate) fn npm() -> Result<Command> {
    let npm = process::find("npm").with_context(|| is_missing("npm"))?;
    Ok(process::command(npm))
}

/// npm writes `.package-lock.json` after it has installed everything.
fn packages_are_installed() -> bool {
    let root = workspace::root();
    let changed = |file: &str| root.join(file).metadata().and_then(|file| file.modified()).ok();
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        (Some(installed), Some(wanted)) => installed >= wanted,
        _ => false,
    }
}

impl Node {
    /// Returns a command that runs a script, given by its path from the repository's root.
    pub(crate) fn run(self, script: &str) -> Result<Command> {
        let path = workspace::root().join(script);
        if !path.is_file() {
            bail!("{script} does not exist: run `npm ci`");
        }
        let mut command = process::command(self.executable()?);
        command.arg(path);
        Ok(command)
    }

    /// Returns its version, such as `v20.19.0`.
    pub(crate) fn version(self) -> Result<String> {
        let version = process::read(process::command(self.executable()?).arg("--version"))?;
        Ok(version.trim().to_owned())
    }

    fn executable(self) -> Result<PathBuf> {
        match self {
            Self::Installed => process::find("node").with_context(|| is_missing("node")),
            Self::Current => {
                let folder = workspace::root().join("node_modules/node/bin");
                let name = if cfg!(windows) { "node.exe" } else { "node" };
                Some(folder.join(name)).filter(|node| node.is_file()).context(
                    "the npm package `node` has no executable because its install script did not \
                     run: try `npm rebuild node`",
                )
            }
        }
    }
}

fn is_missing(program: &str) -> String {
    let version = versions::node().unwrap_or_default();
    format!("{program} is not on PATH: install Node.js {version} or later")
}
