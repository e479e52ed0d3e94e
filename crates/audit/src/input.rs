//! Where the rows come from.

mod lines;
mod pieces;
mod table_files;

use std::ops::RangeInclusive;

use arrow_array::RecordBatch;
use randomx_monero::MAX_HEIGHT;

use crate::args::AuditArgs;
use crate::chain::Chain;
use crate::epoch::Epoch;
use crate::error::Error;
use crate::remote::Remote;
use crate::table;
use lines::Lines;
use pieces::{Piece, Pieces};
use table_files::TableFiles;

/// The bytes of rows that are read at a time. The size of batches depends on the input alone, so that
/// the same input gives the same files.
const BATCH_BYTES: usize = 16 << 20;

/// The most rows that are read at a time.
const BATCH_ROWS: usize = 4096;

/// An input.
pub(crate) enum Input {
    Files(TableFiles),
    Lines(Lines),
    Remote(Remote),
    Store(Chain),
}

/// The rows of an epoch.
pub(crate) struct Task {
    pub(crate) epoch: Epoch,
    pub(crate) rows: u64,
    /// What distinguishes the task from others of the same epoch and input.
    pub(crate) label: String,
    part: Part,
}

/// Where a task's rows are.
enum Part {
    Heights(RangeInclusive<u64>),
    Pieces(Vec<Piece>),
}

impl Input {
    /// Opens the input that the arguments name.
    pub(crate) fn open(args: &AuditArgs) -> Result<Input, Error> {
        if let Some(path) = &args.parquet {
            return Ok(Input::Files(TableFiles::open(path)?));
        }
        if let Some(path) = &args.jsonl {
            return Ok(Input::Lines(Lines::open(path)?));
        }
        if let Some(folder) = &args.store {
            let chain = Chain::open(folder, args.chain.network, args.fixed_difficulty)?;
            return Ok(Input::Store(chain));
        }
        let remote = args.chain.remote();
        remote.map(Input::Remote).ok_or(Error::NoInput)
    }

    /// Finds the epochs of a range of heights. Without a range, these are all rows.
    pub(crate) fn plan(&mut self, from: Option<u64>, to: Option<u64>) -> Result<Vec<Task>, Error> {
        let pieces = match self {
            Input::Remote(remote) => return Ok(tasks(remote.range(from, to)?)),
            Input::Store(chain) => return Ok(tasks(chain.range(from, to)?)),
            Input::Files(files) => files.scan(Pieces::new(from, to))?,
            Input::Lines(lines) => lines.scan(Pieces::new(from, to))?,
        };
        let task = |(epoch, (rows, pieces)): (Epoch, (u64, Vec<Piece>))| {
            let heights = epoch.heights().map(|heights| {
                let first = from.unwrap_or(0).max(*heights.start());
                first..=to.unwrap_or(u64::MAX).min(*heights.end())
            });
            let label = heights.map_or_else(|| "all".to_owned(), |heights| label(&heights));
            Task { epoch, rows, label, part: Part::Pieces(pieces) }
        };
        Ok(pieces.into_iter().map(task).collect())
    }

    /// Returns what distinguishes the input from others. It is complete after [`Input::plan`].
    pub(crate) fn name(&self) -> String {
        match self {
            Input::Files(files) => format!("Parquet files {}", files.fingerprint()),
            Input::Lines(lines) => format!("JSON lines {}", lines.fingerprint()),
            Input::Remote(remote) => format!("the chain of {}", remote.network()),
            Input::Store(chain) => format!("a store of {}", chain.network()),
        }
    }

    /// Reads the rows of a task in batches.
    pub(crate) fn read(
        &self,
        task: &Task,
        take: &mut dyn FnMut(&RecordBatch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match (self, &task.part) {
            (Input::Files(files), Part::Pieces(pieces)) => files.read(pieces, take),
            (Input::Lines(lines), Part::Pieces(pieces)) => lines.read(pieces, take),
            (Input::Remote(remote), Part::Heights(heights)) => {
                take(&table::batch(&remote.blocks(heights.clone())?.rows)?)
            }
            (Input::Store(chain), Part::Heights(heights)) => {
                take(&table::batch(chain.blocks(heights))?)
            }
            (Input::Files(_) | Input::Lines(_), Part::Heights(_))
            | (Input::Remote(_) | Input::Store(_), Part::Pieces(_)) => Ok(()),
        }
    }
}

/// Returns the tasks of a range of blocks.
fn tasks(range: RangeInclusive<u64>) -> Vec<Task> {
    const { assert!(MAX_HEIGHT < u64::MAX) };
    let task = |(epoch, heights): (Epoch, RangeInclusive<u64>)| Task {
        epoch,
        rows: heights.end() - heights.start() + 1,
        label: label(&heights),
        part: Part::Heights(heights),
    };
    Epoch::within(range).into_iter().map(task).collect()
}

/// Returns what distinguishes blocks from others of their epoch.
pub(crate) fn label(heights: &RangeInclusive<u64>) -> String {
    format!("blocks {} to {}", heights.start(), heights.end())
}
