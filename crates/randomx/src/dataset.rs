//! The dataset (specification 7.3): all items of a key, computed in advance by many threads.

use std::fmt;
use std::iter::Enumerate;
use std::ops::ControlFlow;
use std::slice::ChunksMut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::DatasetError;
use crate::items::Items;
use crate::memory::{Memory, Pages, Room};
use crate::params::{DATASET_ITEMS, DATASET_SIZE, MAX_THREADS};
use crate::superscalar::Item;

/// All items of a key, 2080 MiB, for v1 and v2 alike.
///
/// A dataset is read-only. Any number of VMs and threads can share it. It does not need the cache
/// that it was computed from.
pub struct Dataset {
    memory: Memory,
}

impl Dataset {
    /// The number of items.
    pub const ITEMS: usize = DATASET_ITEMS as usize;

    /// Computes all items with `threads` threads, 1 to [`MAX_THREADS`].
    ///
    /// # Errors
    ///
    /// See [`DatasetBuilder::new`] and [`DatasetBuilder::fill`].
    pub fn new(source: &Items, threads: usize) -> Result<Dataset, DatasetError> {
        DatasetBuilder::new(threads)?.fill(source, |_| ControlFlow::Continue(()))
    }

    /// Creates a dataset of zeros, for callers that write the items through
    /// [`as_mut_ptr`](Self::as_mut_ptr).
    ///
    /// # Errors
    ///
    /// [`DatasetError::OutOfMemory`] if 2080 MiB cannot be allocated, or on Linux and Windows exceed the free memory.
    pub fn zeroed() -> Result<Dataset, DatasetError> {
        let memory = Memory::zeroed_if_available(DATASET_SIZE, Room::Memory);
        let memory = memory.map_err(|_| DatasetError::OutOfMemory { bytes: DATASET_SIZE })?;
        Ok(Dataset { memory })
    }

    /// Returns the address of the items, which is fixed while the dataset lives. They may be
    /// written through this pointer while nothing borrows them.
    pub fn as_mut_ptr(&mut self) -> *mut Item {
        self.memory.as_mut_ptr().cast()
    }

    /// Returns the items, in order.
    pub fn items(&self) -> &[Item] {
        self.memory.as_slice()
    }

    /// Returns the kind of pages that hold the memory.
    pub fn pages(&self) -> Pages {
        self.memory.pages()
    }

    /// Returns the bytes of the memory that lie on huge pages now, where the system reports it.
    pub fn huge_bytes(&self) -> Option<usize> {
        self.memory.huge_bytes()
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset").field("pages", &self.pages()).finish_non_exhaustive()
    }
}

/// The memory of a dataset before its items are computed.
///
/// It is allocated first, so that running out of memory shows before the key is expanded.
pub struct DatasetBuilder {
    memory: Memory,
    threads: usize,
    on_thread_start: fn(),
}

impl DatasetBuilder {
    /// Allocates the memory, which `threads` threads will fill.
    ///
    /// # Errors
    ///
    /// [`DatasetError::Threads`] unless `threads` is 1 to [`MAX_THREADS`],
    /// [`DatasetError::OutOfMemory`] if 2080 MiB cannot be allocated, or on Linux and Windows exceed the free memory.
    pub fn new(threads: usize) -> Result<DatasetBuilder, DatasetError> {
        if threads == 0 || threads > MAX_THREADS {
            return Err(DatasetError::Threads { requested: threads });
        }
        let Dataset { memory } = Dataset::zeroed()?;
        Ok(DatasetBuilder { memory, threads, on_thread_start: || {} })
    }

    /// Returns the pages of the memory.
    pub fn pages(&self) -> Pages {
        self.memory.pages()
    }

    /// Sets a function that each thread which [`fill`](Self::fill) starts calls first, for example to lower its
    /// priority. The calling thread does not call it.
    #[must_use]
    pub fn on_thread_start(mut self, start: fn()) -> DatasetBuilder {
        self.on_thread_start = start;
        self
    }

    /// Computes all items. If the system refuses a thread, the others do its part.
    ///
    /// The calling thread computes too. It calls `progress` after each 2 MiB that it has computed, with the number of
    /// items that all threads have computed, and at the end with all. With machine code 2 MiB take milliseconds, with the
    /// interpreter longer. `progress` can cancel the work by `Break`, also in its last call.
    ///
    /// # Errors
    ///
    /// [`DatasetError::Cancelled`] if a call of `progress` breaks.
    pub fn fill(
        mut self,
        source: &Items,
        progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Dataset, DatasetError> {
        let compute = |first: u32, items: &mut [Item]| source.fill(first, items);
        let (threads, start) = (self.threads, self.on_thread_start);
        fill(self.memory.as_mut_slice(), threads, start, compute, progress)?;
        Ok(Dataset { memory: self.memory })
    }
}

impl fmt::Debug for DatasetBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatasetBuilder").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Items that a thread takes at a time. They fill a huge page, so that only one thread writes each
/// page. They are few enough that cancelling takes effect soon.
const CHUNK: usize = (2 << 20) / size_of::<Item>();

/// Spreads the computation of `items` over threads. Those that it starts call `start` first. `compute` computes items from
/// a number on.
fn fill(
    items: &mut [Item],
    threads: usize,
    start: fn(),
    compute: impl Fn(u32, &mut [Item]) + Sync,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<(), DatasetError> {
    let all = items.len();
    let helpers = threads.min(all.div_ceil(CHUNK)).saturating_sub(1);
    let work = Work {
        chunks: Mutex::new(items.chunks_mut(CHUNK).enumerate()),
        done: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
    };
    let mut report = |done| match progress(done) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(DatasetError::Cancelled),
    };
    thread::scope(|scope| {
        let helper = || {
            start();
            while work.step(&compute) {}
        };
        for _ in 0..helpers {
            if thread::Builder::new().spawn_scoped(scope, helper).is_err() {
                break;
            }
        }
        // Also after a panic: the helpers would compute all items before it reached the caller.
        let _stop = StopOnDrop(&work);
        while work.step(&compute) {
            report(work.done.load(Ordering::Relaxed))?;
        }
        Ok(())
    })?;
    // The calling thread may not have seen the last items of the others.
    report(all)
}

/// Stops the work when the calling thread has nothing more to do.
struct StopOnDrop<'a, 'items>(&'a Work<'items>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The state that the threads share.
struct Work<'a> {
    chunks: Mutex<Enumerate<ChunksMut<'a, Item>>>,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl Work<'_> {
    /// Takes a chunk and computes it. Returns false if none was left.
    fn step(&self, compute: impl Fn(u32, &mut [Item])) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return false;
        }
        // The lock is released here, before the items are computed.
        let next = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((index, items)) = next else {
            return false;
        };
        compute((index * CHUNK) as u32, items);
        self.done.fetch_add(items.len(), Ordering::Relaxed);
        true
    }

    /// Drops the chunks that no thread has taken.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Barrier;

    use super::*;

    /// Adds its number to each item, which shows items that are computed twice or never.
    fn count(first: u32, items: &mut [Item]) {
        for (number, item) in (u64::from(first)..).zip(items) {
            item[0] += number + 1;
        }
    }

    fn no_op() {}

    #[test]
    fn each_item_is_computed_once() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 9 * CHUNK + 7] {
            for threads in [1, 2, 3, 16] {
                let mut items = vec![[0; 8]; length];
                let mut reported = Vec::new();
                let progress = |done| {
                    reported.push(done);
                    ControlFlow::Continue(())
                };
                fill(&mut items, threads, no_op, count, progress).expect("threads");
                let correct = (1..).zip(&items).all(|(number, item)| item[0] == number);
                assert!(correct, "{length} items, {threads} threads");
                assert!(reported.is_sorted(), "{reported:?}");
                assert_eq!(reported.last(), Some(&length));
            }
        }
    }

    #[test]
    fn progress_can_cancel_the_work() {
        for threads in [1, 4] {
            let mut items = vec![[0; 8]; 40 * CHUNK];
            let mut calls = 0;
            let result = fill(&mut items, threads, no_op, count, |_| {
                calls += 1;
                if calls == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(result, Err(DatasetError::Cancelled));
            assert_eq!(calls, 2);
        }
    }

    #[test]
    fn the_last_report_can_cancel_too() {
        for length in [0, 1, 4 * CHUNK] {
            for threads in [1, 4] {
                let mut items = vec![[0; 8]; length];
                let result = fill(&mut items, threads, no_op, count, |done| {
                    if done == length { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                assert_eq!(result, Err(DatasetError::Cancelled), "{length}, {threads} threads");
            }
        }
    }

    #[test]
    fn a_panic_stops_the_work() {
        let computed = AtomicUsize::new(0);
        let compute = |_: u32, _: &mut [Item]| {
            computed.fetch_add(1, Ordering::Relaxed);
            thread::sleep(std::time::Duration::from_millis(1));
        };
        let mut items = vec![[0; 8]; 200 * CHUNK];
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            fill(&mut items, 2, no_op, compute, |_| std::panic::resume_unwind(Box::new(())))
        }));
        assert!(result.is_err());
        assert!(computed.into_inner() < 100);
    }

    #[test]
    fn threads_that_are_started_call_a_function_first() {
        thread_local!(static STARTS: Cell<u32> = const { Cell::new(0) });
        let own = thread::current().id();
        // The thread that computes the first chunk waits until another one computes the second.
        let both = Barrier::new(2);
        let compute = |first: u32, _: &mut [Item]| {
            if (first as usize) < 2 * CHUNK {
                both.wait();
            }
            assert_eq!(STARTS.get(), u32::from(thread::current().id() != own));
        };
        let mut items = vec![[0; 8]; 4 * CHUNK];
        let start = || STARTS.set(STARTS.get() + 1);
        fill(&mut items, 2, start, compute, |_| ControlFlow::Continue(())).expect("threads");
    }

    #[test]
    fn nothing_is_computed_after_a_stop() {
        let mut items = vec![[0; 8]; 2 * CHUNK];
        let work = Work {
            chunks: Mutex::new(items.chunks_mut(CHUNK).enumerate()),
            done: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        };
        assert!(work.step(count));
        work.stop();
        assert!(!work.step(count));
        assert_eq!(work.done.into_inner(), CHUNK);
        assert!(items[CHUNK..].iter().all(|item| *item == [0; 8]));
    }

    #[test]
    fn thread_counts_out_of_range_are_refused() {
        for threads in [0, MAX_THREADS + 1, 10_000, usize::MAX] {
            let error = DatasetBuilder::new(threads).expect_err("a bad number of threads");
            assert_eq!(error, DatasetError::Threads { requested: threads });
        }
    }

    #[test]
    fn the_dataset_has_the_size_of_the_specification() {
        assert_eq!(Dataset::ITEMS, 34_078_719);
        assert_eq!(DATASET_SIZE + 64, 2080 << 20);
        let error = DatasetError::OutOfMemory { bytes: DATASET_SIZE };
        assert_eq!(error.to_string(), "no memory for the RandomX dataset: 2080 MiB needed");
    }
}
