//! A relay's headers on disk: records of one size, appended, and cut off by reorganisations.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use randomx_monero::{Hash, HashingBlob, MAX_HEIGHT};

const MAGIC: &[u8; 8] = b"RXMrelay";

/// The magic bytes and the height of the first block.
const HEAD: u64 = 16;

/// A length, the blob with room for the longest, and the difficulty.
const RECORD: usize = 1 + HashingBlob::MAX_BYTES + 16;

/// The last records that are checked when a file is opened. Fewer are written before the disk has
/// them.
const CHECKED: u64 = 1024;

/// The headers of a chain from a height on. If the process or the system ends in the middle of a
/// write, the last records may be incomplete, which the next process cuts off.
pub(super) struct Records {
    file: File,
    first: u64,
    count: u64,
    /// The id of the last block.
    last: Option<Hash>,
}

/// A header as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) blob: Vec<u8>,
    pub(super) difficulty: u128,
}

impl Record {
    /// Returns the block's id and that of the block before it.
    pub(super) fn ids(&self) -> Option<(Hash, Hash)> {
        let blob = HashingBlob::parse(&self.blob).ok()?;
        Some((blob.id(), blob.header.previous_id))
    }
}

impl Records {
    /// Opens a file, or creates one whose first block has the height `first`.
    pub(super) fn open(path: &Path, first: u64) -> io::Result<Records> {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).truncate(false).read(true).write(true).open(path)?;
        let mut head = [0; HEAD as usize];
        let length = file.metadata()?.len();
        if length >= HEAD {
            file.read_exact(&mut head)?;
        }
        // If the system ended soon after the file was created, the disk may have zeros in place of the head. Later the
        // file is longer, and its blocks are worth more than a new beginning.
        if head == [0; HEAD as usize] && length <= HEAD + CHECKED * RECORD as u64 {
            head[..8].copy_from_slice(MAGIC);
            head[8..].copy_from_slice(&first.to_le_bytes());
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&head)?;
            // No record is on the disk before the head.
            file.sync_all()?;
        }
        let (magic, rest) = head.split_first_chunk::<8>().unwrap_or((MAGIC, &[]));
        let Ok(height) = <[u8; 8]>::try_from(rest) else { return Err(foreign()) };
        let first = u64::from_le_bytes(height);
        if magic != MAGIC || first > MAX_HEIGHT {
            return Err(foreign());
        }
        let count = (file.metadata()?.len() - HEAD) / RECORD as u64;
        let mut records = Records { file, first, count, last: None };
        records.keep(count)?;
        // If the system ended, the disk may have only a part of the last record. Its id does not show whether
        // the difficulty is whole, and the node has the block.
        records.cut((first + records.count).saturating_sub(1))?;
        Ok(records)
    }

    /// Keeps the first `count` records, but none from the first one on that was not written whole, as far as that
    /// shows. If it fails, all records are kept.
    fn keep(&mut self, count: u64) -> io::Result<()> {
        let from = count.saturating_sub(CHECKED);
        let (mut whole, mut newest) = (from, None);
        for record in self.read(self.first + from, count - from)? {
            match (record.ids(), newest) {
                (Some((id, previous)), last)
                    if last.is_none_or(|last| last == previous) && record.difficulty > 0 =>
                {
                    newest = Some(id);
                    whole += 1;
                }
                _ => break,
            }
        }
        if whole == from && from > 0 {
            return Err(io::Error::other(
                "the headers are damaged; remove the file, and the relay reads them from its node again",
            ));
        }
        self.file.set_len(HEAD + whole * RECORD as u64)?;
        (self.count, self.last) = (whole, newest);
        Ok(())
    }

    /// Returns the file, to be flushed to the disk.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Returns the height of the first block.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the height and the id of the last block, if there is one.
    pub(super) fn tip(&self) -> Option<(u64, Hash)> {
        self.last.map(|id| (self.first + self.count - 1, id))
    }

    /// Reads records from a height on, fewer at the end.
    pub(super) fn read(&mut self, first: u64, count: u64) -> io::Result<Vec<Record>> {
        let Some(skipped) = first.checked_sub(self.first) else { return Ok(Vec::new()) };
        let count = count.min(self.count.saturating_sub(skipped));
        let mut bytes = vec![0; count as usize * RECORD];
        if count > 0 {
            self.file.seek(SeekFrom::Start(HEAD + skipped * RECORD as u64))?;
            self.file.read_exact(&mut bytes)?;
        }
        let (records, _) = bytes.as_chunks::<RECORD>();
        Ok(records.iter().map(parse).collect())
    }

    /// Appends a record. Returns `false` if it does not follow the last block.
    pub(super) fn append(&mut self, record: &Record) -> io::Result<bool> {
        let Some((id, previous)) = record.ids() else { return Ok(false) };
        if self.last.is_some_and(|last| last != previous) {
            return Ok(false);
        }
        let mut bytes = [0; RECORD];
        bytes[0] = record.blob.len() as u8;
        bytes[1..=record.blob.len()].copy_from_slice(&record.blob);
        bytes[RECORD - 16..].copy_from_slice(&record.difficulty.to_le_bytes());
        self.file.seek(SeekFrom::Start(HEAD + self.count * RECORD as u64))?;
        self.file.write_all(&bytes)?;
        self.count += 1;
        self.last = Some(id);
        Ok(true)
    }

    /// Removes the blocks from a height on.
    pub(super) fn cut(&mut self, height: u64) -> io::Result<()> {
        self.keep(self.count.min(height.saturating_sub(self.first)))
    }
}

fn parse(bytes: &[u8; RECORD]) -> Record {
    let length = usize::from(bytes[0]).min(HashingBlob::MAX_BYTES);
    let mut difficulty = [0; 16];
    difficulty.copy_from_slice(&bytes[RECORD - 16..]);
    Record { blob: bytes[1..=length].to_vec(), difficulty: u128::from_le_bytes(difficulty) }
}

fn foreign() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "expected a relay's file of headers, got another file",
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// A chain of records from height 1 on.
    fn chain(count: u32) -> Vec<Record> {
        let mut previous = [0; 32];
        let next = |n: u32| {
            let blob = [&[16, 16, 1][..], &previous, &n.to_le_bytes(), &[7; 32], &[1]].concat();
            let record = Record { blob, difficulty: u128::from(n) << 70 };
            previous = record.ids().expect("a header").0;
            record
        };
        (1..=count).map(next).collect()
    }

    #[test]
    fn records_are_read_back_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("headers");
        let chain = chain(10);
        let mut records = Records::open(&path, 1).expect("a file");
        assert_eq!(records.tip(), None);
        for record in &chain {
            assert!(records.append(record).expect("writable"));
        }
        assert!(!records.append(&chain[3]).expect("writable"), "it does not follow");
        let mut records = Records::open(&path, 99).expect("a file");
        assert_eq!((records.first(), records.tip().map(|tip| tip.0)), (1, Some(9)));
        assert_eq!(records.read(1, 100).expect("readable"), chain[..9]);
        assert!(records.append(&chain[9]).expect("writable"), "the last one is read again");
        assert_eq!(records.read(1, 100).expect("readable"), chain);
        assert_eq!(records.read(9, 2).expect("readable"), chain[8..]);
        assert_eq!(records.read(0, 5).expect("readable"), []);
        assert_eq!(records.read(11, 5).expect("readable"), []);
        records.cut(6).expect("writable");
        assert_eq!(records.tip().map(|tip| tip.0), Some(5));
        assert!(records.append(&chain[5]).expect("writable"));
    }

    #[test]
    fn heights_that_no_chain_has_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("headers");
        for (first, is_opened) in [(MAX_HEIGHT, true), (MAX_HEIGHT + 1, false), (u64::MAX, false)] {
            let head = [&MAGIC[..], &first.to_le_bytes()].concat();
            std::fs::write(&path, [&head[..], &[0; 2 * RECORD]].concat()).expect("writable");
            assert_eq!(Records::open(&path, 1).is_ok(), is_opened, "{first}");
        }
    }

    /// Returns the file of a chain of so many blocks, with its folder, which it needs.
    fn stored(blocks: u32) -> (TempDir, PathBuf, Vec<Record>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("headers");
        let chain = chain(blocks);
        let mut records = Records::open(&path, 1).expect("a file");
        for record in &chain {
            records.append(record).expect("writable");
        }
        (folder, path, chain)
    }

    /// A process may end at any byte of a write.
    #[test]
    fn any_length_of_the_file_is_repaired() {
        let (_folder, path, chain) = stored(3);
        let whole = std::fs::read(&path).expect("a file");
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).expect("writable");
            let mut records = Records::open(&path, 1).expect("a file");
            let complete = (length.saturating_sub(HEAD as usize) / RECORD).saturating_sub(1);
            assert_eq!(records.read(1, 9).expect("readable"), chain[..complete], "{length}");
            for record in &chain[complete..] {
                assert!(records.append(record).expect("writable"));
            }
            assert_eq!(std::fs::read(&path).expect("a file"), whole, "{length}");
        }
    }

    /// The system may end before the disk has what was written: a part is missing, and zeros are
    /// there instead.
    #[test]
    fn records_after_a_hole_are_cut_off() {
        let (_folder, path, chain) = stored(30);
        let whole = std::fs::read(&path).expect("a file");
        for hole in 0..30 {
            let mut bytes = whole.clone();
            bytes[HEAD as usize + hole * RECORD..][..RECORD].fill(0);
            std::fs::write(&path, &bytes).expect("writable");
            let mut records = Records::open(&path, 1).expect("a file");
            let whole = hole.saturating_sub(1);
            assert_eq!(records.read(1, 99).expect("readable"), chain[..whole], "{hole}");
        }
    }

    /// The file has its length before the disk has all of its bytes.
    #[test]
    fn a_record_whose_end_is_missing_is_cut_off() {
        let (_folder, path, chain) = stored(3);
        let whole = std::fs::read(&path).expect("a file");
        for zeros in 1..=2 * RECORD {
            let mut bytes = whole.clone();
            let hole = bytes.len() - zeros;
            bytes[hole..].fill(0);
            std::fs::write(&path, &bytes).expect("writable");
            let read = Records::open(&path, 1).expect("a file").read(1, 9).expect("readable");
            assert_eq!(read, chain[..read.len()], "{zeros}");
            assert!(read.len() <= 2, "{zeros}");
        }
    }

    #[test]
    fn a_record_without_a_difficulty_is_cut_off() {
        let (_folder, path, chain) = stored(4);
        let mut bytes = std::fs::read(&path).expect("a file");
        bytes[HEAD as usize + 2 * RECORD - 16..][..16].fill(0);
        std::fs::write(&path, &bytes).expect("writable");
        let mut records = Records::open(&path, 1).expect("a file");
        // The one before it may lack a part too.
        assert!(records.tip().is_none() && records.append(&chain[0]).expect("writable"));
    }

    #[test]
    fn a_cut_that_fails_keeps_all_records() {
        let (_folder, path, chain) = stored(1100);
        let mut records = Records::open(&path, 1).expect("a file");
        assert!(records.append(&chain[1099]).expect("writable"));
        let tip = records.tip();
        // The first record that the cut would check.
        let damaged = 1099 - CHECKED;
        records.file.seek(SeekFrom::Start(HEAD + damaged * RECORD as u64)).expect("a file");
        records.file.write_all(&[0; RECORD]).expect("writable");
        assert!(records.cut(1100).is_err());
        assert_eq!(records.tip(), tip);
        assert!(!records.append(&chain[0]).expect("a file"));
    }

    /// The system ended before the disk had the head.
    #[test]
    fn a_new_file_without_a_head_begins_anew() {
        for (blocks, is_opened) in [(0, true), (3, true), (1024, true), (1025, false)] {
            let (_folder, path, chain) = stored(blocks);
            let mut bytes = std::fs::read(&path).expect("a file");
            bytes[..HEAD as usize].fill(0);
            std::fs::write(&path, &bytes).expect("writable");
            let Ok(mut records) = Records::open(&path, 1) else {
                assert!(!is_opened && std::fs::read(&path).expect("a file") == bytes, "{blocks}");
                continue;
            };
            assert!(is_opened && records.tip().is_none(), "{blocks}");
            assert!(chain.iter().all(|record| records.append(record).expect("writable")));
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("headers");
        std::fs::write(&path, b"something else altogether").expect("writable");
        assert!(Records::open(&path, 1).is_err());
    }
}
