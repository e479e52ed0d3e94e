//! The ids that link an epoch's blocks to those before and after.

use std::ops::RangeInclusive;

use arrow_array::RecordBatch;
use randomx_arrow::{KernelError, read};
use randomx_monero::{Hash, HashingBlob};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::folder::Folder;

/// The ids that link an epoch to its neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// The id of the block before the first one.
    #[serde(with = "hex")]
    pub previous: Hash,
    /// The id of the last block.
    #[serde(with = "hex")]
    pub last: Hash,
}

/// Finds the links of rows, if each is the block after the one before it.
#[derive(Default)]
pub(crate) struct Follower {
    /// The heights and the links of the rows so far.
    found: Option<(RangeInclusive<u64>, Links)>,
    is_broken: bool,
}

impl Follower {
    /// The columns that it reads.
    pub(crate) const COLUMNS: [&str; 2] = ["height", "hashing_blob"];

    /// Adds rows. Those of a pool's shares, and blocks in another order, have no links.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<(), KernelError> {
        if self.is_broken {
            return Ok(());
        }
        let heights = read::heights(batch)?;
        self.is_broken = !read::hashing_blobs(batch, |row, blob| {
            let height = heights.get(row).copied().flatten();
            height.zip(blob).is_some_and(|(height, blob)| self.follow(height, blob).is_some())
        })?;
        Ok(())
    }

    /// Adds a block, if it is the next one.
    fn follow(&mut self, height: u64, blob: &[u8]) -> Option<()> {
        let block = HashingBlob::parse(blob).ok()?;
        let (first, previous) = match self.found.take() {
            None => (height, block.header.previous_id),
            Some((heights, links)) => {
                let follows = height.checked_sub(1) == Some(*heights.end())
                    && block.header.previous_id == links.last;
                follows.then_some((*heights.start(), links.previous))?
            }
        };
        self.found = Some((first..=height, Links { previous, last: block.id() }));
        Some(())
    }

    /// Returns the heights and the links of all rows.
    pub(crate) fn blocks(self) -> Option<(RangeInclusive<u64>, Links)> {
        self.found.filter(|_| !self.is_broken)
    }

    /// Returns the links of all rows.
    pub(crate) fn links(self) -> Option<Links> {
        self.blocks().map(|(_, links)| links)
    }
}

/// Returns the heights and the links of a file's blocks up to a height, or `None` if there is no such file,
/// it is damaged, or a block does not follow the one before it.
///
/// # Errors
///
/// If the storage fails.
pub fn linked(
    folder: &Folder,
    file: &str,
    last: u64,
) -> Result<Option<(RangeInclusive<u64>, Links)>, Error> {
    let mut follower = Follower::default();
    let add = |batch: &RecordBatch| {
        let heights = read::heights(batch).ok()?;
        let count = heights.iter().take_while(|height| height.is_some_and(|height| height <= last));
        follower.add(&batch.slice(0, count.count())).ok()
    };
    let read = folder.read(file, Follower::COLUMNS, add)?;
    Ok(read.and_then(|()| follower.blocks()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BinaryArray, UInt64Array};

    use super::*;

    /// The hashing blob of a block after another one.
    fn blob(previous: Hash) -> Vec<u8> {
        [&[16, 16, 5][..], &previous, &[1, 2, 3, 4], &[5; 32], &[1]].concat()
    }

    fn id(blob: &[u8]) -> Hash {
        HashingBlob::parse(blob).expect("a blob").id()
    }

    /// Returns the links of rows, read one at a time.
    fn links(rows: &[(Option<u64>, &[u8])]) -> Option<Links> {
        let mut follower = Follower::default();
        for (height, blob) in rows {
            let height = Arc::new(UInt64Array::from(vec![*height])) as _;
            let blob = Arc::new(BinaryArray::from_vec(vec![*blob])) as _;
            let batch = RecordBatch::try_from_iter([("height", height), ("hashing_blob", blob)]);
            follower.add(&batch.expect("a batch")).expect("columns");
        }
        follower.links()
    }

    #[test]
    fn blocks_that_follow_each_other_have_links() {
        let first = blob([9; 32]);
        let second = blob(id(&first));
        let expected = Links { previous: [9; 32], last: id(&second) };
        assert_eq!(links(&[(Some(5), &first), (Some(6), &second)]), Some(expected));
        assert_eq!(links(&[]), None);
        for rows in [
            [(Some(5), &first[..]), (Some(7), &second)],
            [(Some(6), &second), (Some(5), &first)],
            [(Some(5), &first), (Some(6), &first)],
            [(Some(5), &first), (None, &second)],
            [(Some(5), &first), (Some(6), &[7])],
        ] {
            assert_eq!(links(&rows), None);
            assert_eq!(links(&[rows[0], rows[1], (Some(6), &second)]), None);
        }
    }
}
