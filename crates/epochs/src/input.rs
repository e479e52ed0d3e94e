//! Where the rows come from.

mod fields;
mod footer;
mod hashing;
mod lines;
mod longest;
mod page_header;
mod pages;
mod pieces;
mod reasons;
pub(crate) mod results;
mod table_files;
mod thrift;
mod types;

use std::fs;
use std::path::{self, Path, PathBuf};

use randomx_arrow::read;
use randomx_monero::Network;
use serde::{Deserialize, Serialize};

use crate::epoch::{Epoch, label};
use crate::error::Error;
use crate::storage::Storage;
use crate::task::{Take, Task};
use lines::Lines;
use pieces::{Found, Piece, Pieces};
pub(crate) use reasons::name_lines;
use table_files::TableFiles;

/// The memory that the rows of an epoch take on their way, unless a file needs more: two batches, a
/// group of rows that is written, and the pages from which rows are read.
pub const ROWS: usize = 64 << 20;

/// The bytes of rows that are read at a time. The size of batches depends on the input alone, so that
/// the same input gives the same files.
const BATCH_BYTES: usize = 16 << 20;

/// The most rows that are read at a time.
const BATCH_ROWS: usize = 4096;

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A Parquet file, or a folder of them.
    Parquet,
    /// A file of JSON lines.
    Lines,
}

/// An input of files.
pub struct Input {
    path: PathBuf,
    files: Files,
    /// The rows that a range leaves out because they have no height.
    left_out: u64,
}

enum Files {
    Tables(TableFiles),
    Lines(Lines),
}

/// The rows of a task in an input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rows {
    path: PathBuf,
    epoch: Epoch,
    count: u64,
    places: Places,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Places {
    Tables(table_files::Places),
    Lines(lines::Places),
}

impl Input {
    /// Opens an input. The rows of an epoch may take `most` bytes of memory, [`ROWS`] or more.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(
        storage: &dyn Storage,
        path: &Path,
        format: Format,
        most: usize,
    ) -> Result<Input, Error> {
        let files = match format {
            Format::Parquet => Files::Tables(TableFiles::open(storage, path, most)?),
            Format::Lines => Files::Lines(Lines::open(storage, path)?),
        };
        Ok(Input { path: path.to_owned(), files, left_out: 0 })
    }

    /// Refuses an output in the input's folder: later runs would find a subfolder in the input. Names of folders in
    /// other storages do not say whether these are the same.
    ///
    /// # Errors
    ///
    /// If the output is in the input's folder.
    pub fn check_output(
        &self,
        reads: &dyn Storage,
        writes: &dyn Storage,
        output: &Path,
    ) -> Result<(), Error> {
        if !(reads.is_local() && writes.is_local()) {
            return Ok(());
        }
        let inside = resolve(output).zip(resolve(&self.path)).and_then(|(output, input)| {
            let inside = output.strip_prefix(input).ok()?;
            Some(inside.components().next()?.as_os_str().to_owned())
        });
        if inside.is_some_and(|name| !table_files::is_ignored(&name)) {
            let (output, input) = (output.to_owned(), self.path.clone());
            return Err(Error::OutputInInput { output, input });
        }
        Ok(())
    }

    /// Finds the epochs of a range of heights, and the rows of each. Without a range, these are all
    /// rows. A range has no rows without a height.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, its rows take too much memory or are in no order, or it has none of
    /// the range.
    pub fn plan(
        &mut self,
        storage: &dyn Storage,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<Vec<(Task, Rows)>, Error> {
        let pieces = Pieces::new(from, to);
        let Found { epochs, left_out } = match &mut self.files {
            Files::Tables(files) => files.scan(storage, pieces)?,
            Files::Lines(lines) => lines.scan(storage, pieces)?,
        };
        self.left_out = left_out;
        if epochs.is_empty() {
            return Err(Error::NoRows { path: self.path.clone(), range: describe(from, to) });
        }
        let files = &self.files;
        let task = |(epoch, (rows, pieces)): (Epoch, (u64, Vec<Piece>))| {
            let heights = epoch.heights().map(|heights| {
                let first = from.unwrap_or(0).max(*heights.start());
                first..=to.unwrap_or(u64::MAX).min(*heights.end())
            });
            let label = heights.map_or_else(|| "all".to_owned(), |heights| label(&heights));
            let places = match files {
                Files::Tables(files) => Places::Tables(files.places(&pieces)),
                Files::Lines(lines) => Places::Lines(lines.places(epoch, pieces)),
            };
            let path = self.path.clone();
            (Task { epoch, rows, label }, Rows { path, epoch, count: rows, places })
        };
        Ok(epochs.into_iter().map(task).collect())
    }

    /// Returns the number of rows that a range leaves out because they have no height. It is complete
    /// after [`Input::plan`].
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the memory that the rows of an epoch take. It is complete after [`Input::plan`].
    pub fn memory(&self) -> usize {
        match &self.files {
            Files::Tables(files) => files.memory(),
            Files::Lines(_) => ROWS,
        }
    }

    /// Returns what distinguishes the input, as rows of a network, from others. It is complete after [`Input::plan`].
    pub fn name(&self, network: Network) -> String {
        let files = match &self.files {
            Files::Tables(files) => format!("Parquet files {}", files.fingerprint()),
            Files::Lines(lines) => format!("JSON lines {}", lines.fingerprint()),
        };
        match network {
            Network::Mainnet => files,
            // The network decides which blocks of earlier versions have no RandomX proof of work.
            network => format!("{files} of {network}"),
        }
    }
}

impl Rows {
    /// Reads the rows in batches.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or are not those that were planned; and those of `take`.
    pub fn read(&self, storage: &dyn Storage, take: Take<'_>) -> Result<(), Error> {
        let changed = || Error::Changed { path: self.path.clone() };
        let unusable = |problem| Error::Kernel { name: self.path.display().to_string(), problem };
        let mut count = 0;
        let take: Take<'_> = &mut |batch| {
            let heights = read::heights(batch).map_err(unusable)?;
            let seed_hashes = read::seed_hashes(batch).map_err(unusable)?;
            let mut rows = heights.into_iter().zip(seed_hashes);
            if !rows.all(|(height, seed_hash)| Epoch::of(height, seed_hash) == self.epoch) {
                return Err(changed());
            }
            count += batch.num_rows() as u64;
            take(batch)
        };
        match &self.places {
            Places::Tables(places) => places.read(storage, take),
            Places::Lines(places) => places.read(storage, take),
        }?;
        if count == self.count { Ok(()) } else { Err(changed()) }
    }
}

/// Returns the path of a folder without links. It may not exist yet.
fn resolve(path: &Path) -> Option<PathBuf> {
    let path = path::absolute(path).ok()?;
    let found = |ancestor: &Path| {
        let found = fs::canonicalize(ancestor).ok()?;
        Some(found.join(path.strip_prefix(ancestor).ok()?))
    };
    path.ancestors().find_map(found)
}

/// Describes a range of heights, after a noun.
fn describe(from: Option<u64>, to: Option<u64>) -> String {
    let from = from.map(|from| format!(" from height {from}")).unwrap_or_default();
    let to = to.map(|to| format!(" up to height {to}")).unwrap_or_default();
    from + &to
}
