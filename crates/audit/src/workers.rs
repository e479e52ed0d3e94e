//! Tasks on several workers.

use std::sync::{Mutex, PoisonError};

use randomx::spread::{Source, spread};

/// The tasks that nobody has begun.
struct Tasks<'a, T>(Mutex<&'a [T]>);

impl<'a, T: Sync> Source for Tasks<'a, T> {
    type Piece = &'a T;

    fn next(&self, _: usize) -> Option<&'a T> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, rest) = left.split_first()?;
        *left = rest;
        Some(first)
    }

    fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = &[];
    }
}

/// Works on all tasks, each on one of the workers. After the first error no further task begins.
pub(crate) fn run<W: Send, T: Sync, E: Send>(
    workers: &mut [W],
    tasks: &[T],
    work: impl Fn(&mut W, &T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    spread(workers, &Tasks(Mutex::new(tasks)), usize::MAX, work, |()| Ok(()))
}
