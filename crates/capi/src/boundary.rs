//! What every exported function does with pointers and failures.

use std::ffi::c_void;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use randomx::HASH_SIZE;

/// What is written where there is no hash: a number that meets no difficulty, so that nobody who
/// forgets to look takes a failure for work.
const NO_HASH: [u8; HASH_SIZE] = [0xff; HASH_SIZE];

/// Calls `function`. Should it panic, which is a bug, the caller in C gets `otherwise` and not a
/// panic, which would end the process.
pub(crate) fn guarded<T>(otherwise: T, function: impl FnOnce() -> T) -> T {
    // What may be left half done are locks, and those are poisoned, which their users heed.
    catch_unwind(AssertUnwindSafe(function)).unwrap_or(otherwise)
}

/// Whether there is memory for the many small things that belong to a large one, such as the code
/// of a key. What large ones lack is an answer; for small ones the allocator ends the process, so
/// callers ask for all of them first.
pub(crate) fn has_room() -> bool {
    const ROOM: usize = 12 << 20;
    let mut room = Vec::<u8>::new();
    let had = room.try_reserve_exact(ROOM).is_ok();
    // Or else nobody would ask the allocator for what nobody uses.
    black_box(&mut room);
    had
}

/// The bytes at `data`. There are none at null; that is an error unless none are asked for, and so
/// is a size that no object has.
///
/// # Safety
///
/// `data` is null or points to `size` bytes that nobody writes while the slice lives.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Option<&'a [u8]> {
    match size {
        0 => Some(&[]),
        _ if data.is_null() || isize::try_from(size).is_err() => None,
        // SAFETY: the caller's promise; what the standard asks for beyond it was just looked at.
        _ => Some(unsafe { slice::from_raw_parts(data.cast(), size) }),
    }
}

/// Another owner of a caller's object; nothing for null.
///
/// # Safety
///
/// `object` is null or from `Arc::into_raw`, and its owner has not been released.
pub(crate) unsafe fn shared<T>(object: *const T) -> Option<Arc<T>> {
    if object.is_null() {
        return None;
    }
    // SAFETY: the caller's promise: the count that is raised here is at least 1.
    unsafe {
        Arc::increment_strong_count(object);
        Some(Arc::from_raw(object))
    }
}

/// Releases the owner that a caller was given; does nothing for null.
///
/// # Safety
///
/// As [`shared`], and the pointer is not used again.
pub(crate) unsafe fn release<T>(object: *const T) {
    if !object.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Arc::from_raw(object) });
    }
}

/// Writes a hash, or what stands for none.
///
/// # Safety
///
/// `output` is null or has room for [`HASH_SIZE`] bytes.
pub(crate) unsafe fn write_hash(output: *mut c_void, hash: Option<[u8; HASH_SIZE]>) {
    if !output.is_null() {
        // SAFETY: the caller's promise; arrays of bytes are aligned everywhere.
        unsafe { output.cast::<[u8; HASH_SIZE]>().write(hash.unwrap_or(NO_HASH)) };
    }
}
