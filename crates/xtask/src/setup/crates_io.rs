//! Programs from crates.io, in the cache folder.

use std::path::Path;

use anyhow::Result;

use super::announce;
use crate::process;

/// Installs a version of a program from crates.io into the cache folder if it is missing.
pub(super) fn install(
    cache: &Path,
    program: &str,
    package: &str,
    version: &str,
    options: &[&str],
) -> Result<()> {
    let installed = process::command(cache.join("bin").join(program)).arg("--version").output();
    let wanted = format!("{program} {version}");
    if installed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == wanted) {
        return Ok(());
    }
    announce(&format!("cargo install {package} {version} (about 2 minutes)"));
    let log = cache.join("logs").join(format!("{package}.log"));
    let mut cargo = process::command("cargo");
    // The repository's `.cargo/config.toml` must not apply.
    cargo.current_dir(cache).env_remove("CARGO_TARGET_DIR");
    cargo.args(["install", "--locked", "--force", "--root"]).arg(cache);
    cargo.args(["--version", version, package]).args(options);
    process::run_logged(&mut cargo, &log)
}
