//! Paths of the repository, its build folders and the cache outside it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.ancestors().nth(2).map_or_else(|| xtask.clone(), Path::to_path_buf)
}

/// Cargo's build folder for native builds. Without the variable, it is the one that holds this program: the user's
/// configuration of Cargo may name any.
pub(crate) fn target_dir() -> PathBuf {
    if let Some(named) = env::var_os("CARGO_TARGET_DIR") {
        return root().join(named);
    }
    let usual = root().join("target");
    let program = env::current_exe().ok();
    match program.as_deref().and_then(target_dir_of) {
        // Cargo uses the path of a link, and the program's path is that of the folder behind it.
        Some(folder) if usual.canonicalize().ok().as_deref() != Some(folder) => {
            folder.to_path_buf()
        }
        _ => usual,
    }
}

/// Returns the build folder that holds a program. Each profile has a folder in it, with tests in `deps`.
fn target_dir_of(program: &Path) -> Option<&Path> {
    let profile = program.ancestors().skip(1).find(|folder| !folder.ends_with("deps"))?;
    profile.parent()
}

/// Cargo's build folder for wasm builds.
///
/// The compiler for wasm may be another one than the native compiler. In one folder, the two would
/// invalidate each other's build scripts and procedural macros. The private compiler has its own folder: a folder is
/// emptied when its compiler changes, and another run may build in it.
pub(crate) fn wasm_target_dir(is_private: bool) -> PathBuf {
    target_dir().join(if is_private { "wasm-build-private" } else { "wasm-build" })
}

/// The folder for locks of what is in the build folder, which clones may share.
pub(crate) fn lock_dir() -> PathBuf {
    target_dir().join("xtask")
}

/// The folder for locks of what is in this clone, such as `node_modules`. Two runs may have different build folders.
pub(crate) fn clone_lock_dir() -> PathBuf {
    root().join("target/xtask/clone")
}

/// The folder for tools that all clones of the repository share: `$RANDOMX_WEB_CACHE`, or else
/// `randomx-web` in the user's cache folder.
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

/// Returns the absolute form of a path that the user gave. Commands run in the repository's root. So does npm, which
/// names the user's folder in `INIT_CWD`.
pub(crate) fn here(path: &Path) -> Result<PathBuf> {
    let current = env::current_dir().context("the current folder does not exist")?;
    Ok(below(&current, non_empty("INIT_CWD"), path))
}

/// Returns a path in the folder that npm names, or else in the current one.
fn below(current: &Path, npm: Option<PathBuf>, path: &Path) -> PathBuf {
    let folder = npm.map_or_else(|| current.to_path_buf(), |folder| current.join(folder));
    folder.join(path)
}

/// Returns the path in a variable that is set and not empty.
pub(crate) fn non_empty(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{below, target_dir_of};

    #[test]
    fn paths_begin_in_the_users_folder() {
        let path = |npm: Option<&str>, path: &str| {
            below(Path::new("/clone"), npm.map(Into::into), Path::new(path))
        };
        assert_eq!(path(None, "a"), Path::new("/clone/a"));
        assert_eq!(path(Some("/clone/web"), "../a"), Path::new("/clone/web/../a"));
        assert_eq!(path(Some("/clone/web"), "/a"), Path::new("/a"));
    }

    #[test]
    fn the_build_folder_is_two_above_a_program() {
        let folder = Some(Path::new("/disk/builds"));
        assert_eq!(target_dir_of(Path::new("/disk/builds/tool/xtask")), folder);
        assert_eq!(target_dir_of(Path::new("/disk/builds/checked/deps/xtask-0123")), folder);
        assert_eq!(target_dir_of(Path::new("xtask")), None);
    }
}
