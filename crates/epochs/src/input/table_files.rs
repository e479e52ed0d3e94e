//! Parquet files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use randomx_arrow::{KernelError, read};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::pieces::{Piece, Pieces};
use super::{BATCH_BYTES, BATCH_ROWS};
use crate::audit::Take;
use crate::epoch::Epoch;
use crate::error::Error;
use crate::storage::{Chunks, Storage};

/// The columns that say which epoch a row belongs to.
const PLACE: [&str; 2] = ["height", SEED_HASH];
const SEED_HASH: &str = "seed_hash";

/// The rows that are read at a time to find the epochs.
const SCANNED: usize = 1 << 16;

/// The longest description of a file's contents that is read.
const MAX_FOOTER: u64 = 256 << 20;

/// Parquet files, in the order of their names.
pub(super) struct TableFiles {
    files: Vec<TableFile>,
}

/// The rows of an epoch: files, and the pieces in each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Places(Vec<(TableFile, Vec<Piece>)>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct TableFile {
    path: PathBuf,
    /// The hash of the description of the file's contents.
    fingerprint: [u8; 32],
}

impl TableFiles {
    /// Opens a file, or the files of a folder.
    pub(super) fn open(storage: &dyn Storage, path: &Path) -> Result<TableFiles, Error> {
        let fail = |problem| Error::Read { path: path.to_owned(), problem };
        let mut paths = vec![path.to_owned()];
        if let Some(names) = storage.list(path).map_err(fail)? {
            paths =
                names.iter().map(|name| path.join(name)).filter(|path| is_table(path)).collect();
            paths.sort();
        }
        if paths.is_empty() {
            return Err(Error::NoFiles { path: path.to_owned() });
        }
        let open = |path: PathBuf| TableFile::open(storage, path);
        let files = paths.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(TableFiles { files })
    }

    /// Returns a hash of what all files contain, as far as their own descriptions say.
    pub(super) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        self.files.iter().for_each(|file| hash.update(file.fingerprint));
        hex::encode(hash.finalize())
    }

    /// Finds the epochs of all rows.
    pub(super) fn scan(
        &self,
        storage: &dyn Storage,
        mut pieces: Pieces,
    ) -> Result<BTreeMap<Epoch, (u64, Vec<Piece>)>, Error> {
        for (number, file) in (0..).zip(&self.files) {
            let builder = file.builder(storage)?;
            // Without columns to read, the number of rows would be only what the file says.
            if builder.schema().column_with_name(SEED_HASH).is_none() {
                let problem = KernelError::Missing { name: SEED_HASH };
                return Err(Error::Kernel { name: file.path.display().to_string(), problem });
            }
            let mask = ProjectionMask::columns(builder.parquet_schema(), PLACE);
            let reader = builder.with_projection(mask).with_batch_size(SCANNED).build();
            let mut row = 0;
            for batch in reader.map_err(|problem| file.parquet(problem))? {
                let batch = batch.map_err(|problem| file.arrow(problem))?;
                let name = || file.path.display().to_string();
                let unusable = |problem| Error::Kernel { name: name(), problem };
                let heights = read::heights(&batch).map_err(unusable)?;
                let seed_hashes = read::seed_hashes(&batch).map_err(unusable)?;
                for (height, seed_hash) in heights.into_iter().zip(seed_hashes) {
                    let place = Piece { file: number, start: row, end: row + 1, row };
                    pieces.add(height, Epoch::of(height, seed_hash), place, &file.path)?;
                    row += 1;
                }
            }
        }
        Ok(pieces.into_epochs())
    }

    /// Returns the rows of an epoch.
    pub(super) fn places(&self, pieces: &[Piece]) -> Places {
        let of_file = |pieces: &[Piece]| {
            let file = self.files.get(pieces.first()?.file as usize)?;
            Some((file.clone(), pieces.to_vec()))
        };
        Places(pieces.chunk_by(|a, b| a.file == b.file).filter_map(of_file).collect())
    }
}

impl Places {
    /// Reads the rows.
    pub(super) fn read(&self, storage: &dyn Storage, take: Take<'_>) -> Result<(), Error> {
        for (file, pieces) in &self.0 {
            for batch in file.rows(storage, pieces)? {
                take(&batch.map_err(|problem| file.arrow(problem))?)?;
            }
        }
        Ok(())
    }
}

impl TableFile {
    fn open(storage: &dyn Storage, path: PathBuf) -> Result<TableFile, Error> {
        let read = || fingerprint(&Chunks::open(storage, &path)?);
        let fingerprint = read().map_err(|problem| Error::Read { path: path.clone(), problem })?;
        Ok(TableFile { path, fingerprint })
    }

    fn parquet(&self, problem: ParquetError) -> Error {
        Error::Parquet { path: self.path.clone(), problem }
    }

    fn arrow(&self, problem: ArrowError) -> Error {
        Error::Arrow { path: self.path.clone(), problem }
    }

    /// Opens the file again, which must not have changed.
    fn builder(
        &self,
        storage: &dyn Storage,
    ) -> Result<ParquetRecordBatchReaderBuilder<Chunks>, Error> {
        let fail = |problem| Error::Read { path: self.path.clone(), problem };
        let file = Chunks::open(storage, &self.path).map_err(fail)?;
        if fingerprint(&file).map_err(fail)? != self.fingerprint {
            return Err(Error::Changed { path: self.path.clone() });
        }
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata =
            ArrowReaderMetadata::load(&file, options).map_err(|problem| self.parquet(problem))?;
        Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata))
    }

    /// Begins to read rows. Row groups without any of them are left out.
    fn rows(
        &self,
        storage: &dyn Storage,
        pieces: &[Piece],
    ) -> Result<ParquetRecordBatchReader, Error> {
        let builder = self.builder(storage)?;
        let groups = builder.metadata().row_groups();
        let sizes = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        let (chosen, ranges, rows) = choose(sizes, pieces);
        let bytes: i64 = chosen.iter().map(|&index| groups[index].total_byte_size().max(0)).sum();
        let row_bytes = (bytes as usize / rows.max(1)).max(1);
        let selection = RowSelection::from_consecutive_ranges(ranges.into_iter(), rows);
        let builder = builder.with_row_groups(chosen).with_row_selection(selection);
        let builder = builder.with_batch_size((BATCH_BYTES / row_bytes).clamp(1, BATCH_ROWS));
        builder.build().map_err(|problem| self.parquet(problem))
    }
}

/// Returns the groups that have rows of the pieces, the positions of these rows in those groups
/// together, and the number of rows of those groups.
fn choose(
    sizes: impl Iterator<Item = u64>,
    mut pieces: &[Piece],
) -> (Vec<usize>, Vec<std::ops::Range<usize>>, usize) {
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

fn is_table(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && path.extension().is_some_and(|extension| extension == "parquet")
}

/// Returns the hash of a file's footer: its schema, and the sizes, places and statistics of its columns.
fn fingerprint(file: &Chunks) -> io::Result<[u8; 32]> {
    let mut end = [0; 8];
    let before = file.size.saturating_sub(end.len() as u64);
    // A shorter file is not Parquet, which its reader reports.
    if before > 0 {
        file.file.read_at(before, &mut end)?;
    }
    let [a, b, c, d, ..] = end;
    let length = u64::from(u32::from_le_bytes([a, b, c, d])).min(MAX_FOOTER).min(before);
    let mut footer = vec![0; length as usize];
    file.file.read_at(before - length, &mut footer)?;
    Ok(Sha256::digest(&footer).into())
}

#[cfg(test)]
mod tests {
    use super::*;

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
