//! Reading and hashing in one pass: a file may be far away.

use std::io::{self, BufReader, Read};
use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::storage::{Chunks, Part};

/// Reads a part of a file from its start to its end, and hashes it.
pub(super) struct Hashing {
    source: BufReader<Part>,
    hash: Sha256,
    /// The place in the file.
    position: u64,
}

impl Hashing {
    pub(super) fn new(file: &Chunks, range: Range<u64>) -> Hashing {
        let position = range.start;
        let source = file.part(range).buffered();
        Hashing { source, hash: Sha256::new(), position }
    }

    /// Returns the place in the file.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Reads up to a place in the file, and ignores the bytes.
    pub(super) fn skip_to(&mut self, position: u64) -> io::Result<()> {
        let count = position.saturating_sub(self.position);
        if io::copy(&mut self.by_ref().take(count), &mut io::sink())? < count {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// Reads all that is left, and ignores it.
    pub(super) fn rest(&mut self) -> io::Result<()> {
        io::copy(self, &mut io::sink()).map(drop)
    }

    /// Returns the hash of all bytes that were read.
    pub(super) fn finish(self) -> [u8; 32] {
        self.hash.finalize().into()
    }
}

impl Read for Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.hash.update(buffer.get(..count).unwrap_or_default());
        self.position += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn all_that_is_read_or_skipped_is_hashed() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|index| (index % 251) as u8).collect();
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&bytes).expect("writable");
        let file = Chunks::new(Arc::new(file), bytes.len() as u64);
        let mut hashing = Hashing::new(&file, 10..2_900_000);
        let mut read = [0; 5];
        hashing.read_exact(&mut read).expect("readable");
        assert_eq!(read, bytes[10..15]);
        hashing.skip_to(1_500_000).expect("readable");
        hashing.read_exact(&mut read).expect("readable");
        assert_eq!((&read[..], hashing.position()), (&bytes[1_500_000..1_500_005], 1_500_005));
        hashing.rest().expect("readable");
        assert!(hashing.skip_to(2_900_001).is_err());
        let expected: [u8; 32] = Sha256::digest(&bytes[10..2_900_000]).into();
        assert_eq!(hashing.finish(), expected);
    }
}
