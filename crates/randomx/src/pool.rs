//! A pool of VMs, one for each thread, that share the memory of a key.

use std::convert::Infallible;
use std::fmt;

use crate::error::{PoolError, VmError};
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
    /// [`PoolError::OutOfMemory`] if the scratchpads, 2 MiB for each of [`Vm::most_lanes`] of each thread, cannot be
    /// allocated or exceed the free memory and swap, [`PoolError::Vm`] if an option cannot be met.
    pub fn new(
        key: impl Into<KeyMemory>,
        version: Version,
        options: VmOptions,
        threads: usize,
    ) -> Result<VmPool, PoolError> {
        if threads == 0 || threads > MAX_THREADS {
            return Err(PoolError::Threads { requested: threads });
        }
        let key = key.into().shared(options).map_err(|error| PoolError::Vm(error.into()))?;
        let create = || {
            let vm = Vm::with_options(key.clone(), version, options)?;
            let (lanes, pages) = (vm.most_lanes(), vm.pages());
            Ok(Created { vm, lanes, pages })
        };
        let vms = create_all(threads, create, |bytes| is_available(bytes, Room::MemoryAndSwap))?;
        Ok(VmPool { vms })
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.vms.len()
    }

    /// Sets the version that is hashed from now on; the key stays.
    pub fn set_version(&mut self, version: Version) {
        for vm in &mut self.vms {
            vm.set_version(version);
        }
    }

    /// Sets the key that is used from now on, in light or in fast mode. See [`Vm::set_key`].
    pub fn set_key(&mut self, key: impl Into<KeyMemory>) {
        let mut key = key.into();
        for vm in &mut self.vms {
            key = key.shared_or_interpreted(vm.options());
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

/// A VM that was just created.
struct Created<V> {
    vm: V,
    /// See [`Vm::most_lanes`].
    lanes: usize,
    /// The pages that hold its scratchpads.
    pages: Pages,
}

/// Creates the VMs of all threads. `is_left` returns whether the system has so many bytes left.
///
/// Each VM by itself may find its memory left, so one check covers all of them. Reserved huge pages do not count as
/// left, and a VM that has some never moves to others. So the check comes with the first VM that got none, and covers
/// this VM and the later ones.
fn create_all<V>(
    threads: usize,
    mut create: impl FnMut() -> Result<Created<V>, VmError>,
    is_left: impl Fn(usize) -> bool,
) -> Result<Vec<V>, PoolError> {
    // The bytes of one VM. Its lanes are known once it exists; its first scratchpads are few.
    let mut each = None;
    let out_of_memory =
        |each: usize| PoolError::OutOfMemory { bytes: each.saturating_mul(threads) };
    let mut is_checked = false;
    let mut vms = Vec::new();
    for missing in (1..=threads).rev() {
        let Created { vm, lanes, pages } = create().map_err(|error| match error {
            VmError::OutOfMemory { bytes } => out_of_memory(each.unwrap_or(bytes)),
            error => PoolError::Vm(error),
        })?;
        let each = *each.get_or_insert(lanes * SCRATCHPAD_L3);
        if !is_checked && pages != Pages::HugeTlb {
            // A process of 32 bits cannot have a product that does not fit.
            if !is_left(each.saturating_mul(missing)) {
                return Err(out_of_memory(each));
            }
            is_checked = true;
        }
        vms.push(vm);
    }
    Ok(vms)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::jit::JitError;

    /// The bytes of a VM with eight lanes.
    const EACH: usize = 16 << 20;

    /// Creates VMs in `pages`, for as many threads, with `left` bytes left. Returns the outcome and the numbers of bytes
    /// that were checked.
    fn created(pages: &[Pages], left: usize) -> (Result<Vec<usize>, PoolError>, Vec<usize>) {
        let mut pages_left = pages.iter().copied().enumerate();
        let create = || {
            let (vm, pages) = pages_left.next().expect("no more VMs than threads");
            Ok(Created { vm, lanes: 8, pages })
        };
        let checked = RefCell::new(Vec::new());
        let is_left = |bytes| {
            checked.borrow_mut().push(bytes);
            bytes <= left
        };
        (create_all(pages.len(), create, is_left), checked.into_inner())
    }

    #[test]
    fn memory_is_checked_for_the_vms_outside_reserved_pages() {
        use Pages::{HugeTlb, Plain, Transparent};
        let (outcome, checked) = created(&[Plain, Plain, Plain], 3 * EACH);
        assert_eq!((outcome, checked), (Ok(vec![0, 1, 2]), vec![3 * EACH]));
        let (outcome, checked) =
            created(&[HugeTlb, HugeTlb, Transparent, HugeTlb, Plain], 3 * EACH);
        assert_eq!((outcome, checked), (Ok(vec![0, 1, 2, 3, 4]), vec![3 * EACH]));
        assert_eq!(created(&[HugeTlb; 3], 0), (Ok(vec![0, 1, 2]), vec![]));

        let refused = Err(PoolError::OutOfMemory { bytes: 4 * EACH });
        let (outcome, checked) = created(&[Transparent; 4], 4 * EACH - 1);
        assert_eq!((outcome, checked), (refused.clone(), vec![4 * EACH]));
        let (outcome, checked) = created(&[HugeTlb, Plain, Plain, Plain], 3 * EACH - 1);
        assert_eq!((outcome, checked), (refused, vec![3 * EACH]));
    }

    #[test]
    fn a_vm_without_memory_is_reported_as_a_pool_without_memory() {
        for (fails, bytes) in [(0, 5 * (8 << 20)), (1, 5 * EACH), (4, 5 * EACH)] {
            let mut vms = 0..;
            let create = || match vms.next() {
                Some(vm) if vm != fails => Ok(Created { vm, lanes: 8, pages: Pages::Plain }),
                // Its first scratchpads: four of up to eight lanes.
                _ => Err(VmError::OutOfMemory { bytes: 8 << 20 }),
            };
            let outcome = create_all(5, create, |_| true);
            assert_eq!(outcome, Err(PoolError::OutOfMemory { bytes }), "VM {fails}");
        }
    }

    #[test]
    fn other_errors_of_a_vm_stay() {
        for error in [VmError::Lanes { requested: 9 }, VmError::Jit(JitError::Unsupported)] {
            let outcome = create_all::<()>(2, || Err(error), |_| true);
            assert_eq!(outcome, Err(PoolError::Vm(error)));
        }
    }

    /// On a system of 32 bits, 256 threads of eight lanes have that many bytes.
    #[test]
    fn more_bytes_than_a_process_can_have_are_refused() {
        let create = || Ok(Created { vm: (), lanes: 8, pages: Pages::Plain });
        let threads = usize::MAX / EACH + 1;
        let outcome = create_all(threads, create, |bytes| bytes < usize::MAX);
        assert_eq!(outcome, Err(PoolError::OutOfMemory { bytes: usize::MAX }));
    }
}
