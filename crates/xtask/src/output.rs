//! Where a thread prints: to the terminal, or to the log of the step that it runs.
//!
//! Steps that run side by side would mix their lines, so each writes a log, which is printed
//! when the step ends.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result};

thread_local! {
    /// The log of this thread's step; none if it prints to the terminal.
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Prints a line.
pub(crate) fn line(text: impl Display) {
    let log = log();
    let written = log.and_then(|mut log| writeln!(log, "{text}").ok());
    if written.is_none() {
        println!("{text}");
    }
}

/// The standard output and standard error of a command that this thread starts.
pub(crate) fn stdio() -> (Stdio, Stdio) {
    let stream = || log().map_or_else(Stdio::inherit, Stdio::from);
    (stream(), stream())
}

/// Calls `work`; whatever it prints on this thread goes to the file `log`.
pub(crate) fn logged<T>(log: &Path, work: impl FnOnce() -> T) -> Result<T> {
    let folder = log.parent().unwrap_or(log);
    let file = fs::create_dir_all(folder)
        .and_then(|()| File::create(log))
        .with_context(|| format!("cannot write {}", log.display()))?;
    LOG.set(Some(file));
    let result = work();
    LOG.set(None);
    Ok(result)
}

/// Returns what makes another thread print to this thread's log while it calls a function.
pub(crate) fn shared<T>() -> impl Fn(&dyn Fn() -> T) -> T + Sync {
    let log = log();
    move |work| {
        LOG.set(log.as_ref().and_then(|file| file.try_clone().ok()));
        let result = work();
        LOG.set(None);
        result
    }
}

/// Another handle of this thread's log. Both append at one position.
fn log() -> Option<File> {
    LOG.with_borrow(|log| log.as_ref().and_then(|file| file.try_clone().ok()))
}

#[test]
fn other_threads_print_to_the_log_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("logs/step.log");
    logged(&log, || {
        line("before");
        let shared = shared();
        std::thread::scope(|scope| scope.spawn(|| shared(&|| line("beside"))).join())
            .expect("no panic");
        line("after");
    })
    .expect("a log");
    assert_eq!(fs::read_to_string(&log).expect("a log"), "before\nbeside\nafter\n");
}
