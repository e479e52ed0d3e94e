//! Locks for what is installed or built. All clones of the repository share the installed tools, and some may set up
//! at once.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::announce;
use crate::process;

/// The end of the line that a run prints before it waits for a lock.
const WAITING: &str = "waiting for another step or run";

/// A lock that this program holds.
pub(crate) struct Held(File);

impl Held {
    /// Returns the standard input for a child process that changes the locked files. On Unix it is the empty lock file, so
    /// the child holds the lock until it exits, even if this process is killed first.
    pub(crate) fn stdin(&self) -> Result<Stdio> {
        if !cfg!(unix) {
            return Ok(Stdio::null());
        }
        Ok(self.0.try_clone().context("cannot share a lock")?.into())
    }

    /// Runs a long command, which gets this standard input, and whose output goes to `log`.
    pub(super) fn run_logged(&self, command: &mut Command, log: &Path) -> Result<()> {
        process::run_logged_from(self.stdin()?, command, log)
    }
}

/// Returns what `find` finds. If that is nothing, calls `install`, while no other thread or process installs the same
/// part. The locks are in the folder `cache`.
pub(super) fn once<T>(
    cache: &Path,
    part: &str,
    find: impl Fn() -> Option<T>,
    install: impl FnOnce(&Held) -> Result<T>,
) -> Result<T> {
    if let Some(found) = find() {
        return Ok(found);
    }
    // Another one may have installed it since.
    alone(cache, part, |held| find().map_or_else(|| install(held), Ok))
}

/// Does some work while no other thread or process does work of the same name.
pub(crate) fn alone<T>(
    cache: &Path,
    name: &str,
    work: impl FnOnce(&Held) -> Result<T>,
) -> Result<T> {
    let folder = cache.join("locks");
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = fs::create_dir_all(&folder)
        .and_then(|()| options.open(&path))
        .with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            announce(&format!("{name}: {WAITING}"));
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        // A file system may have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    work(&Held(file))
}

/// A test that runs again in another process, and waits for a lock there.
#[cfg(test)]
pub(crate) struct Waiting {
    test: std::process::Child,
    rest: std::io::BufReader<std::process::ChildStdout>,
}

#[cfg(test)]
impl Waiting {
    /// Starts a test again with some variables. Returns when it waits, and fails if it ends before that.
    pub(crate) fn start(name: &str, variables: &[(&str, &Path)]) -> Waiting {
        use std::io::{BufRead, Read};

        let mut test = Command::new(std::env::current_exe().expect("this program"));
        test.args(["--exact", name, "--nocapture"]).envs(variables.iter().copied());
        let mut test = test.stdout(Stdio::piped()).spawn().expect("the test");
        let mut rest = std::io::BufReader::new(test.stdout.take().expect("its output"));
        let mut lines = rest.by_ref().lines().map(|line| line.expect("UTF-8"));
        assert!(lines.any(|line| line.ends_with(WAITING)), "{name} does not wait");
        Waiting { test, rest }
    }

    /// Waits until the test ends, and fails if the test failed.
    pub(crate) fn end(mut self) {
        std::io::copy(&mut self.rest, &mut std::io::sink()).expect("its output");
        assert!(self.test.wait().expect("its end").success());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::{Held, alone, once};

    #[test]
    fn a_part_is_installed_once() {
        let cache = tempfile::tempdir().expect("a folder");
        let (is_there, installed) = (AtomicBool::new(false), AtomicUsize::new(0));
        let find = || is_there.load(Ordering::SeqCst).then_some(());
        let install = |_: &Held| {
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
        let inner = alone(cache.path(), "a-tool", |_| alone(cache.path(), "another", |_| Ok(7)));
        assert_eq!(inner.expect("both"), 7);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_outlives_this_one_holds_the_lock() {
        use std::fs::{File, TryLockError};
        use std::process::Command;

        let cache = tempfile::tempdir().expect("a folder");
        let start =
            |held: &Held| Ok(Command::new("sleep").arg("600").stdin(held.stdin()?).spawn()?);
        let mut program = alone(cache.path(), "a-tool", start).expect("a program");
        let file = File::open(cache.path().join("locks/a-tool")).expect("the lock");
        let is_locked = file.try_lock();
        program.kill().and_then(|()| program.wait()).expect("the program's end");
        assert!(matches!(is_locked, Err(TryLockError::WouldBlock)), "{is_locked:?}");
        file.try_lock().expect("a free lock");
    }

    #[cfg(unix)]
    #[test]
    fn a_logged_program_that_outlives_this_one_holds_the_lock() {
        use std::fs::{self, File, TryLockError};
        use std::process::Command;

        let cache = tempfile::tempdir().expect("a folder");
        let log = cache.path().join("log");
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        // A shell starts background commands with an empty input, unless the script names another.
        let script = "exec 3<&0; sleep 600 <&3 & echo $!";
        let start = |held: &Held| held.run_logged(&mut shell(script), &log);
        alone(cache.path(), "a-tool", start).expect("a program");
        let file = File::open(cache.path().join("locks/a-tool")).expect("the lock");
        let is_locked = file.try_lock();
        let program = fs::read_to_string(&log).expect("its number");
        shell(&format!("kill {program}")).status().expect("the program's end");
        assert!(matches!(is_locked, Err(TryLockError::WouldBlock)), "{is_locked:?}");
        file.lock().expect("a free lock");
    }
}
