//! Checks that the epochs of a folder are of one chain: another run, perhaps with another node, may
//! have written some of them.

use std::iter;
use std::ops::RangeInclusive;
use std::path::Path;

use randomx_epochs::{Folder, Links};
use randomx_monero::Hash;

use crate::error::Error;
use crate::remote::parse;
use crate::table::{self, Row};

/// An epoch of a chain.
pub(crate) struct Part {
    /// The name of its file.
    pub(crate) file: String,
    pub(crate) heights: RangeInclusive<u64>,
    /// The links of its blocks, if it is done.
    pub(crate) links: Option<Links>,
    /// Of the file that is to be replaced by one with more blocks: the height of its first block, and the id of the
    /// block before that.
    pub(crate) previous: Option<(u64, Hash)>,
}

/// Checks the epochs that earlier runs have done, before others are added to them: those that follow each
/// other must be linked, and the input must have the last block of each sequence. Its id depends on all
/// blocks before it.
pub(crate) fn check_earlier(
    folder: &Path,
    parts: &[Part],
    id: impl Fn(u64) -> Result<Hash, Error>,
) -> Result<(), Error> {
    check(parts)?;
    for (index, part) in parts.iter().enumerate() {
        let Some(links) = &part.links else { continue };
        if parts.get(index + 1).is_some_and(|next| next.links.is_some()) {
            continue;
        }
        let height = *part.heights.end();
        let found = id(height)?;
        if found != links.last {
            return Err(Error::OtherChain {
                folder: folder.to_owned(),
                file: part.file.clone(),
                height,
                expected: hex::encode(links.last),
                got: hex::encode(found),
            });
        }
    }
    Ok(())
}

/// Checks that the input has the difficulties of the epochs that earlier runs have done. The ids of blocks do not depend on
/// them, and verdicts do.
pub(crate) fn check_difficulties(
    (folder, path): (&Folder, &Path),
    parts: &[Part],
    difficulties: impl Fn(&RangeInclusive<u64>) -> Result<Vec<u128>, Error>,
) -> Result<(), Error> {
    for Part { file, heights, .. } in parts.iter().filter(|part| part.links.is_some()) {
        let held = randomx_epochs::difficulties(folder, file, heights)?.unwrap_or_default();
        let held = held.into_iter().chain(iter::repeat(None));
        for ((height, got), expected) in heights.clone().zip(difficulties(heights)?).zip(held) {
            if expected != table::kept(got) {
                let (folder, file) = (path.to_owned(), file.clone());
                let expected = expected.map_or_else(|| "none".to_owned(), |held| held.to_string());
                return Err(Error::OtherDifficulty { folder, file, height, expected, got });
            }
        }
    }
    Ok(())
}

/// Checks that blocks are of the chain of the file that they replace, given the height of its first block, and the id of
/// the block before that. The file's last blocks may have been reorganised since, but not those before its first one.
pub(crate) fn check_previous(
    rows: &[Row],
    &(first, expected): &(u64, Hash),
    (folder, file): (&Path, &str),
) -> Result<(), Error> {
    let Some(row) = rows.iter().find(|row| row.height == first) else { return Ok(()) };
    let got = parse(first, &row.hashing_blob)?.header.previous_id;
    if got == expected {
        return Ok(());
    }
    Err(Error::OtherStart {
        folder: folder.to_owned(),
        file: file.to_owned(),
        height: first.saturating_sub(1),
        expected: hex::encode(expected),
        got: hex::encode(got),
    })
}

/// Checks that all epochs which are done follow each other.
pub(crate) fn check(parts: &[Part]) -> Result<(), Error> {
    for pair in parts.windows(2) {
        let [before, after] = pair else { continue };
        let (Some(links), Some(next)) = (&before.links, &after.links) else { continue };
        if links.last != next.previous {
            return Err(Error::Unlinked {
                height: *after.heights.start(),
                expected: hex::encode(links.last),
                got: hex::encode(next.previous),
                advice: format!(
                    "remove {} and {}, and run the command again",
                    before.file, after.file
                ),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Epochs of ten blocks from the links of those that are done.
    fn parts(links: &[Option<(u8, u8)>]) -> Vec<Part> {
        let part = |(index, links): (u64, &Option<(u8, u8)>)| Part {
            file: index.to_string(),
            heights: 10 * index..=10 * index + 9,
            links: links
                .map(|(previous, last)| Links { previous: [previous; 32], last: [last; 32] }),
            previous: None,
        };
        (0..).zip(links).map(part).collect()
    }

    #[test]
    fn the_last_block_of_each_sequence_is_compared() {
        let parts = parts(&[Some((0, 1)), Some((1, 2)), None, Some((3, 4)), None, Some((5, 6))]);
        let asked = RefCell::new(Vec::new());
        let honest = |height| {
            asked.borrow_mut().push(height);
            Ok([(height / 10) as u8 + 1; 32])
        };
        check_earlier(Path::new("x"), &parts, honest).expect("one chain");
        assert_eq!(*asked.borrow(), [19, 39, 59]);
        let other = |height| Ok([if height == 39 { 9 } else { (height / 10) as u8 + 1 }; 32]);
        let refused = check_earlier(Path::new("x"), &parts, other);
        assert!(matches!(refused, Err(Error::OtherChain { file, height: 39, .. }) if file == "3"));
    }

    #[test]
    fn neighbours_must_be_linked() {
        check(&parts(&[Some((0, 1)), Some((1, 2)), None, Some((9, 9))])).expect("one chain");
        let refused = check(&parts(&[Some((0, 1)), Some((7, 2))]));
        assert!(matches!(refused, Err(Error::Unlinked { height: 10, .. })));
    }
}
