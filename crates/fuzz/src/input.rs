//! Values drawn from a fuzzer's bytes.

use arbitrary::Unstructured;

/// Bytes that decide what a target does. When they are used up, all further values are zero.
pub(crate) struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input(Unstructured::new(bytes))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    /// Returns a number below `limit`, which is at most 256.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    /// Returns one of the values.
    pub(crate) fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Returns a number of any size: small ones and those near a power of two are frequent.
    pub(crate) fn number(&mut self) -> u64 {
        let kind = self.byte();
        match kind & 3 {
            0 => u64::from(kind >> 2),
            1 => u64::from_le_bytes(self.array()),
            2 => u64::from(u32::from_le_bytes(self.array())),
            _ => (1_u64 << (kind >> 2)).wrapping_add(self.byte() as i8 as u64),
        }
    }

    /// Returns the product of two numbers.
    pub(crate) fn wide_number(&mut self) -> u128 {
        let factor = self.number();
        u128::from(factor) * u128::from(self.number())
    }

    /// Returns some bytes, as many as the next one says if there are so many.
    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        self.0.bytes(length).unwrap_or_default()
    }

    /// Returns some bytes, as many as the next two say if there are so many.
    pub(crate) fn long_bytes(&mut self) -> &'a [u8] {
        let length = usize::from(u16::from_le_bytes(self.array())).min(self.0.len());
        self.0.bytes(length).unwrap_or_default()
    }

    /// Returns all bytes that are left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.0.bytes(self.0.len()).unwrap_or_default()
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        // Fills the rest with zeros.
        let _ = self.0.fill_buffer(&mut array);
        array
    }
}
