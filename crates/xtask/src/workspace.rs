//! Where things are: the repository, its build folders, the cache outside it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.ancestors().nth(2).map_or_else(|| xtask.clone(), Path::to_path_buf)
}

/// Cargo's build folder for native builds.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Cargo's build folder for wasm builds.
///
/// It is a folder of its own because the compiler may be another one: in one folder the
/// two would invalidate each other's build scripts and procedural macros.
pub(crate) fn wasm_target_dir() -> PathBuf {
    target_dir().join("wasm-build")
}

/// The folder for what is installed outside the repository and shared by its clones:
/// `$RANDOMX_WEB_CACHE`, else `randomx-web` in the user's cache folder.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    if let Some(chosen) = non_empty("RANDOMX_WEB_CACHE") {
        return std::path::absolute(chosen).context("RANDOMX_WEB_CACHE is not a usable path");
    }
    let caches = match non_empty("XDG_CACHE_HOME") {
        Some(caches) => caches,
        None => env::home_dir()
            .context("no home folder: set RANDOMX_WEB_CACHE to a folder for the wasm tools")?
            .join(".cache"),
    };
    Ok(caches.join("randomx-web"))
}

/// The version of a package in `Cargo.lock`.
pub(crate) fn locked_version(package: &str) -> Result<String> {
    let path = root().join("Cargo.lock");
    let lock = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    version_in_lock(&lock, package)
        .with_context(|| format!("Cargo.lock has no package `{package}`"))
}

fn version_in_lock(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next()?.strip_prefix("version = \"")?;
    Some(version.strip_suffix('"')?.to_owned())
}

fn non_empty(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::version_in_lock;

    #[test]
    fn reads_a_version_from_a_lock_file() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.129\"\n";
        assert_eq!(version_in_lock(lock, "wasm-bindgen").as_deref(), Some("0.2.129"));
        assert_eq!(version_in_lock(lock, "wasm"), None);
    }
}
