//! The parts of files that belong to each epoch.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::epoch::Epoch;
use crate::error::Error;

/// The most pieces, which take 32 MiB. A file that is sorted by height has one for each epoch.
const MOST: usize = 1 << 20;

/// The most epochs. Each takes some 500 bytes, and an entry in the summary.
const MOST_EPOCHS: usize = 1 << 16;

/// Rows that follow each other in a file and belong to one epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) file: u32,
    /// Where the piece starts and ends: rows of a table, bytes of a text.
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of the first row in its file, from 0.
    pub(super) row: u64,
}

/// The pieces of all rows.
#[derive(Default)]
pub(super) struct Found {
    /// The number of rows and the pieces of each epoch.
    pub(super) epochs: BTreeMap<Epoch, (u64, Vec<Piece>)>,
    /// The number of rows that are not in the range because they have no height.
    pub(super) left_out: u64,
}

/// Collects pieces while the rows of files are read in order.
pub(super) struct Pieces {
    from: Option<u64>,
    to: Option<u64>,
    found: Found,
    count: usize,
    /// The last file in which rows of an epoch do not follow each other.
    scattered: Option<u32>,
    most: usize,
    most_epochs: usize,
}

impl Pieces {
    /// Keeps the rows of these heights; without them, all rows.
    pub(super) fn new(from: Option<u64>, to: Option<u64>) -> Pieces {
        let found = Found::default();
        Pieces { from, to, found, count: 0, scattered: None, most: MOST, most_epochs: MOST_EPOCHS }
    }

    /// Adds a row of a height and an epoch. Returns whether it is in the range.
    pub(super) fn add(
        &mut self,
        height: Option<u64>,
        epoch: Epoch,
        place: Piece,
        path: &Path,
    ) -> Result<bool, Error> {
        let first = self.from.is_none_or(|from| height.is_some_and(|height| height >= from));
        let last = self.to.is_none_or(|to| height.is_some_and(|height| height <= to));
        let Found { epochs, left_out } = &mut self.found;
        if !first || !last {
            *left_out += u64::from(height.is_none());
            return Ok(false);
        }
        if epochs.len() == self.most_epochs && !epochs.contains_key(&epoch) {
            return Err(Error::Epochs { path: path.to_owned(), most: self.most_epochs });
        }
        let (rows, pieces) = epochs.entry(epoch).or_default();
        *rows += 1;
        match pieces.last_mut() {
            Some(piece) if piece.file == place.file && piece.end == place.start => {
                piece.end = place.end;
            }
            _ if self.count == self.most => {
                return Err(Error::Scattered { path: path.to_owned(), most: self.most });
            }
            last => {
                if last.is_some_and(|piece| piece.file == place.file) {
                    self.scattered = Some(place.file);
                }
                pieces.push(place);
                self.count += 1;
            }
        }
        Ok(true)
    }

    /// Whether rows of an epoch do not follow each other in a file, the last one whose rows were added.
    pub(super) fn are_scattered(&self, file: u32) -> bool {
        self.scattered == Some(file)
    }

    /// Returns the pieces of all rows.
    pub(super) fn into_found(self) -> Found {
        self.found
    }
}

/// Returns the groups that have rows of the pieces, the positions of these rows in those groups
/// together, and the number of rows of those groups.
pub(super) fn choose(
    sizes: impl Iterator<Item = u64>,
    mut pieces: &[Piece],
) -> (Vec<usize>, Vec<Range<usize>>, usize) {
    let (mut chosen, mut ranges) = (Vec::new(), Vec::new());
    let (mut start, mut before) = (0, 0_u64);
    for (index, size) in sizes.enumerate() {
        let end = start + size;
        let first = ranges.len();
        for piece in pieces {
            let (from, to) = (piece.start.max(start), piece.end.min(end));
            if from >= to {
                break;
            }
            ranges.push((from - start + before) as usize..(to - start + before) as usize);
        }
        let ended = pieces.iter().take_while(|piece| piece.end <= end).count();
        pieces = pieces.get(ended..).unwrap_or_default();
        if ranges.len() > first {
            chosen.push(index);
            before += size;
        }
        start = end;
    }
    (chosen, ranges, before as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: u32, row: u64) -> Piece {
        Piece { file, start: row, end: row + 1, row }
    }

    fn add(pieces: &mut Pieces, height: u64, place: Piece) -> Result<bool, Error> {
        pieces.add(Some(height), Epoch::of_height(height), place, Path::new("x"))
    }

    #[test]
    fn rows_of_an_epoch_that_follow_each_other_are_one_piece() {
        let mut pieces = Pieces::new(None, None);
        for (at, height) in [1, 2, 3000, 3, 4].into_iter().enumerate() {
            add(&mut pieces, height, row(0, at as u64)).expect("few pieces");
        }
        assert!(pieces.are_scattered(0));
        add(&mut pieces, 5, row(1, 5)).expect("few pieces");
        assert!(!pieces.are_scattered(1));
        let Found { epochs, left_out } = pieces.into_found();
        assert_eq!(left_out, 0);
        let (rows, first) = &epochs[&Epoch::Height(0)];
        let places: Vec<_> =
            first.iter().map(|piece| (piece.file, piece.start, piece.end)).collect();
        assert_eq!((*rows, places), (5, vec![(0, 0, 2), (0, 3, 5), (1, 5, 6)]));
        assert_eq!(epochs[&Epoch::Height(2048)].0, 1);
    }

    #[test]
    fn a_range_leaves_out_other_rows_and_those_without_a_height() {
        let mut pieces = Pieces::new(Some(10), Some(20));
        for (at, height) in [9, 10, 20, 21].into_iter().enumerate() {
            add(&mut pieces, height, row(0, at as u64)).expect("few pieces");
        }
        pieces.add(None, Epoch::Unknown, row(0, 4), Path::new("x")).expect("few pieces");
        let Found { epochs, left_out } = pieces.into_found();
        assert_eq!((epochs.len(), left_out), (1, 1));
        assert_eq!(epochs[&Epoch::Height(0)], (2, vec![Piece { end: 3, ..row(0, 1) }]));
    }

    #[test]
    fn scattered_rows_are_an_error() {
        let mut pieces = Pieces { most: 3, ..Pieces::new(None, None) };
        for (at, height) in [1, 3000, 1].into_iter().enumerate() {
            add(&mut pieces, height, row(0, at as u64)).expect("few pieces");
        }
        add(&mut pieces, 1, row(0, 3)).expect("the same piece");
        assert!(matches!(add(&mut pieces, 3000, row(0, 4)), Err(Error::Scattered { most: 3, .. })));
    }

    #[test]
    fn many_epochs_are_an_error() {
        let mut pieces = Pieces { most_epochs: 2, ..Pieces::new(None, None) };
        for (at, height) in [1, 3000, 2, 3001].into_iter().enumerate() {
            add(&mut pieces, height, row(0, at as u64)).expect("two epochs");
        }
        assert!(matches!(add(&mut pieces, 9000, row(0, 4)), Err(Error::Epochs { most: 2, .. })));
    }

    fn piece(start: u64, end: u64) -> Piece {
        Piece { file: 0, start, end, row: start }
    }

    #[test]
    fn only_groups_with_rows_are_read() {
        let sizes = || [10, 10, 10, 10].into_iter();
        let (chosen, ranges, rows) = choose(sizes(), &[piece(12, 15)]);
        assert_eq!((chosen, rows), (vec![1], 10));
        assert!(ranges.iter().eq([&(2..5)]));
        let (chosen, ranges, rows) = choose(sizes(), &[piece(2, 3), piece(5, 12), piece(39, 40)]);
        assert_eq!((chosen, rows), (vec![0, 1, 3], 30));
        assert_eq!(ranges, [2..3, 5..10, 10..12, 29..30]);
        assert_eq!(choose(sizes(), &[piece(0, 40)]).1, [0..10, 10..20, 20..30, 30..40]);
        assert_eq!(choose(sizes(), &[]), (vec![], vec![], 0));
    }
}
