//! Samples computed on several threads and returned in order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::{LabError, Progress};

/// Computes samples 0 to `count - 1` and returns them in that order.
///
/// Each thread has its own state, which `worker` makes and `sample` uses. The calling thread works too
/// and reports progress. If the system starts fewer threads, those that run compute all samples.
///
/// # Errors
///
/// The error of `worker` on the calling thread, or the first error of a sample.
pub fn map<W, T: Send>(
    stage: &str,
    count: u64,
    threads: usize,
    progress: &mut dyn Progress,
    worker: impl Fn() -> Result<W, LabError> + Sync,
    sample: impl Fn(&mut W, u64) -> Result<T, LabError> + Sync,
) -> Result<Vec<T>, LabError> {
    let work = Work { next: AtomicU64::new(0), count, done: Mutex::new(Vec::new()) };
    let mut own = worker()?;
    thread::scope(|scope| {
        let helper = || {
            // On failure the calling thread, which has a worker, does all the work.
            if let Ok(mut own) = worker() {
                while work.step(&mut own, &sample) {}
            }
        };
        for _ in 1..(threads as u64).min(count) {
            if thread::Builder::new().spawn_scoped(scope, helper).is_err() {
                break;
            }
        }
        while work.step(&mut own, &sample) {
            progress.at(stage, work.next.load(Ordering::Relaxed).min(count), count);
        }
    });
    let mut done = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, sample)| sample).collect()
}

struct Work<T> {
    next: AtomicU64,
    count: u64,
    done: Mutex<Vec<(u64, Result<T, LabError>)>>,
}

impl<T> Work<T> {
    /// Computes the next sample; returns false if none was left.
    fn step<W>(&self, worker: &mut W, sample: impl Fn(&mut W, u64) -> Result<T, LabError>) -> bool {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.count {
            return false;
        }
        let result = sample(worker, index);
        if result.is_err() {
            // Stops the other threads.
            self.next.fetch_max(self.count, Ordering::Relaxed);
        }
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(count: u64, threads: usize) -> Result<Vec<u64>, LabError> {
        map("squares", count, threads, &mut (), || Ok(()), |(), index| Ok(index * index))
    }

    #[test]
    fn samples_are_in_order_on_any_number_of_threads() {
        for (count, threads) in [(0, 1), (1, 4), (100, 1), (100, 3), (7, 100)] {
            let expected: Vec<u64> = (0..count).map(|index| index * index).collect();
            assert_eq!(squares(count, threads).expect("no error"), expected);
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let fail = |(): &mut (), index: u64| match index {
            5 => Err(LabError::Lacking("sample 5".to_owned())),
            _ => Ok(index),
        };
        let error = map("samples", 1 << 40, 2, &mut (), || Ok(()), fail).expect_err("an error");
        assert_eq!(error.to_string(), "this machine lacks sample 5");
    }
}
