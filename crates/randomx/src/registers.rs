//! The VM's registers (specification 4.3).

use crate::f64x2::F64x2;

/// The Register File, which seeds the next program and finally becomes the hash.
///
/// Machine code depends on the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RegisterFile {
    /// The integer registers `r0` to `r7`.
    pub r: [u64; 8],
    /// Group F: the additive floating point registers.
    pub f: [F64x2; 4],
    /// Group E: the multiplicative floating point registers, always positive.
    pub e: [F64x2; 4],
    /// Group A: the read-only floating point registers, constant during a program.
    pub a: [F64x2; 4],
}

impl RegisterFile {
    /// The size in bytes.
    pub const SIZE: usize = 256;

    /// Creates registers that are all zero.
    pub fn new() -> RegisterFile {
        RegisterFile { r: [0; 8], f: [F64x2::ZERO; 4], e: [F64x2::ZERO; 4], a: [F64x2::ZERO; 4] }
    }

    /// Returns R, F, E and A in little-endian byte order (specification 2).
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let floats = self.f.iter().chain(&self.e).chain(&self.a).flat_map(|pair| pair.to_bits());
        for (chunk, word) in
            bytes.as_chunks_mut().0.iter_mut().zip(self.r.into_iter().chain(floats))
        {
            *chunk = word.to_le_bytes();
        }
        bytes
    }

    /// Reads R, F, E and A from 256 bytes in little-endian byte order.
    #[cfg(feature = "internals")]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> RegisterFile {
        let words = bytes.as_chunks().0;
        let word = |i: usize| u64::from_le_bytes(words[i]);
        let group = |first: usize| {
            std::array::from_fn(|i| F64x2::from_bits([0, 1].map(|half| word(first + 2 * i + half))))
        };
        RegisterFile { r: std::array::from_fn(word), f: group(8), e: group(16), a: group(24) }
    }
}

impl Default for RegisterFile {
    fn default() -> RegisterFile {
        RegisterFile::new()
    }
}
