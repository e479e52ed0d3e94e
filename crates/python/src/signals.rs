//! Signals, such as that of Ctrl-C, while Rust works without the interpreter's lock.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The least time between two looks at signals.
const PAUSE: Duration = Duration::from_millis(100);

/// Handles signals for the thread that began the work: Python runs handlers on its main thread only.
pub(crate) struct Signals {
    thread: ThreadId,
    handled: Mutex<Instant>,
}

impl Signals {
    /// Begins work on this thread.
    pub(crate) fn new() -> Signals {
        Signals { thread: thread::current().id(), handled: Mutex::new(Instant::now()) }
    }

    /// Handles signals, unless that was done just now or this is another thread. Any thread may call this.
    ///
    /// # Errors
    ///
    /// The exception that a handler raised, such as `KeyboardInterrupt`.
    pub(crate) fn handle(&self) -> PyResult<()> {
        if thread::current().id() != self.thread {
            return Ok(());
        }
        let mut handled = self.handled.lock().unwrap_or_else(PoisonError::into_inner);
        if handled.elapsed() < PAUSE {
            return Ok(());
        }
        *handled = Instant::now();
        // A handler may use the object that works, which calls this again.
        drop(handled);
        Python::attach(|py| py.check_signals())
    }
}
