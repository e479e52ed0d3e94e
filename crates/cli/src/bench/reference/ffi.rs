//! Safe wrappers of the reference's C interface, and of C++ functions inside it.
//!
//! Names and layouts are the same in RandomX 1.2 and 2.0. Tests compare the functions with this
//! implementation's.

#![expect(unsafe_code, reason = "calls a library in C++")]

#[cfg(not(all(target_arch = "x86_64", unix)))]
compile_error!("the feature `reference` calls C++ functions by their names on x86-64 Unix");

mod declarations;
mod inner;

use std::{
    ffi::c_ulong,
    ptr::{self, NonNull},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use declarations as c;
pub(crate) use inner::{
    Compiler, Fill, RawProgram, Superscalar, blake2b, blake2b_long, fill_1r, fill_4r, hash_1r,
};

use crate::{backend::Hash, bench::hashing::together, error::Error};

/// `RANDOMX_FLAG_HARD_AES`.
pub(crate) const HARD_AES: u32 = 2;
/// `RANDOMX_FLAG_FULL_MEM`: fast mode.
pub(crate) const FULL_MEM: u32 = 4;
/// `RANDOMX_FLAG_JIT`.
pub(crate) const JIT: u32 = 8;
/// `RANDOMX_FLAG_ARGON2_AVX2`. Without it, the flag for SSSE3 counts.
pub(crate) const ARGON2_AVX2: u32 = 64;
/// `RANDOMX_FLAG_V2`, which versions before 2.0 ignore.
pub(crate) const V2: u32 = 128;

/// The error of a constructor that returned nothing.
pub(crate) fn no_memory(bytes: usize) -> Error {
    Error::Memory { what: "the reference implementation", bytes }
}

/// The flags that the library recommends on this machine.
pub(crate) fn recommended_flags() -> u32 {
    // SAFETY: the function reads the processor's features and has no other conditions.
    unsafe { c::randomx_get_flags() }
}

/// A cache.
pub(crate) struct Cache(NonNull<c::Cache>);

// SAFETY: the C++ object is plain memory without thread-local state. Changing it needs `&mut`, and
// the library supports concurrent reads.
unsafe impl Send for Cache {}
// SAFETY: as above.
unsafe impl Sync for Cache {}

impl Cache {
    /// Creates the cache of `key`, if there is memory.
    pub(crate) fn new(flags: u32, key: &[u8]) -> Option<Cache> {
        // SAFETY: any flags are allowed; the result is null if they are not supported.
        let cache = Cache(NonNull::new(unsafe { c::randomx_alloc_cache(flags) })?);
        // SAFETY: the cache is not null, and the key has that length.
        unsafe { c::randomx_init_cache(cache.0.as_ptr(), key.as_ptr().cast(), key.len()) };
        Some(cache)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // SAFETY: it was allocated by `randomx_alloc_cache` and is released once.
        unsafe { c::randomx_release_cache(self.0.as_ptr()) };
    }
}

/// A dataset.
pub(crate) struct Dataset(NonNull<c::Dataset>);

// SAFETY: as for `Cache`.
unsafe impl Send for Dataset {}
// SAFETY: as for `Cache`; writing needs `&mut`, or the caller of `init` ensures exclusive access.
unsafe impl Sync for Dataset {}

impl Dataset {
    /// Bytes of an item.
    pub(crate) const ITEM: usize = 64;

    /// Allocates a dataset, if there is memory.
    pub(crate) fn new() -> Option<Dataset> {
        // SAFETY: without flags the result is ordinary memory, or null.
        NonNull::new(unsafe { c::randomx_alloc_dataset(0) }).map(Dataset)
    }

    /// The number of items.
    pub(crate) fn items() -> usize {
        // SAFETY: the function returns a constant.
        unsafe { c::randomx_dataset_item_count() as usize }
    }

    /// Computes items on several threads while `go_on` returns true, and at least one piece per
    /// thread. Returns the number of items.
    pub(crate) fn fill(
        &mut self,
        cache: &Cache,
        threads: usize,
        go_on: impl Fn() -> bool + Sync,
    ) -> Result<usize, Error> {
        /// Items that a thread takes at a time: 2 MiB of them.
        const PIECE: usize = (2 << 20) / Dataset::ITEM;
        let next = AtomicUsize::new(0);
        let (dataset, next) = (&*self, &next);
        let filled = together(&mut vec![(); threads], |()| {
            let mut filled = 0;
            while filled == 0 || go_on() {
                let first = next.fetch_add(PIECE, Ordering::Relaxed);
                let count = Dataset::items().saturating_sub(first).min(PIECE);
                if count == 0 {
                    break;
                }
                // SAFETY: the items are inside the dataset, and only this thread uses them: `self` is
                // borrowed mutably, and `next` yields each piece once. The cache is filled.
                unsafe { dataset.init(cache, first, count) };
                filled += count;
            }
            filled
        })?;
        Ok(filled.iter().sum())
    }

    /// Computes some items.
    ///
    /// # Safety
    ///
    /// The items must be inside the dataset, and no other thread may use them meanwhile.
    unsafe fn init(&self, cache: &Cache, first: usize, count: usize) {
        let (dataset, cache) = (self.0.as_ptr(), cache.0.as_ptr());
        // SAFETY: the caller ensures it.
        unsafe { c::randomx_init_dataset(dataset, cache, first as c_ulong, count as c_ulong) };
    }

    /// Copies all items from elsewhere.
    pub(crate) fn copy_from(&mut self, items: &[[u64; 8]]) {
        assert_eq!(items.len(), Dataset::items());
        // SAFETY: the dataset has as many items of 64 bytes, and `&mut` is exclusive.
        unsafe {
            let memory = c::randomx_get_dataset_memory(self.0.as_ptr()).cast();
            ptr::copy_nonoverlapping(items.as_ptr(), memory, items.len());
        }
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        // SAFETY: it was allocated by `randomx_alloc_dataset` and is released once.
        unsafe { c::randomx_release_dataset(self.0.as_ptr()) };
    }
}

/// Where a VM finds dataset items.
#[derive(Clone)]
pub(crate) enum Source {
    Cache(Arc<Cache>),
    Dataset(Arc<Dataset>),
}

/// A VM.
pub(crate) struct Vm {
    vm: NonNull<c::Vm>,
    /// The VM has a pointer into it.
    _source: Source,
}

// SAFETY: as for `Cache`; every use of a VM needs `&mut`.
unsafe impl Send for Vm {}

impl Vm {
    /// Creates a VM with flags of the library, if there is memory.
    pub(crate) fn new(flags: u32, source: Source) -> Option<Vm> {
        let (flags, cache, dataset) = match &source {
            Source::Cache(cache) => (flags & !FULL_MEM, cache.0.as_ptr(), ptr::null_mut()),
            Source::Dataset(dataset) => (flags | FULL_MEM, ptr::null_mut(), dataset.0.as_ptr()),
        };
        // SAFETY: the flag for fast mode matches the source, which lives as long as the VM.
        let vm = NonNull::new(unsafe { c::randomx_create_vm(flags, cache, dataset) })?;
        Some(Vm { vm, _source: source })
    }

    /// Hashes at least one input. Each hash begins while the one before it is finished.
    pub(crate) fn hashes<I: AsRef<[u8]>>(&mut self, inputs: &[I]) -> Vec<Hash> {
        let (first, rest) = inputs.split_first().expect("at least one input");
        let vm = self.vm.as_ptr();
        let mut hashes = vec![[0; randomx::HASH_SIZE]; inputs.len()];
        let mut environment = c::FloatEnvironment([0; 32]);
        // SAFETY: inputs have the given lengths, and outputs have room for a hash. The library
        // leaves the rounding mode of its last program behind; it is restored here.
        unsafe {
            c::fegetenv(&mut environment);
            let input = first.as_ref();
            c::randomx_calculate_hash_first(vm, input.as_ptr().cast(), input.len());
            for (input, hash) in rest.iter().map(AsRef::as_ref).zip(&mut hashes) {
                let hash = hash.as_mut_ptr().cast();
                c::randomx_calculate_hash_next(vm, input.as_ptr().cast(), input.len(), hash);
            }
            c::randomx_calculate_hash_last(vm, hashes[rest.len()].as_mut_ptr().cast());
            c::fesetenv(&environment);
        }
        hashes
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        // SAFETY: it was created by `randomx_create_vm` and is destroyed once.
        unsafe { c::randomx_destroy_vm(self.vm.as_ptr()) };
    }
}
