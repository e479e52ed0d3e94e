//! The program on a console, with a limit for each wait.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{self, Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use assert_cmd::cargo::cargo_bin;

use crate::{
    screen::{PATIENCE, Screen},
    wine,
};

/// A program that was started. Dropping it kills it, so that a failed test leaves nothing behind.
pub(crate) struct Program {
    child: Arc<Mutex<Child>>,
    /// Its standard input, until that is closed.
    input: Option<ChildStdin>,
    /// The lines of its standard output, which a thread reads.
    lines: Receiver<io::Result<String>>,
}

/// The programs of this process.
static STARTED: Mutex<Vec<Arc<Mutex<Child>>>> = Mutex::new(Vec::new());

/// The program with its messages on the console.
pub(crate) fn randomx(screen: &Screen, arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("randomx"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(screen.stream());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "TERM"] {
        command.env_remove(variable);
    }
    command
}

impl Program {
    /// Starts a command of [`randomx`].
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let (input, stdout) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            // A test may drop the receiver before the output ends.
            let _ = BufReader::new(stdout).lines().try_for_each(|line| sender.send(line));
        });
        let child = Arc::new(Mutex::new(child));
        lock(&STARTED).push(Arc::clone(&child));
        Self { child, input, lines }
    }

    /// Returns its standard input. Dropping it closes the pipe.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().expect("an open pipe")
    }

    /// Writes to its standard input, which stays open.
    pub(crate) fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("an open pipe");
        input.write_all(text.as_bytes()).expect("the program reads");
    }

    /// Returns the next line of its output.
    pub(crate) fn next_line(&self) -> String {
        self.line_or_end().expect("a line before the end of the output")
    }

    /// Returns the lines up to the end of its output.
    pub(crate) fn rest(&self) -> Vec<String> {
        std::iter::from_fn(|| self.line_or_end()).collect()
    }

    fn line_or_end(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line.expect("text")),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("the program printed no line within {PATIENCE:?}")
            }
        }
    }

    /// Closes its standard input and waits until it ends. `reason` is what should end it.
    pub(crate) fn exit(&mut self, reason: &str) -> ExitStatus {
        drop(self.input.take());
        exit_within(PATIENCE, || lock(&self.child).try_wait())
            .unwrap_or_else(|| panic!("{reason} did not end the program within {PATIENCE:?}"))
    }

    /// Waits until Ctrl-C ends it. Returns no status if Wine ended it, but leaves its process.
    pub(crate) fn interrupted(&mut self) -> Option<ExitStatus> {
        let status = exit_within(Duration::from_secs(10), || lock(&self.child).try_wait());
        let id = lock(&self.child).id();
        if status.is_none() && wine::is_stuck(id) {
            end(&self.child);
            return None;
        }
        Some(status.unwrap_or_else(|| self.exit("Ctrl-C")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        end(&self.child);
    }
}

fn end(child: &Mutex<Child>) {
    let mut child = lock(child);
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends this process after some time, and its programs before: they would outlive it.
pub(crate) fn end_after(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        eprintln!("the test did not end within {time:?}");
        lock(&STARTED).iter().for_each(|child| end(child));
        process::exit(1);
    });
}

/// Waits for a process to end, but not longer than this.
pub(crate) fn exit_within(
    limit: Duration,
    mut status: impl FnMut() -> io::Result<Option<ExitStatus>>,
) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        let status = status().expect("the state of a process");
        if status.is_some() || start.elapsed() >= limit {
            return status;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
