//! The parts of files that belong to each epoch.

use std::collections::BTreeMap;
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
    most: usize,
    most_epochs: usize,
}

impl Pieces {
    /// Keeps the rows of these heights; without them, all rows.
    pub(super) fn new(from: Option<u64>, to: Option<u64>) -> Pieces {
        Pieces { from, to, found: Found::default(), count: 0, most: MOST, most_epochs: MOST_EPOCHS }
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
            _ => {
                pieces.push(place);
                self.count += 1;
            }
        }
        Ok(true)
    }

    /// Returns the pieces of all rows.
    pub(super) fn into_found(self) -> Found {
        self.found
    }
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
        add(&mut pieces, 5, row(1, 5)).expect("few pieces");
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
}
