//! Locks for what is installed. All clones of the repository share it, and some may set up at once.

use std::fs::{self, OpenOptions, TryLockError};
use std::path::Path;

use anyhow::{Context, Result};

use super::announce;

/// Returns what `find` finds. If that is nothing, calls `install`, while no other thread or process installs the same
/// part. `cache` is the folder that all clones share.
pub(super) fn once<T>(
    cache: &Path,
    part: &str,
    find: impl Fn() -> Option<T>,
    install: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if let Some(found) = find() {
        return Ok(found);
    }
    // Another one may have installed it since.
    alone(cache, part, || find().map_or_else(install, Ok))
}

/// Does some work while no other thread or process does work of the same name.
pub(super) fn alone<T>(cache: &Path, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let folder = cache.join("locks");
    let path = folder.join(name);
    let file = fs::create_dir_all(&folder)
        .and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).open(&path))
        .with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            announce(&format!("{name}: waiting for another step or run"));
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        // A file system may have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    work()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::{alone, once};

    #[test]
    fn a_part_is_installed_once() {
        let cache = tempfile::tempdir().expect("a folder");
        let (is_there, installed) = (AtomicBool::new(false), AtomicUsize::new(0));
        let find = || is_there.load(Ordering::SeqCst).then_some(());
        let install = || {
            thread::sleep(Duration::from_millis(50));
            installed.fetch_add(1, Ordering::SeqCst);
            is_there.store(true, Ordering::SeqCst);
            Ok(())
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| once(cache.path(), "a-tool", find, install).expect("installed"));
            }
        });
        assert_eq!(installed.into_inner(), 1);
    }

    #[test]
    fn other_parts_do_not_wait() {
        let cache = tempfile::tempdir().expect("a folder");
        let inner = alone(cache.path(), "a-tool", || alone(cache.path(), "another", || Ok(7)));
        assert_eq!(inner.expect("both"), 7);
    }
}
