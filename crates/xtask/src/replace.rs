//! Files that take the place of older ones.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

/// Creates a file beside the place of an older one, and moves it there. If that fails, the older one stays as it was.
/// A program that has mapped the older one keeps it.
pub(crate) fn replace(file: &Path, create: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // Another run would use a file of the same name. Windows and some file systems cannot lock a folder.
    let _locked = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
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

#[cfg(unix)]
#[test]
fn a_file_that_another_run_creates_is_left_alone() {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let (done, is_done) = mpsc::channel();
    let other = || {
        replace(&file, |fresh| fs::write(fresh, "other")).expect("replaced");
        done.send(()).expect("a test");
    };
    thread::scope(|scope| {
        replace(&file, |fresh| {
            fs::write(fresh, "one")?;
            scope.spawn(other);
            // The other one waits, so this ends with the time.
            let _ = is_done.recv_timeout(Duration::from_millis(200));
            Ok(())
        })
        .expect("replaced");
    });
    assert_eq!(fs::read_to_string(&file).expect("a file"), "other");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}
