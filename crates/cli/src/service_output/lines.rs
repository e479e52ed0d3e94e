//! Lines that a thread of their own writes.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use crate::error::note_line;

/// The most lines that wait.
const MAX_WAITING: usize = 1000;

/// The longest that an ending process waits for its lines to be written.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// A stream whose writers never wait. If nobody reads the stream, lines are dropped and counted.
#[derive(Clone)]
pub(super) struct Lines(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The lines, each with the number of those after it that were dropped.
    waiting: VecDeque<(String, u64)>,
    /// Whether the thread is writing a line.
    writes: bool,
}

impl Lines {
    /// Starts the thread, which passes each line to `write`.
    pub(super) fn start(mut write: impl FnMut(&str) + Send + 'static) -> io::Result<Lines> {
        let shared = Arc::new(Shared::default());
        let lines = Lines(Arc::clone(&shared));
        let work = move || {
            loop {
                let (line, dropped) = shared.next();
                write(&line);
                if dropped > 0 {
                    write(&note_line(format_args!(
                        "lines missing here, because nobody read them: {dropped}"
                    )));
                }
            }
        };
        thread::Builder::new().spawn(work).map(|_| lines)
    }

    /// Adds a line, or drops it if too many wait.
    pub(super) fn push(&self, line: String) {
        let mut state = self.0.lock();
        let is_full = state.waiting.len() >= MAX_WAITING;
        match state.waiting.back_mut() {
            Some((_, dropped)) if is_full => *dropped += 1,
            _ => state.waiting.push_back((line, 0)),
        }
        drop(state);
        self.0.changed.notify_all();
    }

    /// Waits until all lines are written, for a limited time: perhaps nobody reads them.
    pub(super) fn finish(&self) {
        let is_busy = |state: &mut State| state.writes || !state.waiting.is_empty();
        // After the time, or a panic of the thread, the lines are lost.
        let _ = self.0.changed.wait_timeout_while(self.0.lock(), LAST_WAIT, is_busy);
    }
}

impl Shared {
    /// Waits for the next line, once the one before is written.
    fn next(&self) -> (String, u64) {
        let mut state = self.lock();
        state.writes = false;
        self.changed.notify_all();
        loop {
            if let Some(next) = state.waiting.pop_front() {
                state.writes = true;
                return next;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A queue and a flag are valid after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn lines_that_nobody_reads_are_dropped_and_counted() {
        let (sender, written) = mpsc::sync_channel(0);
        let lines = Lines::start(move |line| sender.send(line.to_owned()).expect("a reader"));
        let lines = lines.expect("a thread");
        let push = |number: usize| lines.push(number.to_string());
        let next = || written.recv().expect("a line");
        push(0);
        while !lines.0.lock().writes {
            thread::yield_now();
        }
        // The thread waits for a reader, and so does each of these lines.
        (1..=MAX_WAITING + 5).for_each(push);
        assert_eq!(next(), "0");
        while lines.0.lock().waiting.len() == MAX_WAITING {
            thread::yield_now();
        }
        push(9999);
        for number in 1..=MAX_WAITING {
            assert_eq!(next(), number.to_string());
        }
        assert_eq!(next(), "note: lines missing here, because nobody read them: 5");
        assert_eq!(next(), "9999");
    }

    #[test]
    fn the_end_waits_for_a_slow_reader_and_not_for_an_absent_one() {
        let slow = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&slow);
        let lines = Lines::start(move |line| {
            thread::sleep(Duration::from_millis(5));
            written.lock().expect("no panic").push(line.to_owned());
        });
        let lines = lines.expect("a thread");
        for line in ["a", "b", "c"] {
            lines.push(line.to_owned());
        }
        lines.finish();
        assert_eq!(*slow.lock().expect("no panic"), ["a", "b", "c"]);

        let absent = Lines::start(|_| {
            loop {
                thread::park()
            }
        })
        .expect("a thread");
        absent.push("a".to_owned());
        absent.finish();
    }
}
