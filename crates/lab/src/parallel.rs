//! Samples computed on several threads and returned in order.

use std::sync::atomic::{AtomicU64, Ordering};

use randomx::spread::{Source, spread};

use crate::{LabError, Progress};

/// Computes samples 0 to `count - 1` and returns them in that order.
///
/// Each thread has its own state, which `worker` makes and `sample` uses. If the system starts fewer
/// threads, those that run compute all samples.
///
/// # Errors
///
/// The error of `worker` if it fails the first time, or the first error of a sample.
pub fn map<W: Send, T: Send>(
    stage: &str,
    count: u64,
    threads: usize,
    progress: &mut dyn Progress,
    worker: impl Fn() -> Result<W, LabError>,
    sample: impl Fn(&mut W, u64) -> Result<T, LabError> + Sync,
) -> Result<Vec<T>, LabError> {
    let mut workers = vec![worker()?];
    let more = (1..(threads as u64).min(count)).map_while(|_| worker().ok());
    workers.extend(more);
    let indices = Indices { next: AtomicU64::new(0), count };
    let mut samples = Vec::new();
    let deliver = |sample| {
        samples.push(sample);
        progress.at(stage, samples.len() as u64, count);
        Ok(())
    };
    spread(&mut workers, &indices, usize::MAX, sample, deliver)?;
    Ok(samples)
}

/// Hands out the indices of samples.
struct Indices {
    next: AtomicU64,
    count: u64,
}

impl Source for Indices {
    type Piece = u64;

    fn next(&self, _: usize) -> Option<u64> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.count).then_some(index)
    }

    fn close(&self) {
        self.next.fetch_max(self.count, Ordering::Relaxed);
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
