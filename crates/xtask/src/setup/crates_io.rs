//! Programs from crates.io, in the cache folder.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{announce, lock};
use crate::process;

/// Installs a version of a program from crates.io into the cache folder if it is missing, and returns the folder with
/// the program. Each version has its own, so that clones of other revisions keep theirs.
pub(super) fn install(
    cache: &Path,
    program: &str,
    package: &str,
    version: &str,
    options: &[&str],
) -> Result<PathBuf> {
    let name = format!("{package}-{version}");
    let root = cache.join("programs").join(&name);
    let folder = root.join("bin");
    let is_installed = || {
        let answer = process::command(folder.join(program)).arg("--version").output();
        let wanted = format!("{program} {version}");
        answer.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == wanted)
    };
    lock::once(
        cache,
        &name,
        || is_installed().then_some(()),
        |held| {
            announce(&format!("cargo install {package} {version} (about 2 minutes)"));
            let log = cache.join("logs").join(format!("{package}.log"));
            let mut cargo = process::command("cargo");
            // The repository's `.cargo/config.toml` must not apply.
            cargo.current_dir(cache).env_remove("CARGO_TARGET_DIR");
            // These programs run for moments, some seconds longer if they are not optimised. To optimise them takes
            // minutes.
            cargo
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
                .env("CARGO_PROFILE_RELEASE_LTO", "off");
            cargo.args(["install", "--locked", "--force", "--root"]).arg(&root);
            cargo.args(["--version", version, package]).args(options);
            held.run_logged(&mut cargo, &log)
        },
    )?;
    Ok(folder)
}
