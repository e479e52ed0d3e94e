//! Processes that a test starts.

use std::ops::{Deref, DerefMut};
use std::process::Child;

/// A process that is killed when it goes out of scope, also if a test fails.
pub struct Running(pub Child);

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has noticed then.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
