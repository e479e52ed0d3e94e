//! XMRig as a contestant: its own offline benchmark, in a process that starts anew for each turn.
//!
//! The arguments name no pool and submit nothing, so XMRig opens no connection. It may change settings of
//! the machine: started by root, it reserves huge pages. Registers of the processor it leaves alone.

mod output;

use std::{
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use randomx::{Version, params::DATASET_SIZE};

use super::{
    measure::{Contestant, Slot, Turn},
    subject::{Hashing, Subject},
};
#[cfg(unix)]
use crate::signals;
use crate::{error::Error, mode::Mode};

use output::Line;

/// The shortest time of hashing in a turn: XMRig counts hashes in batches.
const SHORTEST: Duration = Duration::from_secs(5);

/// The longest silence: a slow computer takes a minute for its dataset.
const SILENCE: Duration = Duration::from_secs(300);

/// Returns the arguments of a benchmark that never ends by itself, with a report each second.
fn arguments(version: Version, mode: Mode, threads: usize) -> Vec<String> {
    let algorithm = match version {
        Version::V1 => "rx/0",
        Version::V2 => "rx/2",
    };
    let mode = match mode {
        Mode::Light => "light",
        Mode::Fast => "fast",
    };
    vec![
        "--bench=10M".to_owned(),
        format!("--algo={algorithm}"),
        format!("--threads={threads}"),
        format!("--randomx-init={threads}"),
        format!("--randomx-mode={mode}"),
        // Leaves the processor's registers as they are.
        "--randomx-wrmsr=-1".to_owned(),
        "--randomx-no-rdmsr".to_owned(),
        "--print-time=1".to_owned(),
        "--no-color".to_owned(),
    ]
}

/// An XMRig that can be started.
pub(crate) struct Xmrig {
    program: PathBuf,
    /// Its name and version, such as `XMRig 6.26.0`.
    name: String,
    running: Running,
}

/// The process of the present turn.
type Running = Arc<Mutex<Option<Child>>>;

impl Xmrig {
    /// Asks the program for its version.
    ///
    /// # Errors
    ///
    /// [`Error::Reference`] if it cannot be started, or is another program.
    pub(crate) fn new(program: &Path) -> Result<Xmrig, Error> {
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        let output =
            output.map_err(|problem| failed(program, &format!("cannot start: {problem}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let name = text.lines().next().unwrap_or_default().trim();
        let is_xmrig = name.strip_prefix("XMRig ").is_some_and(|rest| {
            rest.starts_with(|first: char| first.is_ascii_digit()) && rest.len() < 32
        });
        if !is_xmrig {
            return Err(failed(program, "expected a program whose --version prints `XMRig`"));
        }
        let running = Running::default();
        #[cfg(unix)]
        end_when_stopped(&running).map_err(|problem| failed(program, &problem.to_string()))?;
        Ok(Xmrig { program: program.to_owned(), name: name.to_owned(), running })
    }

    /// The description for the report.
    pub(crate) fn description(&self) -> String {
        format!("{}, its offline benchmark, started anew for each turn", self.name)
    }

    /// The contestant of a row, if XMRig can do that.
    pub(crate) fn contestant(&self, subject: &Subject) -> Option<Contestant<'static>> {
        let (program, running) = (self.program.clone(), Arc::clone(&self.running));
        match *subject {
            Subject::CacheAndDataset { threads } => Some(Box::new(move |slot: Slot<'_>| {
                let mode = Mode::Fast;
                let arguments = arguments(Version::V1, mode, threads);
                let time = Run::start(&program, &arguments, &running)?.until_ready(mode, slot)?;
                Ok(Turn { rate: 1.0 / time.as_secs_f64(), time })
            })),
            Subject::Hash(Hashing { version, mode, threads, single: false }) => {
                Some(Box::new(move |slot: Slot<'_>| {
                    let arguments = arguments(version, mode, threads);
                    let mut run = Run::start(&program, &arguments, &running)?;
                    run.until_ready(mode, slot)?;
                    run.hash(slot)
                }))
            }
            _ => None,
        }
    }
}

/// A running benchmark. It ends when this is dropped.
struct Run<'a> {
    program: &'a Path,
    running: &'a Running,
    lines: Receiver<io::Result<String>>,
}

impl<'a> Run<'a> {
    fn start(
        program: &'a Path,
        arguments: &[String],
        running: &'a Running,
    ) -> Result<Run<'a>, Error> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (send, lines) = mpsc::channel();
        let stdout = {
            // A signal that comes now waits until the process can be ended.
            let mut running = lock(running);
            let child = command.spawn();
            let child =
                child.map_err(|problem| failed(program, &format!("cannot start: {problem}")))?;
            running.insert(child).stdout.take()
        };
        // From now on, an error ends the process.
        let run = Run { program, running, lines };
        if let Some(stdout) = stdout {
            // Ends with the process, whose end of the pipe closes.
            let read = move || {
                for line in BufReader::new(stdout).lines() {
                    if send.send(line.map(shortened)).is_err() {
                        break;
                    }
                }
            };
            thread::Builder::new().spawn(read).map_err(|problem| {
                failed(program, &format!("cannot start a thread that reads its output: {problem}"))
            })?;
        }
        Ok(run)
    }

    /// Waits until the dataset is complete, or in light mode the cache. Returns the time that XMRig took for
    /// it, without the allocation of its memory.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if the mode is fast and XMRig has no memory for that: it would go on in light mode.
    fn until_ready(&mut self, mode: Mode, slot: Slot<'_>) -> Result<Duration, Error> {
        loop {
            match self.next(slot)? {
                Line::Ready(time) => return Ok(time),
                Line::NoDataset if mode == Mode::Fast => {
                    return Err(Error::Memory { what: "XMRig's dataset", bytes: DATASET_SIZE });
                }
                _ => {}
            }
        }
    }

    /// Waits until the turn is over, and compares the first report with the last.
    fn hash(&mut self, slot: Slot<'_>) -> Result<Turn, Error> {
        let mut first = None;
        loop {
            let Line::Progress { hashes, elapsed } = self.next(slot)? else { continue };
            let (hashes_before, before) = *first.get_or_insert((hashes, elapsed));
            let time = elapsed.saturating_sub(before);
            if time >= SHORTEST && slot.is_over(time) {
                let rate = (hashes.saturating_sub(hashes_before)) as f64 / time.as_secs_f64();
                return Ok(Turn { rate, time });
            }
        }
    }

    /// Waits for the next line.
    fn next(&mut self, slot: Slot<'_>) -> Result<Line, Error> {
        if (slot.stopped)() {
            return Err(Error::Stopped);
        }
        match self.lines.recv_timeout(SILENCE) {
            Ok(Ok(line)) => Ok(output::read(&line)),
            Ok(Err(problem)) => Err(failed(self.program, &format!("its output: {problem}"))),
            Err(RecvTimeoutError::Timeout) => {
                let minutes = SILENCE.as_secs() / 60;
                Err(failed(self.program, &format!("it printed nothing for {minutes} minutes")))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(failed(self.program, "it ended before its turn was over"))
            }
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        end(&mut lock(self.running));
    }
}

fn lock(running: &Running) -> MutexGuard<'_, Option<Child>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process of a turn.
fn end(running: &mut Option<Child>) {
    if let Some(mut child) = running.take() {
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Ends XMRig with this program. A terminal sends SIGINT to both, but SIGTERM reaches only this one.
#[cfg(unix)]
fn end_when_stopped(running: &Running) -> io::Result<()> {
    let running = Arc::clone(running);
    signals::when_stopped(move |code| {
        // Locked until the end, so that no further turn begins.
        let mut running = lock(&running);
        end(&mut running);
        std::process::exit(code);
    })
}

/// Cuts a line that is longer than any of XMRig's.
fn shortened(line: String) -> String {
    line.chars().take(1000).collect()
}

fn failed(program: &Path, problem: &str) -> Error {
    Error::Reference(format!("--xmrig {}: {problem}", program.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    /// XMRig goes on in light mode then, much slower, and reports a dataset that is ready.
    #[test]
    fn light_mode_is_not_taken_for_fast_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("xmrig");
        let script = "#!/bin/sh\n\
             echo '[time]  randomx  failed to allocate RandomX dataset, switching to slow mode (0 ms)'\n\
             echo '[time]  randomx  dataset ready (400 ms)'\n\
             for second in 1 2 3 4 5 6; do\n\
             echo \"[time]  bench     0.00% ${second}00/10000000 (${second}.000s)\"; done\n\
             exec sleep 60\n";
        fs::write(&program, script).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
        let xmrig = Xmrig { program, name: "XMRig 6.26.0".to_owned(), running: Running::default() };
        let turn = |subject: &Subject| {
            let mut contestant = xmrig.contestant(subject).expect("a contestant");
            contestant(Slot { time: Duration::ZERO, stopped: &|| false })
        };
        let hash =
            |mode| Subject::Hash(Hashing { version: Version::V1, mode, threads: 1, single: false });
        assert_eq!(turn(&hash(Mode::Light)).expect("a turn").rate, 100.0);
        for subject in [hash(Mode::Fast), Subject::CacheAndDataset { threads: 1 }] {
            let problem = turn(&subject).expect_err("no memory");
            assert!(problem.is_out_of_memory(), "{problem}");
            assert!(lock(&xmrig.running).is_none(), "XMRig still runs");
        }
    }
}
