//! The checksum of a result: the SHA-256 hash of the whole file, with zeros in the place of the hash's
//! own digits.
//!
//! It finds damage. It does not find forgery: anyone can compute it for other bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::storage::Chunks;

/// The key, in a file's metadata, of the checksum. Its pair is the last one.
pub(crate) const KEY: &str = "randomx.sha256";

/// The value of the key while the file is hashed.
pub(crate) const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The bytes at the end of a file that are searched for keys. After the checksum the footer has three
/// bytes for each column, and little else.
const END: u64 = 1 << 20;

/// The bytes that are hashed at a time.
const PIECE: usize = 1 << 20;

/// The byte before the length of a pair's value in Thrift's compact protocol.
const VALUE: u8 = 0x18;

/// A file that hashes what is written to it.
pub(crate) struct HashedFile {
    file: File,
    hash: Sha256,
}

impl HashedFile {
    pub(crate) fn new(file: File) -> HashedFile {
        HashedFile { file, hash: Sha256::new() }
    }

    /// Writes the checksum into a file that has zeros in its place.
    pub(crate) fn insert(&self) -> io::Result<()> {
        let mut file = self.file.try_clone()?;
        let whole = Chunks::new(Arc::new(self.file.try_clone()?), file.metadata()?.len());
        let place = End::read(&whole)?.place().ok_or_else(|| {
            io::Error::other(
                "expected a footer with fewer columns, which leaves room for a checksum",
            )
        })?;
        file.seek(SeekFrom::Start(place.start))?;
        file.write_all(hex::encode(self.hash.clone().finalize()).as_bytes())
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The end of a file, with the last pairs of its metadata. The Parquet reader parses no damaged footer.
pub(crate) struct End {
    start: u64,
    bytes: Vec<u8>,
}

impl End {
    pub(crate) fn read(file: &Chunks) -> io::Result<End> {
        let start = file.size.saturating_sub(END);
        let mut bytes = vec![0; (file.size - start) as usize];
        file.read_at(start, &mut bytes)?;
        Ok(End { start, bytes })
    }

    /// Returns the value of a key, if it is a text of less than 128 bytes.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes.get(self.value(key)?)?).ok()
    }

    /// Returns the hash of these bytes, which distinguishes a file from others.
    pub(crate) fn hash(&self) -> [u8; 32] {
        let start = self.start.to_le_bytes();
        Sha256::new().chain_update(start).chain_update(&self.bytes).finalize().into()
    }

    /// Returns the place of the checksum in the file.
    fn place(&self) -> Option<Range<u64>> {
        let place = self.value(KEY).filter(|place| place.len() == ZEROS.len())?;
        Some(self.start + place.start as u64..self.start + place.end as u64)
    }

    /// Returns where the value of a key is in these bytes. Names of columns come before all pairs.
    fn value(&self, key: &str) -> Option<Range<usize>> {
        let head = [key.as_bytes(), &[VALUE]].concat();
        let before = self.bytes.windows(head.len()).rposition(|window| window == head)?;
        let start = before + head.len() + 1;
        // A longer length has more bytes.
        let length = self.bytes.get(start - 1).copied().filter(|&length| length < 128)?;
        let end = start + usize::from(length);
        (end <= self.bytes.len()).then_some(start..end)
    }
}

/// Whether a file has the checksum of its bytes, or `None` if it has no checksum.
pub(crate) fn check(file: &Chunks, end: &End) -> io::Result<Option<bool>> {
    let Some(place) = end.place() else { return Ok(None) };
    let (before, after) = (file.part(0..place.start), file.part(place.end..file.size));
    let hash = hash(before.chain(ZEROS.as_bytes()).chain(after))?;
    Ok(Some(end.text(KEY) == Some(&hex::encode(hash))))
}

/// Hashes all bytes of a source.
fn hash(mut source: impl Read) -> io::Result<[u8; 32]> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; PIECE]);
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            count => hash.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}
