//! The VM's registers (specification 4.3).

use crate::f64x2::F64x2;

/// The Register File: what seeds the next program and, in the end, becomes the hash.
///
/// Machine code knows where its fields are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RegisterFile {
    /// Integer registers `r0` to `r7`.
    pub r: [u64; 8],
    /// Additive floating point registers.
    pub f: [F64x2; 4],
    /// Multiplicative floating point registers, always positive.
    pub e: [F64x2; 4],
    /// Read-only floating point registers, fixed for a program.
    pub a: [F64x2; 4],
}

impl RegisterFile {
    /// Bytes in the Register File.
    pub const SIZE: usize = 256;

    /// All registers zero.
    pub fn new() -> RegisterFile {
        RegisterFile { r: [0; 8], f: [F64x2::ZERO; 4], e: [F64x2::ZERO; 4], a: [F64x2::ZERO; 4] }
    }

    /// The registers in little-endian byte order: R, F, E, A (specification 2).
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

    /// The registers from the same 256 bytes.
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
