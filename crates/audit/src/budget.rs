//! How threads and memory are divided among epochs.

use randomx_epochs::ROWS;

use crate::error::Error;

const MIB: usize = 1 << 20;

/// The cache of a key.
const CACHE: usize = 256 * MIB;

/// The dataset of a key.
const DATASET: usize = 2080 * MIB;

/// The scratchpads of a thread: 2 MiB for each of 8 lanes.
const THREAD: usize = 16 * MIB;

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

/// Returns the memory that one thread takes, with that for the rows of an epoch.
fn least(rows: usize) -> usize {
    CACHE + THREAD + rows
}

impl Budget {
    /// Returns the most memory that the rows of an epoch may take.
    pub(crate) fn most_rows(memory: usize) -> Result<usize, Error> {
        Budget::new(memory, 1, ROWS)?;
        Ok(memory - least(0))
    }

    /// Divides the memory among up to `threads` threads. The rows of an epoch take `rows` bytes.
    pub(crate) fn new(memory: usize, threads: usize, rows: usize) -> Result<Budget, Error> {
        let left = memory.saturating_sub(CACHE).saturating_sub(rows);
        let threads = threads.min(left / THREAD);
        if threads == 0 {
            let needed = least(rows).div_ceil(MIB);
            return Err(Error::Memory { needed, given: memory / MIB });
        }
        let epochs = ((memory - threads * THREAD) / (CACHE + rows)).clamp(1, threads);
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
            Budget::new(memory * MIB, threads, ROWS).ok().map(|budget| budget.light(count))
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
        let fast = |memory: usize| Budget::new(memory * MIB, 2, ROWS).ok().and_then(|b| b.fast());
        assert_eq!((fast(2431), fast(2432)), (None, Some(2)));
    }

    #[test]
    fn the_memory_is_never_exceeded() {
        for memory in (336..8192).step_by(7) {
            let memory = memory * MIB;
            let most = Budget::most_rows(memory).expect("enough memory");
            let rows = [ROWS, ROWS + 1, most / 2, most].map(|rows| rows.clamp(ROWS, most));
            for (threads, rows) in
                [1, 2, 3, 5, 16, 64, 1024].into_iter().flat_map(|n| rows.map(|rows| (n, rows)))
            {
                let budget = Budget::new(memory, threads, rows).expect("enough memory");
                for count in [1, 2, 7, 2000] {
                    let light = budget.light(count);
                    let used: usize = light.iter().sum();
                    assert!(used >= 1 && used <= threads && light.iter().all(|&n| n > 0));
                    assert!(light.len() * (CACHE + rows) + used * THREAD <= memory);
                }
                if let Some(fast) = budget.fast() {
                    assert!(DATASET + CACHE + rows + fast * THREAD <= memory);
                }
            }
        }
    }
}
