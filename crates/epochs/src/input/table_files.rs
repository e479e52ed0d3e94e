//! Parquet files.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Fields};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection, RowSelectionPolicy,
};
use parquet::errors::ParquetError;
use randomx_arrow::{KernelError, read};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::pages::{self, Columns, Measure, Needs};
use super::pieces::{Found, Piece, Pieces, choose};
use super::{BATCH_ROWS, ROWS, footer, types};
use crate::epoch::Epoch;
use crate::error::{Error, without_panic};
use crate::storage::{Chunks, Storage};
use crate::task::Take;

/// The columns that say which epoch a row belongs to.
const PLACE: [&str; 2] = ["height", SEED_HASH];
const SEED_HASH: &str = "seed_hash";

/// The rows that are read at a time to find the epochs.
const SCANNED: usize = 1 << 16;

/// The memory for rows besides pages: two batches, and a group of rows that is written.
const BATCHES: usize = ROWS - (8 << 20);

/// The memory for a column besides its pages: a decoder, and in the result a compressor and the hash table of a
/// dictionary.
const COLUMN: usize = 256 << 10;

/// Parquet files, in the order of their names.
pub(super) struct TableFiles {
    files: Vec<Arc<TableFile>>,
    /// The most memory that the rows of an epoch may take.
    most: usize,
    /// The memory that they take, once the files were scanned.
    memory: usize,
    /// Whether the files differ in the columns that may have nulls, once they were scanned.
    differ_in_nulls: bool,
    /// The hash of all files, once they were scanned.
    fingerprint: String,
}

/// The rows of an epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Places {
    /// Files, and the pieces in each.
    files: Vec<(Arc<TableFile>, Vec<Piece>)>,
    /// Whether all columns are read as columns with nulls: not all files allow them in the same ones.
    with_nulls: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TableFile {
    path: PathBuf,
    /// The hash of the file's footer.
    fingerprint: [u8; 32],
    /// The rows that are read at a time.
    batch: usize,
}

impl TableFiles {
    /// Opens a file, or the files of a folder.
    pub(super) fn open(
        storage: &dyn Storage,
        path: &Path,
        most: usize,
    ) -> Result<TableFiles, Error> {
        let fail = |problem| Error::Read { path: path.to_owned(), problem };
        let mut paths = vec![path.to_owned()];
        if let Some(names) = storage.list(path).map_err(fail)? {
            let (tables, mut others): (Vec<_>, Vec<_>) =
                names.iter().map(|name| path.join(name)).partition(|path| is_table(path));
            paths = tables;
            paths.sort();
            others.sort();
            others.into_iter().try_for_each(|other| check_other(storage, other))?;
        }
        if paths.is_empty() {
            return Err(Error::NoFiles { path: path.to_owned() });
        }
        let open = |path: PathBuf| TableFile::open(storage, path).map(Arc::new);
        let files = paths.into_iter().map(open).collect::<Result<_, _>>()?;
        let fingerprint = String::new();
        Ok(TableFiles { files, most, memory: ROWS, differ_in_nulls: false, fingerprint })
    }

    /// Returns the hash of all files.
    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the memory that the rows of an epoch take.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Finds the epochs of all rows.
    pub(super) fn scan(
        &mut self,
        storage: &dyn Storage,
        mut pieces: Pieces,
    ) -> Result<Found, Error> {
        let mut hash = Sha256::new();
        let mut first = None;
        for (number, file) in (0..).zip(&mut self.files) {
            let measured = file.measure(&file.reopen(storage)?, self.most, PLACE)?;
            let first = first.get_or_insert_with(|| (Arc::clone(file), measured.fields.clone()));
            let same = types::check_columns(&first.0.path, &first.1, &measured.fields);
            same.map_err(|problem| file.column(problem))?;
            self.differ_in_nulls |= types::differ_in_nulls(&first.1, &measured.fields);
            file.scan(storage, number, measured.scanned, &mut pieces)?;
            let mut needs = measured.needs;
            if pieces.are_scattered(number) {
                let batch = needs.batch(BATCH_ROWS);
                needs = needs.longer(file.longest(&file.reopen(storage)?, batch)?);
            }
            let memory = pages::check(&file.path, needs, measured.used, self.most)?;
            self.memory = self.memory.max(memory);
            hash.update(measured.content);
            let batch = needs.batch(BATCH_ROWS);
            *file = Arc::new(TableFile { batch, ..TableFile::clone(file) });
        }
        self.fingerprint = hex::encode(hash.finalize());
        Ok(pieces.into_found())
    }

    /// Returns the rows of an epoch.
    pub(super) fn places(&self, pieces: &[Piece]) -> Places {
        let of_file = |pieces: &[Piece]| {
            let file = self.files.get(pieces.first()?.file as usize)?;
            Some((Arc::clone(file), pieces.to_vec()))
        };
        let files = pieces.chunk_by(|a, b| a.file == b.file).filter_map(of_file).collect();
        Places { files, with_nulls: self.differ_in_nulls }
    }
}

impl Places {
    /// Reads the rows.
    pub(super) fn read(&self, storage: &dyn Storage, take: Take<'_>) -> Result<(), Error> {
        for (file, pieces) in &self.files {
            let opened = file.reopen(storage)?;
            let mut rows = file.guard(&opened, || file.rows(&opened, pieces))?;
            while let Some(batch) = file.guard(&opened, || file.next(&mut rows))? {
                let batch = if self.with_nulls {
                    types::with_nulls(batch).map_err(|problem| file.arrow(problem))?
                } else {
                    batch
                };
                take(&batch)?;
            }
        }
        Ok(())
    }
}

/// A file's columns and hash, and the memory needed to read it.
pub(super) struct Measured {
    /// The memory needed to read all columns.
    needs: Needs,
    /// The bytes that reading takes besides.
    used: usize,
    /// The rows that are read at a time of the scanned columns.
    pub(super) scanned: usize,
    /// The columns, as they are read.
    fields: Fields,
    /// The hash of the file.
    content: [u8; 32],
}

impl TableFile {
    fn open(storage: &dyn Storage, path: PathBuf) -> Result<TableFile, Error> {
        let file = Chunks::open(storage, &path);
        let file = file.map_err(|problem| Error::Read { path: path.clone(), problem })?;
        TableFile::of(&file, path)
    }

    /// Describes an open file.
    pub(super) fn of(file: &Chunks, path: PathBuf) -> Result<TableFile, Error> {
        let fingerprint = footer::fingerprint(file, &path)?;
        Ok(TableFile { path, fingerprint, batch: 1 })
    }

    fn parquet(&self, problem: ParquetError) -> Error {
        Error::Parquet { path: self.path.clone(), problem }
    }

    fn arrow(&self, problem: ArrowError) -> Error {
        Error::Arrow { path: self.path.clone(), problem }
    }

    fn column(&self, (column, problem): (String, String)) -> Error {
        Error::Column { path: self.path.clone(), column, problem }
    }

    /// Runs code of the Parquet reader, which reports failures of the storage like faults of the file.
    pub(super) fn guard<T>(
        &self,
        file: &Chunks,
        read: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let read = without_panic(&self.path, read);
        match file.take_failure() {
            Some(problem) => Err(Error::Read { path: self.path.clone(), problem }),
            None => read,
        }
    }

    /// Measures the memory for reading the file, and hashes the file. Fails if it takes more than `most` bytes.
    /// `scanned` names two columns that are read alone.
    pub(super) fn measure(
        &self,
        file: &Chunks,
        most: usize,
        scanned: [&str; 2],
    ) -> Result<Measured, Error> {
        footer::check(file, &self.path, most)?;
        let builder = self.guard(file, || self.builder(file))?;
        let metadata = builder.metadata();
        let columns = builder.parquet_schema().num_columns().saturating_mul(COLUMN);
        let used = BATCHES.saturating_add(metadata.memory_size()).saturating_add(columns);
        let measure = Measure { file, path: &self.path, used, most };
        let Columns { needs, content } = self.guard(file, || measure.columns(metadata))?;
        let sum = |needs: &mut dyn Iterator<Item = &(String, Needs)>| {
            needs.fold(Needs::default(), |sum, (_, needs)| sum.and(*needs))
        };
        let all = sum(&mut needs.iter());
        pages::check(&self.path, all, used, most)?;
        let scanned = sum(&mut needs.iter().filter(|(name, _)| scanned.contains(&name.as_str())));
        let scanned = scanned.batch(SCANNED);
        let fields = builder.schema().fields().clone();
        Ok(Measured { needs: all, used, scanned, fields, content })
    }

    /// Finds the epochs of the rows, which are read in batches of a size.
    fn scan(
        &self,
        storage: &dyn Storage,
        number: u32,
        size: usize,
        pieces: &mut Pieces,
    ) -> Result<(), Error> {
        let file = self.reopen(storage)?;
        let mut reader = self.guard(&file, || {
            let builder = self.builder(&file)?;
            // Without columns to read, the number of rows would be only what the file says.
            if builder.schema().column_with_name(SEED_HASH).is_none() {
                return Err(self.kernel(KernelError::Missing { name: SEED_HASH }));
            }
            self.columns(builder, PLACE, size)
        })?;
        let mut row = 0;
        while let Some(batch) = self.guard(&file, || self.next(&mut reader))? {
            let heights = read::heights(&batch).map_err(|problem| self.kernel(problem))?;
            let seed_hashes = read::seed_hashes(&batch).map_err(|problem| self.kernel(problem))?;
            for (height, seed_hash) in heights.into_iter().zip(seed_hashes) {
                let place = Piece { file: number, start: row, end: row + 1, row };
                pieces.add(height, Epoch::of(height, seed_hash), place, &self.path)?;
                row += 1;
            }
        }
        Ok(())
    }

    fn kernel(&self, problem: KernelError) -> Error {
        Error::Kernel { name: self.path.display().to_string(), problem }
    }

    /// Begins to read two columns in batches of a size.
    pub(super) fn columns(
        &self,
        builder: ParquetRecordBatchReaderBuilder<Chunks>,
        columns: [&str; 2],
        size: usize,
    ) -> Result<ParquetRecordBatchReader, Error> {
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns);
        self.select(builder, mask, size)
    }

    /// Begins to read some columns in batches of a size.
    pub(super) fn select(
        &self,
        builder: ParquetRecordBatchReaderBuilder<Chunks>,
        columns: ProjectionMask,
        size: usize,
    ) -> Result<ParquetRecordBatchReader, Error> {
        let reader = builder.with_projection(columns).with_batch_size(size).build();
        reader.map_err(|problem| self.parquet(problem))
    }

    pub(super) fn next(
        &self,
        reader: &mut ParquetRecordBatchReader,
    ) -> Result<Option<RecordBatch>, Error> {
        let batch = reader.next().transpose().map_err(|problem| self.arrow(problem))?;
        let checked = batch.as_ref().map_or(Ok(()), types::check);
        checked.map_err(|(column, problem)| self.column((column, problem.to_string())))?;
        Ok(batch)
    }

    /// Opens the file again, which must not have changed.
    fn reopen(&self, storage: &dyn Storage) -> Result<Chunks, Error> {
        let fail = |problem| Error::Read { path: self.path.clone(), problem };
        let file = Chunks::open(storage, &self.path).map_err(fail)?;
        if footer::fingerprint(&file, &self.path)? != self.fingerprint {
            return Err(Error::Changed { path: self.path.clone() });
        }
        Ok(file)
    }

    /// Begins to read an open file.
    pub(super) fn builder(
        &self,
        file: &Chunks,
    ) -> Result<ParquetRecordBatchReaderBuilder<Chunks>, Error> {
        // The index of pages is not read: its sizes and places are not those that were measured.
        let load = || {
            let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
            let readable = types::readable(metadata.schema(), metadata.parquet_schema());
            let Some(schema) = readable else { return Ok(metadata) };
            let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
            ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
        };
        let metadata = load().map_err(|problem| self.parquet(problem))?;
        Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata))
    }

    /// Begins to read rows. Row groups without any of them are left out.
    fn rows(&self, file: &Chunks, pieces: &[Piece]) -> Result<ParquetRecordBatchReader, Error> {
        let builder = self.builder(file)?;
        let groups = builder.metadata().row_groups();
        let sizes = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        let (chosen, ranges, rows) = choose(sizes, pieces);
        let selection = RowSelection::from_consecutive_ranges(ranges.into_iter(), rows);
        let builder = builder.with_row_groups(chosen).with_row_selection(selection);
        let builder = builder.with_batch_size(self.batch.clamp(1, BATCH_ROWS));
        // By default, rows between those of the pieces are sometimes decoded into the batch, too.
        let builder = builder.with_row_selection_policy(RowSelectionPolicy::Selectors);
        builder.build().map_err(|problem| self.parquet(problem))
    }
}

/// Whether a folder in the input is ignored. Names that begin with a dot or an underscore are those of programs' own
/// files.
pub(super) fn is_ignored(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(['.', '_'])
}

/// Refuses a subfolder, and a Parquet file with another name: their rows would be left out.
fn check_other(storage: &dyn Storage, path: PathBuf) -> Result<(), Error> {
    if path.file_name().is_some_and(is_ignored) {
        return Ok(());
    }
    let find = || -> io::Result<Option<Error>> {
        if storage.list(&path)?.is_some() {
            return Ok(Some(Error::Subfolder { path: path.clone() }));
        }
        let is_parquet = footer::is_parquet(&Chunks::open(storage, &path)?)?;
        Ok(is_parquet.then(|| Error::OtherName { path: path.clone() }))
    };
    match find() {
        Ok(refusal) => refusal.map_or(Ok(()), Err),
        Err(problem) => match problem.kind() {
            // A link without a file, a file that is gone, or a pipe.
            io::ErrorKind::NotFound | io::ErrorKind::InvalidInput => Ok(()),
            _ => Err(Error::Read { path, problem }),
        },
    }
}

fn is_table(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}
