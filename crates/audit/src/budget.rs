//! How threads and memory are divided among epochs.

use crate::error::Error;

const MIB: usize = 1 << 20;

/// The cache of a key.
const CACHE: usize = 256 * MIB;

/// The dataset of a key.
const DATASET: usize = 2080 * MIB;

/// The scratchpads of a thread: 2 MiB for each of 8 lanes.
const THREAD: usize = 16 * MIB;

/// The rows of an epoch on their way: two batches as they are read and written, and a row group.
const ROWS: usize = 64 * MIB;

/// The threads and epochs that the memory allows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// The threads that hash at once.
    threads: usize,
    /// The most epochs that are hashed at once.
    epochs: usize,
    /// Whether there is memory for a dataset.
    dataset: bool,
}

impl Budget {
    /// Divides the memory among up to `threads` threads.
    pub(crate) fn new(memory: usize, threads: usize) -> Result<Budget, Error> {
        let left = memory.saturating_sub(CACHE + ROWS);
        let threads = threads.min(left / THREAD);
        if threads == 0 {
            let needed = CACHE + ROWS + THREAD;
            return Err(Error::Memory { needed: needed / MIB, given: memory / MIB });
        }
        let epochs = ((memory - threads * THREAD) / (CACHE + ROWS)).clamp(1, threads);
        Ok(Budget { threads, epochs, dataset: left >= DATASET + threads * THREAD })
    }

    /// Returns the threads of each epoch that is hashed at once, of `count` epochs. These are as many as
    /// possible, because one thread alone fills a cache.
    pub(crate) fn light(&self, count: usize) -> Vec<usize> {
        let epochs = self.epochs.min(count);
        (0..epochs).map(|epoch| (self.threads + epoch) / epochs).collect()
    }

    /// Returns the threads of an epoch with a dataset, if there is memory for one.
    pub(crate) fn fast(&self) -> Option<usize> {
        self.dataset.then_some(self.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_memory_are_divided() {
        let light = |memory: usize, threads, count| {
            Budget::new(memory * MIB, threads).ok().map(|budget| budget.light(count))
        };
        assert_eq!(light(335, 1, 9), None);
        assert_eq!(light(336, 1, 9), Some(vec![1]));
        // There are scratchpads for one thread only.
        assert_eq!(light(336, 8, 9), Some(vec![1]));
        assert_eq!(light(352, 2, 9), Some(vec![2]));
        assert_eq!(light(672, 2, 9), Some(vec![1, 1]));
        assert_eq!(light(2048, 2, 9), Some(vec![1, 1]));
        assert_eq!(light(2048, 16, 9), Some(vec![3, 3, 3, 3, 4]));
        // Few epochs get all threads.
        assert_eq!(light(2048, 2, 1), Some(vec![2]));
        assert_eq!(light(2048, 16, 3), Some(vec![5, 5, 6]));
        assert_eq!(light(2048, 16, 0), Some(vec![]));
        let fast = |memory: usize| Budget::new(memory * MIB, 2).ok().and_then(|b| b.fast());
        assert_eq!((fast(2431), fast(2432)), (None, Some(2)));
    }

    #[test]
    fn the_memory_is_never_exceeded() {
        for memory in (336..8192).step_by(7) {
            for threads in [1, 2, 3, 5, 16, 64, 1024] {
                let memory = memory * MIB;
                let budget = Budget::new(memory, threads).expect("enough memory");
                for count in [1, 2, 7, 2000] {
                    let light = budget.light(count);
                    let used: usize = light.iter().sum();
                    assert!(used >= 1 && used <= threads && light.iter().all(|&n| n > 0));
                    assert!(light.len() * (CACHE + ROWS) + used * THREAD <= memory);
                }
                if let Some(fast) = budget.fast() {
                    assert!(DATASET + CACHE + ROWS + fast * THREAD <= memory);
                }
            }
        }
    }
}
