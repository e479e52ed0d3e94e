//! Hashes jobs of any keys on all threads, key after key, and answers them in order.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use randomx::{VmError, spread::spread};

use crate::{
    backend::{Backend, Hash, RandomX},
    error::Error,
    progress::Progress,
    queue::{Job, Numbered, Queue, Turn},
};

/// How the work is spread.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    /// Threads that hash at once, at least 1.
    pub(crate) threads: usize,
    /// Inputs that a thread is given at once, from 1 to [`randomx::MAX_LANES`].
    pub(crate) lanes: usize,
}

/// The shortest turn of a key while it has jobs. Threads idle at the end of each turn.
const SHORTEST_TURN: Duration = Duration::from_secs(1);

/// A turn lasts at least this many times as long as expanding the key took, while the key has jobs: so
/// keys that alternate cost at most a fifth of the time.
const TURNS_PER_FILL: u32 = 4;

/// Pieces that each thread may finish before an earlier one is answered.
const PIECES_AHEAD: usize = 4;

/// Keeps the threads' VMs and the memory of the last keys between runs.
pub(crate) struct Hasher<'a, B: Backend = RandomX> {
    backend: B,
    spread: Spread,
    progress: &'a Progress,
    /// One for each thread, created with the thread's first piece.
    vms: Vec<Option<B::Vm>>,
    /// The keys in memory, the last used one first. VMs hold no other keys.
    keys: Vec<(Arc<[u8]>, B::Key)>,
}

impl<'a, B: Backend> Hasher<'a, B> {
    pub(crate) fn new(backend: B, spread: Spread, progress: &'a Progress) -> Self {
        let vms = (0..spread.threads).map(|_| None).collect();
        Hasher { backend, spread, progress, vms, keys: Vec::new() }
    }

    /// Hashes all jobs; the hash at position i is that of job i.
    pub(crate) fn hash_all(
        &mut self,
        jobs: impl IntoIterator<Item = Job<()>>,
    ) -> Result<Vec<Hash>, Error> {
        let mut hashes = Vec::new();
        self.run(&Queue::of(jobs), |answers| {
            hashes.extend(answers.iter().map(|((), hash)| hash));
            Ok(())
        })?;
        Ok(hashes)
    }

    /// Hashes the jobs of a queue until it ends. `answer` receives hashes with their jobs' tags, in
    /// the order of the jobs, as soon as they are known.
    ///
    /// After an error the queue is closed.
    pub(crate) fn run<T: Send>(
        &mut self,
        queue: &Queue<T>,
        answer: impl FnMut(&[(T, Hash)]) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let outcome = self.take_turns(queue, answer);
        if outcome.is_err() {
            queue.close();
        }
        outcome
    }

    fn take_turns<T: Send>(
        &mut self,
        queue: &Queue<T>,
        answer: impl FnMut(&[(T, Hash)]) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let mut answers = Answers { queue, next: 0, early: BTreeMap::new(), answer };
        while let Some(key) = queue.oldest_key()? {
            let start = Instant::now();
            let memory = match self.memory(&key, &|| queue.is_closed()) {
                // Nobody waits for the hashes.
                Err(_) if queue.is_closed() => return Ok(()),
                memory => memory?,
            };
            let turn = SHORTEST_TURN.max(TURNS_PER_FILL * start.elapsed());
            let Spread { threads, lanes } = self.spread;
            let turn = Turn { queue, key, until: Instant::now() + turn, threads, lanes };
            let (backend, progress) = (&self.backend, self.progress);
            let keys = Mutex::new(&mut self.keys);
            let drop_others = || keys.lock().unwrap_or_else(PoisonError::into_inner).truncate(1);
            let create = || {
                create_vm(backend, &memory, lanes, drop_others)
                    .map_err(|problem| failure(problem, threads))
            };
            spread(
                &mut self.vms,
                &turn,
                PIECES_AHEAD * threads,
                |vm, (version, jobs)| {
                    let vm = match vm {
                        Some(vm) => vm,
                        None => vm.insert(create()?),
                    };
                    let inputs: Vec<&[u8]> = jobs.iter().map(|job| &*job.input).collect();
                    let hashes = B::hash(vm, version, &inputs);
                    progress.hashed(hashes.len());
                    Ok((jobs, hashes))
                },
                |(jobs, hashes)| answers.add(jobs, hashes),
            )?;
        }
        Ok(())
    }

    /// Returns the memory of a key, and gives it to all VMs.
    fn memory(&mut self, key: &Arc<[u8]>, is_stopped: &dyn Fn() -> bool) -> Result<B::Key, Error> {
        match self.keys.iter().position(|(held, _)| held == key) {
            Some(at) => self.keys[..=at].rotate_right(1),
            None => {
                let memory = self.expand(key, is_stopped)?;
                self.keys.insert(0, (Arc::clone(key), memory));
            }
        }
        let memory = self.keys[0].1.clone();
        self.vms.iter_mut().flatten().for_each(|vm| B::set_key(vm, memory.clone()));
        Ok(memory)
    }

    fn expand(&mut self, key: &[u8], is_stopped: &dyn Fn() -> bool) -> Result<B::Key, Error> {
        self.keep_keys(self.backend.max_keys() - 1);
        let expand = |hasher: &Self| hasher.backend.expand(key, &hasher.progress.key(), is_stopped);
        match expand(self) {
            Err(problem) if problem.is_out_of_memory() && !self.keys.is_empty() => {
                self.keep_keys(0);
                expand(self)
            }
            outcome => outcome,
        }
    }

    /// Drops the memory of all but the last keys.
    fn keep_keys(&mut self, count: usize) {
        self.keys.truncate(count);
        if self.keys.is_empty() {
            // VMs share the memory of the last key.
            self.vms.fill_with(|| None);
        }
    }
}

/// Creates a VM for a key. If there is no memory for it, calls a function that drops the other keys.
fn create_vm<B: Backend>(
    backend: &B,
    key: &B::Key,
    lanes: usize,
    drop_others: impl Fn(),
) -> Result<B::Vm, VmError> {
    match backend.vm(key, lanes) {
        Err(VmError::OutOfMemory { .. }) => {
            drop_others();
            // Retries even if another thread has already dropped them.
            backend.vm(key, lanes)
        }
        outcome => outcome,
    }
}

fn failure(problem: VmError, threads: usize) -> Error {
    match problem {
        VmError::OutOfMemory { .. } => Error::Scratchpads { threads, problem },
        other => Error::Vm(other),
    }
}

/// Puts hashes into the order of their jobs.
struct Answers<'a, T, F> {
    queue: &'a Queue<T>,
    /// The number of the first job without an answer.
    next: u64,
    /// Answers to later jobs.
    early: BTreeMap<u64, (usize, (T, Hash))>,
    answer: F,
}

impl<T, F: FnMut(&[(T, Hash)]) -> Result<(), Error>> Answers<'_, T, F> {
    fn add(&mut self, jobs: Vec<Numbered<T>>, hashes: Vec<Hash>) -> Result<(), Error> {
        let answered = jobs.into_iter().zip(hashes);
        self.early.extend(answered.map(|(job, hash)| (job.number, (job.bytes, (job.tag, hash)))));
        let (mut due, mut bytes) = (Vec::new(), 0);
        while let Some((size, answer)) = self.early.remove(&(self.next + due.len() as u64)) {
            bytes += size;
            due.push(answer);
        }
        if due.is_empty() {
            return Ok(());
        }
        (self.answer)(&due)?;
        self.next += due.len() as u64;
        self.queue.answered(due.len() as u64, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
