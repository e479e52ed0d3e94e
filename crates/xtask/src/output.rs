//! Where a thread prints: to the terminal, or to the log of the step that it runs.
//!
//! Steps that run side by side would mix their lines, so each writes a log, which is printed
//! when the step ends.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{self, Stdio};

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

/// Calls `work`; whatever it prints on this thread goes to the file `log`. Returns that text too.
pub(crate) fn logged<T>(log: &Path, work: impl FnOnce() -> T) -> Result<(T, String)> {
    let written = || format!("cannot write {}", log.display());
    let file = create(log).with_context(written)?;
    LOG.set(Some(file.try_clone().with_context(written)?));
    let result = work();
    LOG.set(None);
    Ok((result, text_of(file, log)))
}

/// Creates a log in the place of an earlier one, which another run may still write and read.
fn create(log: &Path) -> io::Result<File> {
    fs::create_dir_all(log.parent().unwrap_or(log))?;
    let fresh = log.with_extension(format!("{}.new", process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&fresh)?;
    fs::rename(&fresh, log)?;
    Ok(file)
}

/// Returns the text of a log. Programs may print bytes that are not UTF-8.
fn text_of(mut file: File, log: &Path) -> String {
    let mut text = Vec::new();
    match file.rewind().and_then(|()| file.read_to_end(&mut text)) {
        Ok(_) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => format!("cannot read {}: {error}\n", log.display()),
    }
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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::thread;

    use super::{line, log, logged, shared, text_of};

    #[test]
    fn other_threads_print_to_the_log_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("logs/step.log");
        let ((), text) = logged(&log, || {
            line("before");
            let shared = shared();
            thread::scope(|scope| scope.spawn(|| shared(&|| line("beside"))).join())
                .expect("no panic");
            line("after");
        })
        .expect("a log");
        assert_eq!(text, "before\nbeside\nafter\n");
        assert_eq!(fs::read_to_string(&log).expect("a log"), text);
    }

    #[test]
    fn a_step_of_another_run_has_a_log_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("step.log");
        let (other, text) = logged(&log, || {
            line("one");
            let run = || logged(&log, || line("other")).expect("a log");
            let ((), other) = thread::scope(|scope| scope.spawn(run).join()).expect("no panic");
            line("one again");
            other
        })
        .expect("a log");
        assert_eq!((text.as_str(), other.as_str()), ("one\none again\n", "other\n"));
        // Both runs leave one file: that of the step which began last.
        assert_eq!(fs::read_to_string(&log).expect("a log"), other);
        assert_eq!(fs::read_dir(folder.path()).expect("files").count(), 1);
    }

    #[test]
    fn a_log_may_contain_any_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("step.log");
        let print = || log().expect("a log").write_all(b"caf\xe9\nerror: the reason\n");
        let (printed, text) = logged(&path, print).expect("a log");
        printed.expect("writable");
        assert_eq!(text, "caf\u{fffd}\nerror: the reason\n");
        let unreadable = File::options().write(true).open(&path).expect("a file");
        let text = text_of(unreadable, &path);
        assert!(text.starts_with(&format!("cannot read {}: ", path.display())), "{text}");
    }
}
