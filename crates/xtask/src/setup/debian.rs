//! Debian's package tools.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::announce;
use super::lock::{self, Held};
use crate::{process, workspace};

/// The variables that name proxies for apt-get.
const PROXIES: [&str; 3] = ["http_proxy", "https_proxy", "no_proxy"];

/// A Debian machine and the right to install packages on it.
pub(super) struct Debian {
    sudo: bool,
}

impl Debian {
    /// Finds out whether packages can be installed on this machine.
    ///
    /// # Errors
    ///
    /// Names the missing program.
    pub(super) fn detect() -> Result<Self> {
        for tool in ["apt-get", "apt-cache", "dpkg-deb"] {
            if process::find(tool).is_none() {
                bail!("expected Debian or Ubuntu, but {tool} is not on PATH");
            }
        }
        let user = process::read(process::command("id").arg("-u"))?;
        let sudo = user.trim() != "0";
        if sudo && process::find("sudo").is_none() {
            bail!("installing Debian packages needs root or sudo");
        }
        Ok(Self { sudo })
    }

    /// Updates the lists of packages. If one of the machine's repositories cannot be read, the others may suffice.
    pub(super) fn update(&self, log: &Path) {
        if let Err(problem) = self.apt_get(&["-qq", "update"], log) {
            announce(&format!("{problem:#}; going on with the lists that are there"));
        }
    }

    /// Installs packages with their dependencies.
    pub(super) fn install(&self, packages: &[&str], log: &Path) -> Result<()> {
        self.apt_get(&[&["-y", "install", "--no-install-recommends"], packages].concat(), log)
    }

    /// Installs packages that fulfil the clauses of a `Depends` field.
    pub(super) fn satisfy(&self, clauses: &[String], log: &Path) -> Result<()> {
        self.apt_get(&["-y", "satisfy", "--no-install-recommends", &clauses.join(", ")], log)
    }

    /// Runs apt-get with the rights to change the system.
    fn apt_get(&self, arguments: &[&str], log: &Path) -> Result<()> {
        let mut command = process::command(if self.sudo { "sudo" } else { "env" });
        if self.sudo {
            // sudo passes no variables on.
            let set = |name| Some(format!("{name}={}", env::var(name).ok()?));
            command.arg("env").args(PROXIES.into_iter().filter_map(set));
        }
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        // A new machine updates itself at first.
        command.args(["-o", "DPkg::Lock::Timeout=300"]).args(arguments);
        // Steps and clones install packages side by side, and only one apt-get can run at a time. It does not hold the
        // lock: services that packages start would keep it.
        lock::alone(&workspace::cache_dir()?, "apt-get", |_| process::run_logged(&mut command, log))
    }
}

/// Whether this system is Ubuntu, whose packages of Firefox and Chromium only install snaps.
pub(super) fn is_ubuntu() -> bool {
    fs::read_to_string("/etc/os-release").is_ok_and(|text| names_ubuntu(&text))
}

fn names_ubuntu(os_release: &str) -> bool {
    os_release.lines().any(|line| ["ID=ubuntu", "ID=\"ubuntu\""].contains(&line.trim()))
}

/// Installs packages on Debian or Ubuntu, and says so first. `time` is about how long that takes. The output goes to
/// the log `name`.
pub(super) fn install(packages: &[&str], time: &str, name: &str) -> Result<()> {
    announce(&format!("apt-get install {} (about {time})", packages.join(" ")));
    let log = workspace::cache_dir()?.join("logs").join(format!("{name}.log"));
    let debian = Debian::detect()?;
    debian.update(&log);
    debian.install(packages, &log)
}

/// Returns the newest version of a package that this machine can install.
pub(super) fn newest_version(package: &str) -> Result<String> {
    let shown =
        process::read(process::command("apt-cache").args(["show", "--no-all-versions", package]))
            .with_context(|| format!("this system has no package {package}"))?;
    let version = shown.lines().find_map(|line| line.strip_prefix("Version: "));
    Ok(version.context("apt-cache shows no version")?.to_owned())
}

/// Downloads packages, all of one version, into a folder. Needs no special rights.
pub(super) fn download(
    packages: &[&str],
    version: &str,
    folder: &Path,
    log: &Path,
    held: &Held,
) -> Result<()> {
    let mut apt = process::command("apt-get");
    apt.current_dir(folder).args(["-qq", "download"]);
    apt.args(packages.iter().map(|package| format!("{package}={version}")));
    held.run_logged(&mut apt, log)
}

/// Downloads a package for another architecture into a folder, in the newest build of the upstream
/// version `version`. Returns its path. The lists of packages for that architecture are kept in the
/// folder too, so that the system's settings stay as they are.
pub(super) fn download_foreign(
    package: &str,
    architecture: &str,
    version: &str,
    folder: &Path,
    log: &Path,
    held: &Held,
) -> Result<PathBuf> {
    let lists = folder.join("lists");
    fs::create_dir_all(lists.join("partial"))
        .with_context(|| format!("cannot create {}", lists.display()))?;
    let native = process::read(process::command("dpkg").arg("--print-architecture"))?;
    let apt = |program: &str| {
        let mut command = process::command(program);
        command.current_dir(folder);
        for architecture in [native.trim(), architecture] {
            command.arg("-o").arg(format!("APT::Architectures::={architecture}"));
        }
        command.arg("-o").arg(format!("Dir::State::lists={}", lists.display()));
        command.args(["-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache="]);
        command
    };
    held.run_logged(apt("apt-get").args(["-qq", "update"]), log)?;
    let package = format!("{package}:{architecture}");
    let shown = process::read(apt("apt-cache").args(["show", &package]))?;
    let build = shown
        .lines()
        .filter_map(|line| line.strip_prefix("Version: "))
        .find(|build| build.strip_prefix(version).is_some_and(|rest| rest.starts_with(['+', '-'])))
        .with_context(|| format!("{package}: Debian has no build of version {version}"))?;
    let wanted = format!("{package}={build}");
    held.run_logged(apt("apt-get").args(["-qq", "download", &wanted]), log)?;
    let mut files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    files
        .find(|file| file.extension().is_some_and(|extension| extension == "deb"))
        .with_context(|| format!("apt-get downloaded no {package}"))
}

/// Returns the clauses of a downloaded package's `Depends` field, such as `gcc | clang`.
pub(super) fn dependencies(package: &Path) -> Result<Vec<String>> {
    let field = process::read(process::command("dpkg-deb").arg("-f").arg(package).arg("Depends"))?;
    Ok(field.split(',').map(|clause| clause.trim().to_owned()).filter(|c| !c.is_empty()).collect())
}

/// Returns the name in a clause, without version and alternatives.
pub(super) fn package_name(clause: &str) -> &str {
    clause.split([' ', '(', '|']).next().unwrap_or(clause)
}

#[test]
fn ubuntu_is_distinguished_from_debian() {
    assert!(names_ubuntu("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n"));
    assert!(!names_ubuntu("NAME=\"Debian GNU/Linux\"\nID=debian\n"));
    assert!(!names_ubuntu("ID=linuxmint\nID_LIKE=ubuntu\n"));
}
