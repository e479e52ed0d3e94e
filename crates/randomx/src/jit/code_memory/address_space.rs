//! Tells a process from its forks.

#![expect(unsafe_code, reason = "marks pages")]

use std::ffi::c_void;
use std::io;
use std::num::NonZeroU64;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// The address space that a mapping belongs to. A fork has another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressSpace {
    current: &'static AtomicU64,
    number: NonZeroU64,
}

/// The page that holds the number of this address space, or null before its first use.
///
/// The kernel zeroes the page in a child (`MADV_WIPEONFORK`, Linux 4.14), so that reading it
/// detects every fork without a system call. A process id would not do: in a PID namespace of its own a
/// child can have its parent's.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// The last number given. A child inherits it, so that its number differs from all its ancestors'.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Bytes to map: the smallest page of x86-64.
const PAGE_SIZE: usize = 4096;

impl AddressSpace {
    /// Returns the address space of this process.
    ///
    /// Takes no lock: a lock held by another thread at a fork would stay locked in the child.
    ///
    /// # Errors
    ///
    /// The system's error if it lacks `MADV_WIPEONFORK`.
    pub(super) fn current() -> io::Result<AddressSpace> {
        let current = page()?;
        let mut number = current.load(Ordering::Relaxed);
        if number == 0 {
            let new = LAST.fetch_add(1, Ordering::Relaxed) + 1;
            number = match current.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => new,
                Err(other_thread) => other_thread,
            };
        }
        let number = NonZeroU64::new(number).ok_or(io::ErrorKind::Other)?;
        Ok(AddressSpace { current, number })
    }

    /// Returns whether this process has the mappings of the address space.
    #[inline]
    pub(super) fn is_current(self) -> bool {
        self.current.load(Ordering::Relaxed) == self.number.get()
    }
}

fn page() -> io::Result<&'static AtomicU64> {
    let mut page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        let new = map_page()?;
        page = match PAGE.compare_exchange(
            ptr::null_mut(),
            new.cast(),
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => new.cast(),
            Err(other_thread) => {
                // SAFETY: nothing refers to the page, which was mapped above.
                unsafe { munmap(new, PAGE_SIZE)? };
                other_thread
            }
        };
    }
    // SAFETY: `PAGE` holds a readable, writable and aligned page that stays mapped for ever; all
    // bytes are a valid number, and all accesses are atomic.
    Ok(unsafe { &*page })
}

/// Maps a zeroed page that is zeroed again in each child.
fn map_page() -> io::Result<*mut c_void> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the system chooses the address, so no other mapping is replaced.
    let page = unsafe { mmap_anonymous(ptr::null_mut(), PAGE_SIZE, access, MapFlags::PRIVATE)? };
    // SAFETY: the page was mapped above and nothing refers to it yet.
    unsafe {
        if let Err(error) = madvise(page, PAGE_SIZE, Advice::LinuxWipeOnFork) {
            munmap(page, PAGE_SIZE)?;
            return Err(error.into());
        }
    }
    Ok(page)
}
