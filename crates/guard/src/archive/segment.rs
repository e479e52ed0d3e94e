//! A segment of older headers, and its file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use randomx_files::{read_up_to, replace_file};
use randomx_monero::{Hash, HashingBlob, keccak256};

use crate::verified::Verified;

/// The number of blocks in a segment. Its first height is a multiple of this.
pub(super) const SEGMENT: u64 = 2048;

const MAGIC: &[u8; 8] = b"RXMhead1";

/// The longest file that is read.
const MAX_BYTES: u64 = 8 + SEGMENT * (1 + HashingBlob::MAX_BYTES as u64) + 32;

/// Consecutive blocks from a multiple of [`SEGMENT`] on, linked by their ids.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    first: u64,
    blocks: Vec<Verified>,
}

impl Segment {
    /// Returns the segment of these blocks, which are linked.
    pub(super) fn new(first: u64, blocks: Vec<Verified>) -> Segment {
        Segment { first, blocks }
    }

    /// Returns the segment up to a block, if it has that block.
    pub(super) fn ending_with(&self, height: u64, id: Hash) -> Option<Segment> {
        (self.block(height)?.id == id).then_some(())?;
        let count = usize::try_from(height - self.first + 1).ok()?;
        Some(Segment { first: self.first, blocks: self.blocks[..count].to_vec() })
    }

    /// Returns the block at a height.
    pub(super) fn block(&self, height: u64) -> Option<&Verified> {
        self.blocks.get(usize::try_from(height.checked_sub(self.first)?).ok()?)
    }

    /// Returns the id of the block before the first.
    pub(super) fn previous(&self) -> Option<Hash> {
        self.blocks.first().map(|block| block.blob.header.previous_id)
    }

    /// Returns the height after the last block.
    pub(super) fn end(&self) -> u64 {
        self.first + self.blocks.len() as u64
    }

    /// Returns the height of the block with an id.
    pub(super) fn find(&self, id: &Hash) -> Option<u64> {
        let index = self.blocks.iter().position(|block| block.id == *id)?;
        Some(self.first + index as u64)
    }

    /// Returns the ids of the blocks.
    pub(super) fn ids(&self) -> impl Iterator<Item = &Hash> {
        self.blocks.iter().map(|block| &block.id)
    }

    /// Returns the segment with the blocks that come after it.
    pub(super) fn followed_by(mut self, blocks: Vec<Verified>) -> Segment {
        self.blocks.extend(blocks);
        self
    }

    /// Writes the segment to its file, unless the file has it: the folder may be one that cannot be written.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        for block in &self.blocks {
            let blob = block.blob.as_bytes();
            bytes.push(blob.len() as u8);
            bytes.extend(blob);
        }
        let checksum = keccak256(&[&bytes]);
        bytes.extend(checksum);
        let path = path(folder, self.first / SEGMENT);
        let is_as_long = fs::metadata(&path).is_ok_and(|file| file.len() == bytes.len() as u64);
        if is_as_long && fs::read(&path).is_ok_and(|stored| stored == bytes) {
            return Ok(());
        }
        fs::create_dir_all(folder)?;
        replace_file(&path, &bytes)
    }

    /// Reads a segment, unless there is none, or its file is damaged.
    pub(super) fn read(folder: &Path, index: u64) -> Option<Segment> {
        let path = path(folder, index);
        let bytes = read_up_to(&path, MAX_BYTES).ok()??;
        let (content, checksum) = bytes.split_last_chunk::<32>()?;
        (keccak256(&[content]) == *checksum).then_some(())?;
        let mut rest = content.strip_prefix(MAGIC)?;
        let mut blobs = Vec::new();
        while let Some((&length, after)) = rest.split_first() {
            let (blob, after) = after.split_at_checked(usize::from(length))?;
            blobs.push(blob.to_vec());
            rest = after;
        }
        let blocks = linked(&blobs)?;
        (!blocks.is_empty()).then_some(Segment { first: index * SEGMENT, blocks })
    }
}

/// The beginning of the name of a segment's file, before its index.
const FILE: &str = "headers-";

fn path(folder: &Path, index: u64) -> PathBuf {
    folder.join(format!("{FILE}{index:06}"))
}

/// Whether a file with this name has a segment.
pub(super) fn is_segment(name: &str) -> bool {
    name.strip_prefix(FILE).is_some_and(|index| index.parse::<u64>().is_ok())
}

/// Parses blobs, if they lead to the block with the id `last`.
pub(super) fn proven(blobs: &[Vec<u8>], last: Hash) -> Option<Vec<Verified>> {
    linked(blobs).filter(|blocks| blocks.last().is_some_and(|block| block.id == last))
}

/// Parses blobs, if each but the first has the id of the one before it.
fn linked(blobs: &[Vec<u8>]) -> Option<Vec<Verified>> {
    let mut blocks: Vec<Verified> = Vec::with_capacity(blobs.len());
    for blob in blobs {
        let blob = HashingBlob::parse(blob).ok()?;
        let follows = blocks.last().is_none_or(|before| before.id == blob.header.previous_id);
        follows.then_some(())?;
        blocks.push(Verified { id: blob.id(), blob, work: None });
    }
    Some(blocks)
}

#[cfg(test)]
mod tests {
    use randomx_monero::Block;
    use randomx_testing::blocks::block_with;

    use super::*;

    #[test]
    fn every_block_leads_to_the_proven_one() {
        let (mut blobs, mut ids) = (Vec::new(), vec![[0; 32]]);
        for height in 0..4 {
            let block = block_with(height, 1_700_000_000, &ids[ids.len() - 1], 0, 1, &[]);
            let block = Block::parse(&block).expect("a block");
            ids.push(block.id());
            blobs.push(block.hashing_blob().as_bytes().to_vec());
        }
        let last = ids[4];
        assert_eq!(proven(&blobs, last).map(|blocks| blocks.len()), Some(4));
        assert!(proven(&blobs, ids[3]).is_none() && proven(&[], last).is_none());
        for forged in 0..4 {
            // The nonce, before the root and the number of transactions.
            let mut blobs = blobs.clone();
            let place = blobs[forged].len() - 34;
            blobs[forged][place] ^= 1;
            assert!(proven(&blobs, last).is_none(), "{forged}");
        }
        blobs.remove(1);
        assert!(proven(&blobs, last).is_none());
    }
}
