//! Buffers as anonymous mappings on the largest pages that the system grants.

#![expect(unsafe_code, reason = "borrows a mapping that is also written through a pointer")]

use std::ops::Range;
use std::slice;

use memmap2::{MmapMut, MmapOptions, MmapRaw};

use super::{OutOfMemory, Pages};

/// The size and the alignment of a huge page on x86-64, and on AArch64 with ordinary pages of 4 KiB.
const HUGE_PAGE: usize = 2 << 20;

pub struct Buffer {
    /// Gives a pointer without a reference to the bytes, so that a later borrow does not end its use.
    map: MmapRaw,
    range: Range<usize>,
    pages: Pages,
}

impl Buffer {
    pub fn zeroed(bytes: usize) -> Result<Buffer, OutOfMemory> {
        match Buffer::reserved(bytes) {
            Some(buffer) => Ok(buffer),
            None => Buffer::ordinary(bytes),
        }
    }

    /// Maps reserved huge pages, if there are enough.
    fn reserved(bytes: usize) -> Option<Buffer> {
        if !cfg!(target_os = "linux") || bytes < HUGE_PAGE {
            return None;
        }
        let whole = bytes.checked_next_multiple_of(HUGE_PAGE)?;
        let bits = HUGE_PAGE.trailing_zeros() as u8;
        let map = MmapOptions::new().len(whole).huge(Some(bits)).map_anon().ok()?;
        // Touched at once, so that a control group that forbids these pages fails the allocation
        // instead of raising SIGBUS later. Older systems do not know the request.
        #[cfg(target_os = "linux")]
        if let Err(error) = map.advise(memmap2::Advice::PopulateWrite)
            && error.kind() != std::io::ErrorKind::InvalidInput
        {
            return None;
        }
        Some(Buffer { map: map.into(), range: 0..bytes, pages: Pages::HugeTlb })
    }

    /// Maps ordinary pages, which the system may make huge.
    fn ordinary(bytes: usize) -> Result<Buffer, OutOfMemory> {
        let room = bytes.checked_add(HUGE_PAGE).ok_or(OutOfMemory)?;
        let map = MmapMut::map_anon(room).map_err(|_| OutOfMemory)?;
        let start = map.as_ptr().align_offset(HUGE_PAGE);
        let pages = advise(&map, start, bytes);
        Ok(Buffer { map: map.into(), range: start..start + bytes, pages })
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping holds `range`, zeroed or written, and lives as long as `self`. It is written only while
        // nothing borrows it.
        unsafe { slice::from_raw_parts(self.start(), self.range.len()) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `&mut self` is the only reference.
        unsafe { slice::from_raw_parts_mut(self.start(), self.range.len()) }
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start()
    }

    fn start(&self) -> *mut u8 {
        self.map.as_mut_ptr().wrapping_add(self.range.start)
    }

    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Unmaps all but the first `bytes` bytes. Only Linux shortens a mapping, and before 5.16 none of reserved huge pages.
    #[cfg(target_os = "linux")]
    pub fn shrink(&mut self, bytes: usize) -> bool {
        let end = match self.pages {
            Pages::HugeTlb => bytes.next_multiple_of(HUGE_PAGE),
            Pages::Transparent | Pages::Plain => self.range.start + bytes,
        };
        // SAFETY: no file lies behind the mapping. It gets shorter and stays where it is, and `&mut self` shows that
        // nothing borrows the rest.
        let shrunk = unsafe { self.map.remap(end, memmap2::RemapOptions::new()) }.is_ok();
        if shrunk {
            self.range.end = self.range.start + bytes;
        }
        shrunk
    }

    #[cfg(not(target_os = "linux"))]
    pub fn shrink(&mut self, _: usize) -> bool {
        false
    }

    pub fn huge_bytes(&self) -> Option<usize> {
        match self.pages {
            Pages::HugeTlb => Some(self.range.len()),
            #[cfg(target_os = "linux")]
            Pages::Transparent => super::linux::huge_bytes_at(self.bytes().as_ptr().addr()),
            #[cfg(not(target_os = "linux"))]
            Pages::Transparent => None,
            Pages::Plain => Some(0),
        }
    }
}

/// Requests transparent huge pages.
///
/// The request is for the aligned part only, not for the room around it. Otherwise the system
/// might merge the mapping with a neighbour and report on both as one.
#[cfg(target_os = "linux")]
fn advise(map: &MmapMut, start: usize, bytes: usize) -> Pages {
    let whole = bytes >= HUGE_PAGE;
    let advised = whole && map.advise_range(memmap2::Advice::HugePage, start, bytes).is_ok();
    if advised && super::linux::transparent_pages() { Pages::Transparent } else { Pages::Plain }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &MmapMut, _: usize, _: usize) -> Pages {
    Pages::Plain
}
