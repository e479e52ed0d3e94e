//! Processor time of the programs that a thread has run. Only Linux reports it for single programs.

use std::cell::Cell;
use std::fs;
use std::process::Child;
use std::time::Duration;

thread_local! {
    static USED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Returns what the programs took that this thread has run so far, with their descendants.
pub(crate) fn used() -> Duration {
    USED.get()
}

/// Counts what programs took that another thread has run for this one.
pub(crate) fn add(time: Duration) {
    USED.set(USED.get() + time);
}

/// Waits until a program of this thread ends, and counts what it took.
#[cfg(target_os = "linux")]
pub(crate) fn count(child: &Child) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    // Its file exists until somebody asks for its status.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    if waitid(WaitId::Pid(Pid::from_child(child)), options).is_ok() {
        add(of_process(&child.id().to_string()).unwrap_or_default());
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn count(_: &Child) {}

/// Returns what this process took, with all its descendants that have ended.
pub(crate) fn of_this_process() -> Option<Duration> {
    of_process("self")
}

fn of_process(id: &str) -> Option<Duration> {
    parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// Reads the processor time of a process and of all its descendants that have ended from its file
/// `/proc/PID/stat`.
fn parse(stat: &str) -> Option<Duration> {
    /// The unit of these times, in the interface of nearly every Linux.
    const TICK: Duration = Duration::from_millis(10);
    // The process's name is in parentheses and may contain spaces. The state follows, and 11 fields
    // later user and system time of the process, then of the descendants.
    let (_, fields) = stat.rsplit_once(") ")?;
    let times = fields.split(' ').skip(11).take(4).map(|field| field.parse::<u32>().ok());
    let ticks = times.sum::<Option<u32>>()?;
    (ticks > 0).then(|| TICK * ticks)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn times_are_those_of_the_process_and_its_descendants() {
        let stat = "87 (cargo (x) y) S 1 87 87 0 -1 4194560 101 202 0 0 1 20 300 4000 20 0 1 0 5\n";
        assert_eq!(parse(stat), Some(Duration::from_millis(43_210)));
        assert_eq!(parse("87 (cargo) S 1 87"), None);
        assert_eq!(parse(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_worked_is_counted() {
        let before = super::used();
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
        crate::process::run(crate::process::command("sh").args(["-c", busy])).expect("a shell");
        assert!(super::used() > before);
    }
}
