//! Many VMs, one for each of several threads, that share a key's memory.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::PoolError;
use crate::memory::is_available;
use crate::params::{HASH_SIZE, MAX_THREADS, SCRATCHPAD_L3, Version};
use crate::vm::{KeyMemory, Vm, VmOptions};

type Hash = [u8; HASH_SIZE];

/// Computes hashes with several threads, each with a VM of its own.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use randomx::{Cache, Version, VmOptions, VmPool};
///
/// let cache = Arc::new(Cache::new(b"test key 000")?);
/// let mut pool = VmPool::new(cache, Version::V1, VmOptions::default(), 4)?;
/// let hashes: Vec<[u8; 32]> = pool.hash_many(&["many", "inputs", "on", "four", "threads"]);
/// # Ok(())
/// # }
/// ```
pub struct VmPool {
    vms: Vec<Vm>,
}

impl VmPool {
    /// A VM for each of so many threads, all with the same options.
    ///
    /// # Errors
    ///
    /// [`PoolError::Threads`] when `threads` is not from 1 to [`MAX_THREADS`],
    /// [`PoolError::OutOfMemory`] when the scratchpads, 2 MiB for each lane of each thread, cannot
    /// be had, [`PoolError::Vm`] when an option cannot be met.
    pub fn new(
        key: impl Into<KeyMemory>,
        version: Version,
        options: VmOptions,
        threads: usize,
    ) -> Result<VmPool, PoolError> {
        if threads == 0 || threads > MAX_THREADS {
            return Err(PoolError::Threads { requested: threads });
        }
        let key = key.into().shared(options);
        let mut vms = Vec::new();
        for _ in 0..threads {
            let vm = Vm::with_options(key.clone(), version, options).map_err(PoolError::Vm)?;
            // One scratchpad is always had; all of them are what may be more than there is.
            let bytes = threads * vm.lanes() * SCRATCHPAD_L3;
            if vms.is_empty() && !is_available(bytes) {
                return Err(PoolError::OutOfMemory { bytes });
            }
            vms.push(vm);
        }
        Ok(VmPool { vms })
    }

    /// How many threads hash.
    pub fn threads(&self) -> usize {
        self.vms.len()
    }

    /// Hashes another version from now on; the key stays.
    pub fn set_version(&mut self, version: Version) {
        for vm in &mut self.vms {
            vm.set_version(version);
        }
    }

    /// Hashes with another key from now on, in light or in fast mode.
    pub fn set_key(&mut self, key: impl Into<KeyMemory>) {
        let mut key = key.into();
        for vm in &mut self.vms {
            key = key.shared(vm.options());
            vm.set_key(key.clone());
        }
    }

    /// The hashes of `inputs`, in order.
    ///
    /// The calling thread is one of those that hash. Threads that the system does not start leave
    /// their part to the others.
    pub fn hash_many<I: AsRef<[u8]>>(&mut self, inputs: &[I]) -> Vec<Hash> {
        self.hash_many_with(inputs, |_| ())
    }

    /// The same, while `hashed` is told how many hashes more are done, by the thread that did them.
    pub fn hash_many_with<I: AsRef<[u8]>>(
        &mut self,
        inputs: &[I],
        hashed: impl Fn(usize) + Sync,
    ) -> Vec<Hash> {
        let lanes = self.vms.first().map_or(1, Vm::lanes);
        spread(&mut self.vms, lanes, inputs, |vm, inputs| {
            let hashes = vm.hash_many(inputs);
            hashed(hashes.len());
            hashes
        })
    }
}

impl fmt::Debug for VmPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VmPool").field("vms", &self.vms).finish()
    }
}

/// The most inputs that a thread takes at a time: with one lane each call still has a next input to
/// prepare while it hashes, and the end of the work is not far.
const MAX_TAKEN: usize = 16;

/// Hashes `inputs` in pieces that the workers' threads take as they come to them.
fn spread<W: Send, I: AsRef<[u8]>>(
    workers: &mut [W],
    lanes: usize,
    inputs: &[I],
    hash: impl Fn(&mut W, &[&[u8]]) -> Vec<Hash> + Sync,
) -> Vec<Hash> {
    let inputs: Vec<&[u8]> = inputs.iter().map(AsRef::as_ref).collect();
    let mut outputs = vec![[0; HASH_SIZE]; inputs.len()];
    let pieces = Pieces::new(&inputs, &mut outputs, workers.len(), lanes);
    let most = inputs.len().div_ceil(pieces.size);
    let work = |worker: &mut W| {
        while let Some((inputs, outputs)) = pieces.take() {
            outputs.copy_from_slice(&hash(worker, inputs));
        }
    };
    let Some((own, helpers)) = workers.split_first_mut() else {
        return Vec::new();
    };
    thread::scope(|scope| {
        for worker in helpers.iter_mut().take(most.saturating_sub(1)) {
            if thread::Builder::new().spawn_scoped(scope, || work(worker)).is_err() {
                break;
            }
        }
        work(own);
    });
    outputs
}

/// Inputs that no thread has taken yet, with the places for their hashes.
struct Pieces<'a> {
    left: Mutex<Piece<'a>>,
    threads: usize,
    size: usize,
}

type Piece<'a> = (&'a [&'a [u8]], &'a mut [Hash]);

impl<'a> Pieces<'a> {
    fn new(
        inputs: &'a [&'a [u8]],
        outputs: &'a mut [Hash],
        threads: usize,
        lanes: usize,
    ) -> Pieces<'a> {
        // In as many rounds as full lanes need, all threads get about the same.
        let rounds = inputs.len().div_ceil(threads * lanes).max(1);
        let size = inputs.len().div_ceil(threads * rounds).max(1);
        Pieces { left: Mutex::new((inputs, outputs)), threads, size }
    }

    /// Takes one piece, or several while there are many.
    fn take(&self) -> Option<Piece<'a>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let (inputs, outputs) = std::mem::take(&mut *left);
        if inputs.is_empty() {
            return None;
        }
        let several = inputs.len() / (4 * self.threads * self.size);
        let taken = self.size * several.clamp(1, (MAX_TAKEN / self.size).max(1));
        let (input, later_inputs) = inputs.split_at(taken.min(inputs.len()));
        let (output, later_outputs) = outputs.split_at_mut(input.len());
        *left = (later_inputs, later_outputs);
        Some((input, output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readable "hashes".
    fn hash_of(input: &[u8]) -> Hash {
        std::array::from_fn(|at| input.get(at).copied().unwrap_or(at as u8))
    }

    #[test]
    fn hashes_come_in_the_order_of_the_inputs() {
        for (count, threads, lanes) in
            [(0, 1, 1), (0, 4, 8), (1, 4, 8), (7, 1, 8), (100, 3, 8), (301, 8, 5), (500, 2, 1)]
        {
            let inputs: Vec<[u8; 4]> = (0..count).map(u32::to_le_bytes).collect();
            let mut calls: Vec<Vec<usize>> = vec![Vec::new(); threads];
            let hashes = spread(&mut calls, lanes, &inputs, |calls, inputs| {
                calls.push(inputs.len());
                // Lets the other threads finish out of order.
                thread::yield_now();
                inputs.iter().map(|input| hash_of(input)).collect()
            });
            let expected: Vec<Hash> = inputs.iter().map(|input| hash_of(input)).collect();
            assert_eq!(hashes, expected, "{count} inputs, {threads} threads, {lanes} lanes");
            let largest = calls.iter().flatten().copied().max().unwrap_or(0);
            assert!(largest <= lanes.max(MAX_TAKEN), "{calls:?}");
        }
    }

    #[test]
    fn few_inputs_are_for_all_threads() {
        let sizes = |count: usize, threads, lanes| {
            let inputs = vec![&[][..]; count];
            let mut outputs = vec![[0; HASH_SIZE]; count];
            let pieces = Pieces::new(&inputs, &mut outputs, threads, lanes);
            std::iter::from_fn(|| pieces.take().map(|(inputs, _)| inputs.len())).collect::<Vec<_>>()
        };
        assert_eq!(sizes(0, 2, 8), [0; 0]);
        assert_eq!(sizes(1, 2, 8), [1]);
        assert_eq!(sizes(8, 2, 8), [4, 4]);
        assert_eq!(sizes(17, 2, 8), [5, 5, 5, 2]);
        assert_eq!(sizes(16, 1, 8), [8, 8]);
        assert_eq!(
            sizes(40, 2, 1),
            [[5, 4, 3].as_slice(), &[3], &[3], &[2], &[2], &[2], &[2], &[1; 14]].concat()
        );
    }
}
