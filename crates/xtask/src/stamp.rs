//! Skips a build if its inputs and outputs are unchanged since the last run.
//!
//! Stamps compare contents instead of times: a checkout changes the times of files, and somebody
//! may have overwritten an output by hand.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::setup::{self, Held};
use crate::{output, workspace};

/// Folders that hold built or installed files, never sources.
const BUILT: [&str; 5] = ["dist", "node_modules", "pkg", "site", "target"];

/// A record of a build's inputs and outputs.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Stamp {
    file: PathBuf,
    inputs: u64,
    outputs: PathBuf,
}

impl Stamp {
    /// Describes a build: the files and folders of the repository that it reads, other values that
    /// its result depends on, and the folder that it writes.
    pub(crate) fn new(name: &str, inputs: &[&str], other: &[&str], outputs: &str) -> Result<Self> {
        let root = workspace::root();
        let mut hasher = DefaultHasher::new();
        other.hash(&mut hasher);
        for input in inputs {
            input.hash(&mut hasher);
            hash_tree(&root.join(input), &mut hasher)?;
        }
        Ok(Self {
            file: workspace::target_dir().join("xtask").join(name),
            inputs: hasher.finish(),
            outputs: root.join(outputs),
        })
    }

    /// Whether the build can be skipped.
    fn is_fresh(&self) -> bool {
        let Ok(stamp) = fs::read_to_string(&self.file) else {
            return false;
        };
        self.outputs.is_dir() && self.text().is_ok_and(|text| text == stamp)
    }

    /// Records that the build is done.
    fn write(&self) -> Result<()> {
        let folder = self.file.parent().context("a stamp has a folder")?;
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&self.file, self.text()?))
            .with_context(|| format!("cannot write {}", self.file.display()))
    }

    fn text(&self) -> std::io::Result<String> {
        let mut hasher = DefaultHasher::new();
        hash_tree(&self.outputs, &mut hasher)?;
        Ok(format!("{:016x} {:016x}\n", self.inputs, hasher.finish()))
    }
}

/// Runs a build of the folder `outputs` if its stamp is not fresh, while no other run does: two builds would remove each
/// other's files. Two runs may share the clone, the build folder, or both.
pub(crate) fn unless_fresh(
    name: &str,
    outputs: &str,
    stamp: impl FnOnce() -> Result<Stamp>,
    build: impl FnOnce(&Held) -> Result<()>,
) -> Result<()> {
    setup::alone(&workspace::clone_lock_dir(), name, |held| {
        setup::alone(&workspace::lock_dir(), name, |_| {
            let stamp = stamp()?;
            if stamp.is_fresh() {
                output::line(format_args!("{outputs} is up to date"));
                return Ok(());
            }
            build(held)?;
            stamp.write()
        })
    })
}

/// Hashes the names and contents of the files below `path`, which may be absent.
fn hash_tree(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if !BUILT.iter().any(|built| name == *built) {
                name.hash(hasher);
                hash_tree(&entry.path(), hasher)?;
            }
        }
    } else if path.is_file() {
        fs::read(path)?.hash(hasher);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::env;
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use anyhow::Result;
    use tempfile::TempDir;

    use super::{Stamp, unless_fresh};
    use crate::setup::{Held, Waiting};
    use crate::workspace;

    /// Returns a folder whose path no earlier run had.
    fn folder() -> TempDir {
        tempfile::Builder::new().prefix("test-of-builds-").tempdir().expect("a folder")
    }

    /// Returns the name of the build into a folder. Tests of other runs have other names.
    fn name(outputs: &Path) -> &str {
        outputs.file_name().and_then(|name| name.to_str()).expect("UTF-8")
    }

    /// Runs a build into a folder.
    fn build(outputs: &Path, build: impl FnOnce(&Held) -> Result<()>) {
        let (name, outputs) = (name(outputs), outputs.to_str().expect("UTF-8"));
        let stamp = || Stamp::new(name, &[], &[outputs], outputs);
        unless_fresh(name, outputs, stamp, build).expect("a build");
    }

    /// Removes the stamp and the locks of the builds into a folder.
    fn forget(outputs: &Path) {
        let name = name(outputs);
        let locks = [workspace::lock_dir(), workspace::clone_lock_dir()];
        let locks = locks.map(|folder| folder.join("locks").join(name));
        let all = locks.into_iter().chain([workspace::lock_dir().join(name)]);
        all.for_each(|file| fs::remove_file(file).expect("a file"));
    }

    #[test]
    fn two_runs_at_once_build_once() {
        let folder = folder();
        let builds = AtomicUsize::new(0);
        let write = |_: &Held| {
            builds.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(50));
            Ok(fs::write(folder.path().join("file"), "")?)
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| build(folder.path(), write));
            }
        });
        assert_eq!(builds.into_inner(), 1);
        forget(folder.path());
    }

    #[test]
    fn a_run_with_another_build_folder_waits() {
        /// Set where the test runs again, to the folder that it builds into.
        const OUTPUTS: &str = "RANDOMX_XTASK_TEST_OUTPUTS";

        if let Some(outputs) = env::var_os(OUTPUTS) {
            let outputs = Path::new(&outputs);
            return build(outputs, |_| Ok(fs::write(outputs.join("other"), "")?));
        }
        let folder = folder();
        let built = folder.path().join("other");
        let started = Cell::new(None);
        build(folder.path(), |_| {
            let other = Waiting::start(
                "stamp::tests::a_run_with_another_build_folder_waits",
                &[(OUTPUTS, folder.path()), ("CARGO_TARGET_DIR", &folder.path().join("target"))],
            );
            assert!(!built.exists());
            started.set(Some(other));
            Ok(())
        });
        started.into_inner().expect("another run").end();
        assert!(built.exists());
        forget(folder.path());
    }
}
