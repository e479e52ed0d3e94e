//! Memory between pages that nobody may access.

#![expect(unsafe_code, reason = "maps memory")]

use std::ffi::c_void;
use std::ptr;
use std::slice;

use bytemuck::{AnyBitPattern, NoUninit};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

/// Bytes without access on either side. No index of 32 bits reaches beyond them.
const GUARD: usize = 1 << 32;

const PAGE: usize = 4096;

/// The size of the file that repeats in a [`GuardedRepeats`], in pages: a prime number, so that wrong
/// addresses of any power of two have other content.
const PERIOD: usize = 509;

/// A reserved range of addresses, without access.
struct Reserved {
    start: *mut c_void,
    bytes: usize,
}

impl Reserved {
    fn new(bytes: usize) -> Reserved {
        let bytes = bytes + 2 * GUARD;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the system chooses the address, so no other mapping is replaced.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::empty(), flags) };
        Reserved { start: start.expect("a range of addresses"), bytes }
    }

    /// The first address between the guards.
    fn inside(&self) -> *mut c_void {
        self.start.wrapping_byte_add(GUARD)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: nothing borrows the range from its owner any more.
        let unmapped = unsafe { munmap(self.start, self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// A value whose last byte is the last one of its page. The bytes before it are zero, up to the page.
pub(crate) struct Guarded<T> {
    _reserved: Reserved,
    value: *mut T,
}

// SAFETY: the memory belongs to the value alone.
unsafe impl<T: Send> Send for Guarded<T> {}

impl<T> Guarded<T> {
    /// Makes a value that may be large from zeros.
    pub(crate) fn zeroed() -> Guarded<T>
    where
        T: AnyBitPattern,
    {
        // Fresh pages are zero, which is a valid value.
        Guarded::from(|_| {})
    }

    /// Makes a value that owns nothing.
    pub(crate) fn new(value: T) -> Guarded<T> {
        const { assert!(!std::mem::needs_drop::<T>()) };
        Guarded::from(|place: *mut T| {
            // SAFETY: the place is writable, aligned, and as large as the value.
            unsafe { place.write(value) }
        })
    }

    fn from(write: impl FnOnce(*mut T)) -> Guarded<T> {
        let bytes = size_of::<T>().next_multiple_of(PAGE);
        let reserved = Reserved::new(bytes);
        let (access, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED);
        // SAFETY: the range is reserved for this value, and nothing uses it yet.
        let start = unsafe { mmap_anonymous(reserved.inside(), bytes, access, flags) };
        let start = start.expect("memory");
        let value = start.wrapping_byte_add(bytes - size_of::<T>()).cast::<T>();
        assert!(value.is_aligned(), "a size is a multiple of the alignment");
        write(value);
        Guarded { _reserved: reserved, value }
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: `from` has written the value, and it stays mapped as long as `self`.
        unsafe { &*self.value }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        // SAFETY: as in `get`, and `self` is borrowed mutably.
        unsafe { &mut *self.value }
    }
}

/// A long read-only slice that takes the memory of its first 2 MB, which repeat.
pub(crate) struct GuardedRepeats<T> {
    _reserved: Reserved,
    start: *const T,
    count: usize,
}

// SAFETY: nobody writes the memory any more.
unsafe impl<T: Send> Send for GuardedRepeats<T> {}

impl<T: AnyBitPattern + NoUninit> GuardedRepeats<T> {
    /// Makes a slice of `count` values, from what `fill` writes.
    pub(crate) fn new(count: usize, fill: impl FnOnce(&mut [T])) -> GuardedRepeats<T> {
        let bytes = (count * size_of::<T>()).next_multiple_of(PAGE);
        let reserved = Reserved::new(bytes);
        let file = memfd_create("randomx-fuzz", MemfdFlags::CLOEXEC).expect("a file in memory");
        ftruncate(&file, (PERIOD * PAGE) as u64).expect("a longer file");
        let (read, write) = (ProtFlags::READ, ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: the system chooses the address; the file is no other process's.
        let whole =
            unsafe { mmap(ptr::null_mut(), PERIOD * PAGE, write, MapFlags::SHARED, &file, 0) };
        let whole = whole.expect("memory");
        // SAFETY: the range was mapped above, is aligned to a page, and any bits are a value.
        fill(unsafe { slice::from_raw_parts_mut(whole.cast(), PERIOD * PAGE / size_of::<T>()) });
        for offset in (0..bytes).step_by(PERIOD * PAGE) {
            let length = (bytes - offset).min(PERIOD * PAGE);
            let at = reserved.inside().wrapping_byte_add(offset);
            // SAFETY: the range is reserved for this slice, and nothing uses it yet.
            let mapped =
                unsafe { mmap(at, length, read, MapFlags::SHARED | MapFlags::FIXED, &file, 0) };
            mapped.expect("memory");
        }
        // SAFETY: mapped above, and nothing borrows it any more.
        unsafe { munmap(whole, PERIOD * PAGE) }.expect("a mapping");
        let unused = bytes - count * size_of::<T>();
        let start = reserved.inside().wrapping_byte_add(unused).cast::<T>().cast_const();
        assert!(start.is_aligned(), "a size is a multiple of the alignment");
        GuardedRepeats { _reserved: reserved, start, count }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: `new` has mapped so many values for as long as `self` lives, and any bits are a value.
        // Nobody writes them any more.
        unsafe { slice::from_raw_parts(self.start, self.count) }
    }
}
