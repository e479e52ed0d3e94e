//! librandomx: the C API of the reference implementation, over the crate `randomx`.
//!
//! `include/randomx.h` says what each function does; here is only how. Pointers become references
//! in this file and nowhere else, so what is behind it ([`Cache`], [`Dataset`], [`Machine`]) is
//! safe code that several threads may call at once.

mod boundary;
mod cache;
mod dataset;
mod flags;
mod machine;

use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;
use std::sync::Arc;

use boundary::{bytes, guarded, shared, write_hash};
use cache::Cache;
use dataset::Dataset;
use flags::Flags;
use machine::{Key, Machine};

/// The flags that are recommended on this machine.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_get_flags() -> c_int {
    guarded(0, || Flags::recommended().bits())
}

/// Allocates a cache, or returns null.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_alloc_cache(flags: c_int) -> *const Cache {
    guarded(ptr::null(), || into_pointer(Cache::allocate(Flags::from_bits(flags))))
}

/// Expands a key, unless the cache holds it already.
///
/// # Safety
///
/// `cache` is null or a cache that is not released; `key` points to `size` bytes or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_init_cache(cache: *const Cache, key: *const c_void, size: usize) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(cache), Some(key)) = unsafe { (cache.as_ref(), bytes(key, size)) } {
            cache.initialize(key);
        }
    });
}

/// Where the cache's 256 MiB are.
///
/// # Safety
///
/// `cache` is null or a cache that is not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_get_cache_memory(cache: *const Cache) -> *mut c_void {
    // SAFETY: the caller's promise.
    guarded(ptr::null_mut(), || unsafe { cache.as_ref() }.map_or(ptr::null_mut(), Cache::memory))
}

/// Gives a cache back; its memory goes when no VM uses it.
///
/// # Safety
///
/// `cache` is null or a cache that is not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_release_cache(cache: *const Cache) {
    // SAFETY: the caller's promise; the pointer is that of `into_pointer`.
    guarded((), || unsafe { boundary::release(cache) });
}

/// Allocates a dataset, or returns null.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_alloc_dataset(flags: c_int) -> *const Dataset {
    guarded(ptr::null(), || into_pointer(Dataset::allocate(Flags::from_bits(flags))))
}

/// How many items a dataset has.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_dataset_item_count() -> c_ulong {
    randomx::Dataset::ITEMS as c_ulong
}

/// Computes a part of a dataset's items.
///
/// # Safety
///
/// The pointers are null or objects that are not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_init_dataset(
    dataset: *const Dataset,
    cache: *const Cache,
    start_item: c_ulong,
    item_count: c_ulong,
) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(dataset), Some(cache)) = unsafe { (dataset.as_ref(), cache.as_ref()) } {
            dataset.initialize(cache, start_item as usize, item_count as usize);
        }
    });
}

/// Where the dataset's items are.
///
/// # Safety
///
/// `dataset` is null or a dataset that is not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_get_dataset_memory(dataset: *const Dataset) -> *mut c_void {
    guarded(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe { dataset.as_ref() }.map_or(ptr::null_mut(), Dataset::memory)
    })
}

/// Gives a dataset back; its memory goes when no VM uses it.
///
/// # Safety
///
/// `dataset` is null or a dataset that is not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_release_dataset(dataset: *const Dataset) {
    // SAFETY: the caller's promise; the pointer is that of `into_pointer`.
    guarded((), || unsafe { boundary::release(dataset) });
}

/// Creates a VM, or returns null.
///
/// # Safety
///
/// The pointers are null or objects that are not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_create_vm(
    flags: c_int,
    cache: *const Cache,
    dataset: *const Dataset,
) -> *const Machine {
    guarded(ptr::null(), || {
        let flags = Flags::from_bits(flags);
        // SAFETY: the caller's promise.
        let key = unsafe {
            match flags.full_memory() {
                true => shared(dataset).map(Key::Dataset),
                false => shared(cache).map(Key::Cache),
            }
        };
        into_pointer(key.and_then(|key| Machine::create(flags, key)))
    })
}

/// Hashes with another cache from now on; a VM with a dataset ignores it.
///
/// # Safety
///
/// The pointers are null or objects that are not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_vm_set_cache(machine: *const Machine, cache: *const Cache) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(machine), Some(cache)) = unsafe { (machine.as_ref(), shared(cache)) } {
            machine.set_key(Key::Cache(cache));
        }
    });
}

/// Hashes with another dataset from now on; a VM without one ignores it.
///
/// # Safety
///
/// The pointers are null or objects that are not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_vm_set_dataset(machine: *const Machine, dataset: *const Dataset) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(machine), Some(dataset)) = unsafe { (machine.as_ref(), shared(dataset)) } {
            machine.set_key(Key::Dataset(dataset));
        }
    });
}

/// Releases a VM.
///
/// # Safety
///
/// `machine` is null or a VM that is not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_destroy_vm(machine: *const Machine) {
    // SAFETY: the caller's promise; the pointer is that of `into_pointer`.
    guarded((), || unsafe { boundary::release(machine) });
}

/// The hash of an input.
///
/// # Safety
///
/// `machine` is null or a VM that is not destroyed; `input` points to `size` bytes or is null;
/// `output` has room for a hash or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_hash(
    machine: *const Machine,
    input: *const c_void,
    size: usize,
    output: *mut c_void,
) {
    let hash = guarded(None, || {
        // SAFETY: the caller's promise.
        let (machine, input) = unsafe { (machine.as_ref()?, bytes(input, size)?) };
        machine.hash(input)
    });
    // SAFETY: the caller's promise.
    unsafe { write_hash(output, hash) };
}

/// Begins the hash of an input.
///
/// # Safety
///
/// See [`randomx_calculate_hash`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_hash_first(
    machine: *const Machine,
    input: *const c_void,
    size: usize,
) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(machine), Some(input)) = unsafe { (machine.as_ref(), bytes(input, size)) } {
            machine.hash_first(input);
        }
    });
}

/// The hash of the input before, while the next is begun.
///
/// # Safety
///
/// See [`randomx_calculate_hash`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_hash_next(
    machine: *const Machine,
    next_input: *const c_void,
    next_size: usize,
    output: *mut c_void,
) {
    let hash = guarded(None, || {
        // SAFETY: the caller's promise.
        let (machine, next) = unsafe { (machine.as_ref()?, bytes(next_input, next_size)?) };
        machine.hash_next(next)
    });
    // SAFETY: the caller's promise. It is written last: `output` may be where the input was.
    unsafe { write_hash(output, hash) };
}

/// The hash of the input before.
///
/// # Safety
///
/// See [`randomx_calculate_hash`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_hash_last(machine: *const Machine, output: *mut c_void) {
    // SAFETY: the caller's promise.
    let hash = guarded(None, || unsafe { machine.as_ref() }?.hash_last());
    // SAFETY: the caller's promise.
    unsafe { write_hash(output, hash) };
}

/// The commitment to an input and its hash.
///
/// # Safety
///
/// `input` points to `size` bytes or is null, `hash` to a hash or is null, `output` has room for
/// a hash or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_commitment(
    input: *const c_void,
    size: usize,
    hash: *const c_void,
    output: *mut c_void,
) {
    let commitment = guarded(None, || {
        // SAFETY: the caller's promise.
        let (input, hash) = unsafe { (bytes(input, size)?, bytes(hash, randomx::HASH_SIZE)?) };
        Some(randomx::calculate_commitment(input, hash.try_into().ok()?))
    });
    // SAFETY: the caller's promise.
    unsafe { write_hash(output, commitment) };
}

/// What the caller is given for an object; null for none.
fn into_pointer<T>(object: Option<T>) -> *const T {
    object.map_or(ptr::null(), |object| Arc::into_raw(Arc::new(object)))
}
