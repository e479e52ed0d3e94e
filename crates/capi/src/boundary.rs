//! How all exported functions treat pointers and failures.

#![expect(unsafe_code, reason = "reads and writes at the pointers of C callers")]

use std::ffi::c_void;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use randomx::HASH_SIZE;

/// Written instead of a hash after a failure. This number meets no difficulty above 1, so a caller that does
/// not check for failures cannot mistake it for work.
pub(crate) const NO_HASH: [u8; HASH_SIZE] = [0xff; HASH_SIZE];

/// Calls `function`, and returns `otherwise` if it panics. A panic is a bug, but must not end the
/// caller's process.
pub(crate) fn guarded<T>(otherwise: T, function: impl FnOnce() -> T) -> T {
    // A panic leaves nothing inconsistent but locks, which are poisoned; their users check that.
    catch_unwind(AssertUnwindSafe(function)).unwrap_or(otherwise)
}

/// Whether there is memory for the small objects that belong to a large one, such as the code of a
/// key. If a large allocation fails, the caller gets null. If a small one fails, the allocator ends
/// the process; so callers check for enough memory for all of them first.
pub(crate) fn has_room() -> bool {
    const ROOM: usize = 12 << 20;
    let mut room = Vec::<u8>::new();
    let reserved = room.try_reserve_exact(ROOM).is_ok();
    // The compiler would remove an unused allocation.
    black_box(&mut room);
    reserved
}

/// Returns the `size` bytes at `data`. Returns nothing if `data` is null and `size` is not 0, or if no
/// object can have this size.
///
/// # Safety
///
/// `data` is null or points to `size` bytes that are not written while the slice lives.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Option<&'a [u8]> {
    match size {
        0 => Some(&[]),
        _ if data.is_null() || isize::try_from(size).is_err() => None,
        // SAFETY: the caller's promise, and the pointer and the size were checked above.
        _ => Some(unsafe { slice::from_raw_parts(data.cast(), size) }),
    }
}

/// Returns another owner of a caller's object, or nothing for null.
///
/// # Safety
///
/// `object` is null or from `Arc::into_raw`, and its owner has not been released.
pub(crate) unsafe fn shared<T>(object: *const T) -> Option<Arc<T>> {
    if object.is_null() {
        return None;
    }
    // SAFETY: the caller's promise, so the count is at least 1 before.
    unsafe {
        Arc::increment_strong_count(object);
        Some(Arc::from_raw(object))
    }
}

/// Releases a caller's object. Does nothing for null.
///
/// # Safety
///
/// See [`shared`]; and the pointer is not used again.
pub(crate) unsafe fn release<T>(object: *const T) {
    if !object.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Arc::from_raw(object) });
    }
}

/// Writes a hash, or [`NO_HASH`].
///
/// # Safety
///
/// `output` is null or has room for [`HASH_SIZE`] bytes.
pub(crate) unsafe fn write_hash(output: *mut c_void, hash: Option<[u8; HASH_SIZE]>) {
    if !output.is_null() {
        // SAFETY: the caller's promise; every address is aligned for bytes.
        unsafe { output.cast::<[u8; HASH_SIZE]>().write(hash.unwrap_or(NO_HASH)) };
    }
}
