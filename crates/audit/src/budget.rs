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

/// How epochs are hashed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// The threads of each epoch that is hashed at once.
    pub(crate) light: Vec<usize>,
    /// The threads of an epoch with a dataset, if there is memory for one.
    pub(crate) fast: Option<usize>,
}

impl Budget {
    /// Divides up to `threads` threads. As many epochs as possible are hashed at once, because one
    /// thread alone fills a cache.
    pub(crate) fn new(memory: usize, threads: usize) -> Result<Budget, Error> {
        let left = memory.saturating_sub(CACHE + ROWS);
        let threads = threads.min(left / THREAD);
        if threads == 0 {
            let needed = CACHE + ROWS + THREAD;
            return Err(Error::Memory { needed: needed / MIB, given: memory / MIB });
        }
        let epochs = ((memory - threads * THREAD) / (CACHE + ROWS)).clamp(1, threads);
        let light = (0..epochs).map(|epoch| (threads + epoch) / epochs).collect();
        let fast = (left >= DATASET + threads * THREAD).then_some(threads);
        Ok(Budget { light, fast })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_memory_are_divided() {
        let budget = |memory: usize, threads| Budget::new(memory * MIB, threads).ok();
        let light = |epochs: &[usize]| Some(Budget { light: epochs.to_vec(), fast: None });
        assert_eq!(budget(335, 1), None);
        assert_eq!(budget(336, 1), light(&[1]));
        // There are scratchpads for one thread only.
        assert_eq!(budget(336, 8), light(&[1]));
        assert_eq!(budget(352, 2), light(&[2]));
        assert_eq!(budget(672, 2), light(&[1, 1]));
        assert_eq!(budget(2048, 2), light(&[1, 1]));
        assert_eq!(budget(2048, 16), light(&[3, 3, 3, 3, 4]));
        let fast = Some(Budget { light: vec![1, 1], fast: Some(2) });
        assert_eq!(budget(2432, 2), fast);
        assert_eq!(budget(2431, 2), light(&[1, 1]));
    }

    #[test]
    fn the_memory_is_never_exceeded() {
        for memory in (336..8192).step_by(7) {
            for threads in [1, 2, 3, 5, 16, 64, 1024] {
                let memory = memory * MIB;
                let budget = Budget::new(memory, threads).expect("enough memory");
                let used: usize = budget.light.iter().sum();
                assert!(used >= 1 && used <= threads && budget.light.iter().all(|&n| n > 0));
                assert!(budget.light.len() * (CACHE + ROWS) + used * THREAD <= memory);
                if let Some(fast) = budget.fast {
                    assert!(DATASET + CACHE + ROWS + fast * THREAD <= memory);
                }
            }
        }
    }
}
