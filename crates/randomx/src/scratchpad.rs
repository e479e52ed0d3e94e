//! The scratchpad (specification 4.2): 2 MiB of workspace for each lane.

use crate::error::VmError;
use crate::memory::{Memory, Pages, Room};
use crate::params::{SCRATCHPAD_L1, SCRATCHPAD_L2, SCRATCHPAD_L3};

/// The access masks of Table 4.2.1.
pub const L1_MASK: u32 = SCRATCHPAD_L1 as u32 - 8;
/// See [`L1_MASK`].
pub const L2_MASK: u32 = SCRATCHPAD_L2 as u32 - 8;
/// See [`L1_MASK`].
pub const L3_MASK: u32 = SCRATCHPAD_L3 as u32 - 8;
/// The 64-byte aligned mask of the loop's own reads and writes.
pub const L3_MASK_64: u32 = SCRATCHPAD_L3 as u32 - 64;

// Whatever its other bits, a masked address is a multiple of the access's size, and the access ends
// inside its level.
const _: () = {
    let masks = [
        (L1_MASK, SCRATCHPAD_L1, 8),
        (L2_MASK, SCRATCHPAD_L2, 8),
        (L3_MASK, SCRATCHPAD_L3, 8),
        (L3_MASK_64, SCRATCHPAD_L3, 64),
    ];
    let mut index = 0;
    while index < masks.len() {
        let (mask, level, access) = masks[index];
        assert!(level.is_power_of_two() && mask as usize + access == level);
        assert!((mask as usize).is_multiple_of(access));
        index += 1;
    }
};

/// One lane's scratchpad.
///
/// All addresses are masked to the scratchpad, so that the compiler can omit bounds checks. The alignment is that of a
/// cache line. Machine code relies on a part of it: it stores 16 bytes at once, at addresses that must be multiples of
/// 16.
#[derive(Clone, Copy, Debug, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
pub struct Scratchpad([u8; SCRATCHPAD_L3]);

impl Scratchpad {
    /// Reads 8 bytes at an address, a multiple of 8.
    #[inline(always)]
    pub fn read(&self, address: u32) -> [u8; 8] {
        let start = (address & L3_MASK) as usize;
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[start..start + 8]);
        bytes
    }

    /// Writes 8 bytes at an address, a multiple of 8.
    #[inline(always)]
    pub fn write(&mut self, address: u32, bytes: [u8; 8]) {
        let start = (address & L3_MASK) as usize;
        self.0[start..start + 8].copy_from_slice(&bytes);
    }

    /// Reads 64 bytes at an address, a multiple of 64, as eight words.
    #[inline(always)]
    pub fn read_line(&self, address: u32) -> [[u8; 8]; 8] {
        let start = (address & L3_MASK_64) as usize;
        let mut line = [[0; 8]; 8];
        line.as_flattened_mut().copy_from_slice(&self.0[start..start + 64]);
        line
    }

    /// Writes 64 bytes at an address, a multiple of 64.
    #[inline(always)]
    pub fn write_line(&mut self, address: u32, line: [[u8; 8]; 8]) {
        let start = (address & L3_MASK_64) as usize;
        self.0[start..start + 64].copy_from_slice(line.as_flattened());
    }

    /// Returns the whole scratchpad as blocks of 64 bytes.
    pub fn blocks(&self) -> &[[u8; 64]] {
        self.0.as_chunks().0
    }

    /// Returns the whole scratchpad as mutable blocks of 64 bytes.
    pub fn blocks_mut(&mut self) -> &mut [[u8; 64]] {
        self.0.as_chunks_mut().0
    }
}

/// The scratchpads of a VM's lanes, in one allocation.
pub struct Scratchpads(Memory);

impl Scratchpads {
    /// Allocates zeroed scratchpads for `lanes` lanes.
    ///
    /// # Errors
    ///
    /// [`VmError::OutOfMemory`] if 2 MiB a lane cannot be allocated or exceed the free memory and swap.
    pub fn new(lanes: usize) -> Result<Scratchpads, VmError> {
        let Some(bytes) = lanes.checked_mul(SCRATCHPAD_L3) else {
            return Err(VmError::OutOfMemory { bytes: usize::MAX });
        };
        let memory = Memory::zeroed_if_available(bytes, Room::MemoryAndSwap);
        memory.map(Scratchpads).map_err(|_| VmError::OutOfMemory { bytes })
    }

    /// Releases all scratchpads but the first `lanes`, at least one. Returns `false` and releases nothing if there are
    /// no more, or if the system cannot release a part of the memory.
    pub fn shrink(&mut self, lanes: usize) -> bool {
        self.0.shrink(lanes.saturating_mul(SCRATCHPAD_L3))
    }

    /// Returns the kind of pages that hold the memory.
    pub fn pages(&self) -> Pages {
        self.0.pages()
    }

    /// Returns the lanes' scratchpads.
    pub fn as_mut_slice(&mut self) -> &mut [Scratchpad] {
        self.0.as_mut_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_scratchpads_than_there_are_addresses_are_refused() {
        let refused = Scratchpads::new(usize::MAX / SCRATCHPAD_L3 + 1).err();
        assert_eq!(refused, Some(VmError::OutOfMemory { bytes: usize::MAX }));
    }

    #[test]
    fn bytes_at_other_addresses_are_no_scratchpad() {
        let bytes = vec![0; SCRATCHPAD_L3 + 64];
        let aligned = bytes.as_ptr().align_offset(64);
        for offset in 0..64 {
            let bytes = &bytes[(aligned + offset) % 64..][..SCRATCHPAD_L3];
            let scratchpad = bytemuck::try_from_bytes::<Scratchpad>(bytes);
            assert_eq!(scratchpad.is_ok(), offset == 0, "offset {offset}");
        }
    }

    /// All addresses in the full tests, and in the quick ones all below four times the scratchpad.
    #[test]
    fn masks_are_remainders_rounded_down() {
        let end = if randomx_testing::is_full() { u32::MAX } else { 4 * SCRATCHPAD_L3 as u32 };
        assert_eq!(differing::<L1_MASK, SCRATCHPAD_L1, 8>(end), None);
        assert_eq!(differing::<L2_MASK, SCRATCHPAD_L2, 8>(end), None);
        assert_eq!(differing::<L3_MASK, SCRATCHPAD_L3, 8>(end), None);
        assert_eq!(differing::<L3_MASK_64, SCRATCHPAD_L3, 64>(end), None);
    }

    /// Returns the first address up to `end` for which a mask and the remainder differ. The compiler knows the divisors,
    /// so it divides without instructions for division.
    fn differing<const MASK: u32, const LEVEL: usize, const ACCESS: u32>(end: u32) -> Option<u32> {
        (0..=end).find(|address| address & MASK != address % LEVEL as u32 / ACCESS * ACCESS)
    }
}
