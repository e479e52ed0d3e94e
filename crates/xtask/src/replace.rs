//! Files that take the place of older ones.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

/// Creates a file beside the place of an older one, and moves it there. If that fails, the older one stays as it was.
/// A program that has mapped the older one keeps it.
pub(crate) fn replace(file: &Path, create: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut fresh = file.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = Path::new(&fresh);
    // A run that was stopped leaves one.
    let _ = fs::remove_file(fresh);
    create(fresh)
        .and_then(|()| fs::rename(fresh, file))
        .inspect_err(|_| {
            let _ = fs::remove_file(fresh);
        })
        .with_context(|| format!("cannot write {}", file.display()))
}
