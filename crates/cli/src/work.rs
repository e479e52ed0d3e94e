//! Computing a batch: key after key, the jobs of a key spread over threads.

use std::{
    io, panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use randomx::{Version, VmError};

use crate::{
    batch::{Batch, Group},
    error::Error,
    machine::{Hash, Machine},
    progress::Progress,
};

/// How the work is spread.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    /// Threads that hash at once, at least 1.
    pub(crate) threads: usize,
    /// Inputs that a thread hashes in lockstep, from 1 to [`randomx::MAX_LANES`].
    pub(crate) lanes: usize,
}

/// Hashes the whole batch; the hash at position i is that of job i.
pub(crate) fn hash_all<M: Machine + Sync>(
    machine: &M,
    batch: &Batch,
    spread: Spread,
    progress: &Progress,
) -> Result<Vec<Hash>, Error> {
    let mut hashes = vec![[0; randomx::HASH_SIZE]; batch.len()];
    let groups = batch.groups();
    for (index, group) in groups.iter().enumerate() {
        let bar = progress.key(index, groups.len());
        let key = machine.expand(group.key, &bar)?;
        drop(bar);
        for (job, hash) in hash_group(machine, &key, batch, group, spread, progress)? {
            hashes[job] = hash;
        }
    }
    Ok(hashes)
}

/// A chunk of jobs that one call hashes in lanes.
type Chunk<'a> = (Version, &'a [usize]);

/// Hashes the jobs of one key, on threads; each hash comes with its job's position.
pub(crate) fn hash_group<M: Machine + Sync>(
    machine: &M,
    key: &M::Key,
    batch: &Batch,
    group: &Group<'_>,
    spread: Spread,
    progress: &Progress,
) -> Result<Vec<(usize, Hash)>, Error> {
    let chunks: Vec<Chunk<'_>> = group
        .parts
        .iter()
        .flat_map(|part| part.chunks(spread.threads, spread.lanes).map(|jobs| (part.version, jobs)))
        .collect();
    // No more threads, and no more scratchpads, than these chunks can keep busy.
    let threads = spread.threads.min(chunks.len());
    let lanes = chunks.iter().map(|(_, jobs)| jobs.len()).max().unwrap_or(1);
    let vms = (0..threads).map(|_| machine.vm(key, lanes)).collect::<Result<Vec<_>, _>>().map_err(
        |problem| match problem {
            VmError::OutOfMemory { .. } => Error::Scratchpads { threads, problem },
            other => Error::Vm(other),
        },
    )?;

    let next = AtomicUsize::new(0);
    let worker = |vm| work::<M>(vm, batch, &chunks, &next, progress);
    thread::scope(|scope| {
        let workers = vms
            .into_iter()
            .map(|vm| thread::Builder::new().spawn_scoped(scope, || worker(vm)))
            .collect::<io::Result<Vec<_>>>()
            .map_err(|problem| {
                // The threads that did start finish their chunk and find no other.
                next.store(chunks.len(), Ordering::Relaxed);
                Error::Threads { threads, problem }
            })?;
        let mut hashes = Vec::with_capacity(batch.len());
        for worker in workers {
            hashes.extend(worker.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
        }
        Ok(hashes)
    })
}

/// One thread: takes chunks until none is left.
fn work<M: Machine>(
    mut vm: M::Vm,
    batch: &Batch,
    chunks: &[Chunk<'_>],
    next: &AtomicUsize,
    progress: &Progress,
) -> Vec<(usize, Hash)> {
    let mut hashes = Vec::new();
    while let Some(&(version, jobs)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
        let inputs: Vec<&[u8]> = jobs.iter().map(|&job| batch.input(job)).collect();
        hashes.extend(jobs.iter().copied().zip(M::hash(&mut vm, version, &inputs)));
        progress.hashed(jobs.len());
    }
    hashes
}

#[cfg(test)]
mod tests {
    use std::{
        iter,
        sync::{Arc, Mutex},
        time::Duration,
    };

    use randomx::CacheError;

    use super::*;
    use crate::progress::KeyBar;

    /// Makes readable "hashes" and records how it was used.
    #[derive(Default)]
    struct Recorder {
        caches: Mutex<Vec<Vec<u8>>>,
        vms: Mutex<Vec<usize>>,
        alive: Arc<()>,
        fail_cache: Option<&'static [u8]>,
        fail_vm: Option<usize>,
    }

    struct RecorderCache {
        key: Vec<u8>,
        _alive: Arc<()>,
    }

    struct RecorderVm {
        cache: Arc<RecorderCache>,
        lanes: usize,
    }

    impl Machine for Recorder {
        type Key = Arc<RecorderCache>;
        type Vm = RecorderVm;

        fn expand(&self, key: &[u8], _: &KeyBar) -> Result<Arc<RecorderCache>, Error> {
            assert_eq!(Arc::strong_count(&self.alive), 1, "another cache is still alive");
            if self.fail_cache == Some(key) {
                return Err(CacheError::OutOfMemory { bytes: 256 << 20 }.into());
            }
            self.caches.lock().expect("no thread has died").push(key.to_vec());
            let alive = Arc::clone(&self.alive);
            Ok(Arc::new(RecorderCache { key: key.to_vec(), _alive: alive }))
        }

        fn vm(&self, cache: &Arc<RecorderCache>, lanes: usize) -> Result<RecorderVm, VmError> {
            let mut vms = self.vms.lock().expect("no thread has died");
            if self.fail_vm == Some(vms.len()) {
                return Err(VmError::OutOfMemory { bytes: lanes << 21 });
            }
            vms.push(lanes);
            Ok(RecorderVm { cache: Arc::clone(cache), lanes })
        }

        fn hash(vm: &mut RecorderVm, version: Version, inputs: &[&[u8]]) -> Vec<Hash> {
            assert!(!inputs.is_empty() && inputs.len() <= vm.lanes);
            // Lets the other threads take chunks too, and finish them out of order.
            thread::sleep(Duration::from_micros(u64::from(inputs[0][0]) * 7 % 50));
            inputs.iter().map(|input| hash_of(&vm.cache.key, version, input)).collect()
        }
    }

    fn hash_of(key: &[u8], version: Version, input: &[u8]) -> Hash {
        let mut hash = [0; 32];
        let bytes = iter::once(version as u8).chain(key.iter().chain(input).copied());
        hash.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
        hash
    }

    const KEYS: [&[u8]; 3] = [b"first key", b"", b"third"];

    fn job(number: usize) -> (&'static [u8], Version, [u8; 2]) {
        let version = Version::ALL[number / 2 % 2];
        (KEYS[number * number % 3 % 2 + number % 2], version, (number as u16).to_le_bytes())
    }

    fn batch(jobs: usize) -> Batch {
        let mut batch = Batch::default();
        for (key, version, input) in (0..jobs).map(job) {
            batch.push(key.to_vec(), version, input.to_vec());
        }
        batch
    }

    #[test]
    fn hashes_come_in_the_order_of_the_jobs() {
        for (jobs, threads, lanes) in [(1, 1, 1), (1, 4, 8), (100, 3, 8), (301, 8, 5), (64, 1, 8)] {
            let recorder = Recorder::default();
            let hashes =
                hash_all(&recorder, &batch(jobs), Spread { threads, lanes }, &Progress::hidden());
            let expected: Vec<Hash> = (0..jobs)
                .map(job)
                .map(|(key, version, input)| hash_of(key, version, &input))
                .collect();
            assert_eq!(hashes.expect("nothing fails"), expected);
        }
    }

    #[test]
    fn each_key_has_one_cache_and_each_thread_one_vm() {
        let recorder = Recorder::default();
        let spread = Spread { threads: 4, lanes: 8 };
        hash_all(&recorder, &batch(300), spread, &Progress::hidden()).expect("nothing fails");
        let mut caches = recorder.caches.into_inner().expect("no thread has died");
        caches.sort_unstable();
        assert_eq!(caches, [KEYS[1], KEYS[0], KEYS[2]]);
        assert_eq!(recorder.vms.into_inner().expect("no thread has died").len(), 3 * 4);
    }

    #[test]
    fn a_small_batch_takes_few_scratchpads() {
        let recorder = Recorder::default();
        let spread = Spread { threads: 64, lanes: 8 };
        hash_all(&recorder, &batch(1), spread, &Progress::hidden()).expect("nothing fails");
        assert_eq!(recorder.vms.into_inner().expect("no thread has died"), [1]);
    }

    #[test]
    fn nothing_to_hash_needs_no_cache() {
        let recorder = Recorder { fail_cache: Some(b""), ..Recorder::default() };
        let spread = Spread { threads: 2, lanes: 8 };
        let hashes = hash_all(&recorder, &Batch::default(), spread, &Progress::hidden());
        assert_eq!(hashes.expect("nothing fails"), [[0; 32]; 0]);
    }

    #[test]
    fn no_memory_for_a_later_cache_is_an_error() {
        let recorder = Recorder { fail_cache: Some(KEYS[2]), ..Recorder::default() };
        let spread = Spread { threads: 2, lanes: 8 };
        let error = hash_all(&recorder, &batch(100), spread, &Progress::hidden());
        assert!(matches!(error, Err(Error::Cache(CacheError::OutOfMemory { .. }))));
    }

    #[test]
    fn no_memory_for_one_vm_is_an_error() {
        let recorder = Recorder { fail_vm: Some(1), ..Recorder::default() };
        let spread = Spread { threads: 3, lanes: 8 };
        let error = hash_all(&recorder, &batch(300), spread, &Progress::hidden())
            .expect_err("the second VM fails")
            .to_string();
        assert!(error.contains("MiB needed for each of 3 threads"), "{error}");
    }
}
