//! The exported functions. They turn pointers into references and call safe code.

#![expect(unsafe_code, reason = "exports functions that take pointers")]

use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;
use std::sync::Arc;

use crate::boundary::{NO_HASH, bytes, guarded, release, shared, write_hash};
use crate::cache::Cache;
use crate::dataset::Dataset;
use crate::flags::Flags;
use crate::vm::{Key, Vm};

/// Returns the flags that are recommended on this machine.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_get_flags() -> c_int {
    guarded(0, || Flags::recommended().bits())
}

/// Allocates a cache, or returns null.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_alloc_cache(flags: c_int) -> *const Cache {
    guarded(ptr::null(), || into_pointer(Cache::allocate(Flags::from_bits(flags))))
}

/// Expands a key, unless the cache has it already.
///
/// # Safety
///
/// `cache` is null or a cache that has not been released; `key` points to `size` bytes or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_init_cache(cache: *const Cache, key: *const c_void, size: usize) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(cache), Some(key)) = unsafe { (cache.as_ref(), bytes(key, size)) } {
            cache.initialize(key);
        }
    });
}

/// Returns the address of the cache's 256 MiB.
///
/// # Safety
///
/// `cache` is null or a cache that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_get_cache_memory(cache: *const Cache) -> *mut c_void {
    // SAFETY: the caller's promise.
    guarded(ptr::null_mut(), || unsafe { cache.as_ref() }.map_or(ptr::null_mut(), Cache::memory))
}

/// Releases a cache. Its memory is freed when no VM uses it.
///
/// # Safety
///
/// `cache` is null or a cache that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_release_cache(cache: *const Cache) {
    // SAFETY: the caller's promise; the pointer is from `into_pointer`.
    guarded((), || unsafe { release(cache) });
}

/// Allocates a dataset, or returns null.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_alloc_dataset(flags: c_int) -> *const Dataset {
    guarded(ptr::null(), || into_pointer(Dataset::allocate(Flags::from_bits(flags))))
}

/// Returns the number of a dataset's items.
#[unsafe(no_mangle)]
pub extern "C" fn randomx_dataset_item_count() -> c_ulong {
    randomx::Dataset::ITEMS as c_ulong
}

/// Computes a part of a dataset's items. They are missing without a cache.
///
/// # Safety
///
/// The pointers are null or objects that have not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_init_dataset(
    dataset: *const Dataset,
    cache: *const Cache,
    start_item: c_ulong,
    item_count: c_ulong,
) {
    guarded((), || {
        // SAFETY: the caller's promise.
        let (dataset, cache) = unsafe { (dataset.as_ref(), cache.as_ref()) };
        if let Some(dataset) = dataset {
            dataset.initialize(cache, start_item as usize, item_count as usize);
        }
    });
}

/// Returns the address of the dataset's items, where the caller may write them.
///
/// # Safety
///
/// `dataset` is null or a dataset that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_get_dataset_memory(dataset: *const Dataset) -> *mut c_void {
    guarded(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe { dataset.as_ref() }.map_or(ptr::null_mut(), Dataset::memory)
    })
}

/// Releases a dataset. Its memory is freed when no VM uses it.
///
/// # Safety
///
/// `dataset` is null or a dataset that has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_release_dataset(dataset: *const Dataset) {
    // SAFETY: the caller's promise; the pointer is from `into_pointer`.
    guarded((), || unsafe { release(dataset) });
}

/// Creates a VM, or returns null.
///
/// # Safety
///
/// The pointers are null or objects that have not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_create_vm(
    flags: c_int,
    cache: *const Cache,
    dataset: *const Dataset,
) -> *const Vm {
    guarded(ptr::null(), || {
        let flags = Flags::from_bits(flags);
        // SAFETY: the caller's promise.
        let key = unsafe {
            match flags.full_memory() {
                true => shared(dataset).map(Key::Dataset),
                false => shared(cache).map(Key::Cache),
            }
        };
        into_pointer(key.and_then(|key| Vm::create(flags, key)))
    })
}

/// Sets the cache of a VM. A VM with a dataset ignores it.
///
/// # Safety
///
/// The pointers are null or objects that have not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_vm_set_cache(vm: *const Vm, cache: *const Cache) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(vm), Some(cache)) = unsafe { (vm.as_ref(), shared(cache)) } {
            vm.set_key(Key::Cache(cache));
        }
    });
}

/// Sets the dataset of a VM. A VM with a cache ignores it.
///
/// # Safety
///
/// The pointers are null or objects that have not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_vm_set_dataset(vm: *const Vm, dataset: *const Dataset) {
    guarded((), || {
        // SAFETY: the caller's promise.
        if let (Some(vm), Some(dataset)) = unsafe { (vm.as_ref(), shared(dataset)) } {
            vm.set_key(Key::Dataset(dataset));
        }
    });
}

/// Releases a VM.
///
/// # Safety
///
/// `vm` is null or a VM that has not been destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_destroy_vm(vm: *const Vm) {
    // SAFETY: the caller's promise; the pointer is from `into_pointer`.
    guarded((), || unsafe { release(vm) });
}

/// Computes the hash of an input.
///
/// # Safety
///
/// `vm` is null or a VM that has not been destroyed; `input` points to `size` bytes or is null;
/// `output` has room for a hash or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_hash(
    vm: *const Vm,
    input: *const c_void,
    size: usize,
    output: *mut c_void,
) {
    let hash = guarded(None, || {
        // SAFETY: the caller's promise.
        let (vm, input) = unsafe { (vm.as_ref()?, bytes(input, size)) };
        vm.hash(input)
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
    vm: *const Vm,
    input: *const c_void,
    size: usize,
) {
    guarded((), || {
        // SAFETY: the caller's promise.
        let (vm, input) = unsafe { (vm.as_ref(), bytes(input, size)) };
        if let Some(vm) = vm {
            vm.hash_first(input);
        }
    });
}

/// Returns the hash of the previous input, and begins the next one.
///
/// # Safety
///
/// See [`randomx_calculate_hash`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_hash_next(
    vm: *const Vm,
    next_input: *const c_void,
    next_size: usize,
    output: *mut c_void,
) {
    let hash = guarded(None, || {
        // SAFETY: the caller's promise.
        let (vm, next) = unsafe { (vm.as_ref()?, bytes(next_input, next_size)) };
        vm.hash_next(next)
    });
    // SAFETY: the caller's promise. It is written last, since `output` may be the input's memory.
    unsafe { write_hash(output, hash) };
}

/// Returns the hash of the previous input.
///
/// # Safety
///
/// See [`randomx_calculate_hash`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn randomx_calculate_hash_last(vm: *const Vm, output: *mut c_void) {
    // SAFETY: the caller's promise.
    let hash = guarded(None, || unsafe { vm.as_ref() }?.hash_last());
    // SAFETY: the caller's promise.
    unsafe { write_hash(output, hash) };
}

/// Computes the commitment to an input and its hash. The value for a missing hash has no commitment: by chance it
/// would meet a difficulty as often as that of a real hash.
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
        let hash: &[u8; randomx::HASH_SIZE] = hash.try_into().ok()?;
        (*hash != NO_HASH).then(|| randomx::calculate_commitment(input, hash))
    });
    // SAFETY: the caller's promise.
    unsafe { write_hash(output, commitment) };
}

/// Returns the caller's pointer to an object, or null for none.
fn into_pointer<T>(object: Option<T>) -> *const T {
    object.map_or(ptr::null(), |object| Arc::into_raw(Arc::new(object)))
}
