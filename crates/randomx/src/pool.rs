//! A pool of VMs, one for each thread, that share the memory of a key.

use std::convert::Infallible;
use std::fmt;

use crate::error::PoolError;
use crate::memory::{Pages, Room, is_available};
use crate::params::{HASH_SIZE, MAX_THREADS, SCRATCHPAD_L3, Version};
use crate::spread::{Pieces, spread};
use crate::vm::{KeyMemory, Vm, VmOptions};

type Hash = [u8; HASH_SIZE];

/// Computes hashes on several threads, each with its own VM.
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
    /// Creates a VM for each thread, all with the same options.
    ///
    /// # Errors
    ///
    /// [`PoolError::Threads`] if `threads` is not from 1 to [`MAX_THREADS`],
    /// [`PoolError::OutOfMemory`] if there is no memory for the scratchpads, 2 MiB for each of
    /// [`Vm::most_lanes`] of each thread, [`PoolError::Vm`] if an option cannot be met.
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
            // The lanes are known once the first VM exists, whose scratchpads are few. Reserved pages do not
            // count as left.
            let bytes = threads * vm.most_lanes() * SCRATCHPAD_L3;
            if vms.is_empty()
                && vm.pages() != Pages::HugeTlb
                && !is_available(bytes, Room::MemoryAndSwap)
            {
                return Err(PoolError::OutOfMemory { bytes });
            }
            vms.push(vm);
        }
        Ok(VmPool { vms })
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.vms.len()
    }

    /// Sets the version that is hashed from now on; the key stays.
    pub fn set_version(&mut self, version: Version) {
        for vm in &mut self.vms {
            vm.set_version(version);
        }
    }

    /// Sets the key that is used from now on, in light or in fast mode.
    pub fn set_key(&mut self, key: impl Into<KeyMemory>) {
        let mut key = key.into();
        for vm in &mut self.vms {
            key = key.shared(vm.options());
            vm.set_key(key.clone());
        }
    }

    /// Returns the hashes of `inputs`, in order.
    ///
    /// The calling thread is one of those that hash. If the system refuses to start a thread, the
    /// others do its share.
    pub fn hash_many<I: AsRef<[u8]>>(&mut self, inputs: &[I]) -> Vec<Hash> {
        let Ok(hashes) = self.try_hash_many(inputs, |_| Ok::<_, Infallible>(()));
        hashes
    }

    /// Returns the hashes of `inputs`, in order. Meanwhile each thread calls `hashed` with the number
    /// of hashes that it has just computed, 16 at most.
    ///
    /// # Errors
    ///
    /// The first error of `hashed`. The other threads then finish the hashes that they have begun.
    pub fn try_hash_many<I: AsRef<[u8]>, E: Send>(
        &mut self,
        inputs: &[I],
        hashed: impl Fn(usize) -> Result<(), E> + Sync,
    ) -> Result<Vec<Hash>, E> {
        let inputs: Vec<&[u8]> = inputs.iter().map(AsRef::as_ref).collect();
        let lanes = self.vms.first().map_or(1, Vm::lanes);
        let pieces = Pieces::new(&inputs, self.vms.len(), lanes);
        let busy = self.vms.len().min(pieces.most());
        let mut outputs = Vec::with_capacity(inputs.len());
        let hash = |vm: &mut Vm, (_, inputs): (usize, &[&[u8]])| {
            let hashes = vm.hash_many(inputs);
            hashed(hashes.len())?;
            Ok(hashes)
        };
        // All hashes are kept in any case, so no thread has to wait for another.
        spread(&mut self.vms[..busy], &pieces, usize::MAX, hash, |hashes| {
            outputs.extend(hashes);
            Ok(())
        })?;
        Ok(outputs)
    }
}

impl fmt::Debug for VmPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VmPool").field("vms", &self.vms).finish()
    }
}
