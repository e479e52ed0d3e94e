//! Where the rows come from.

use std::ops::RangeInclusive;
use std::path::Path;

use randomx_epochs::{Epoch, Format, Local, ROWS, Rows, Take, Task, label};
use randomx_monero::{Hash, MAX_HEIGHT, Network};

use crate::args::AuditArgs;
use crate::chain::Chain;
use crate::error::Error;
use crate::remote::Remote;
use crate::table::{self, Row};

/// Finds the id of the block at a height.
pub(crate) type Ids<'a> = Box<dyn Fn(u64) -> Result<Hash, Error> + 'a>;

/// An input.
pub(crate) enum Input {
    Files(randomx_epochs::Input, Network),
    Remote(Remote),
    Store(Chain),
}

/// An epoch to audit, and where its rows are.
pub(crate) struct Job {
    pub(crate) task: Task,
    part: Part,
}

/// Where a task's rows are.
enum Part {
    Heights(RangeInclusive<u64>),
    Rows(Rows),
}

impl Job {
    /// Returns the heights of the blocks, if the input is a chain.
    pub(crate) fn heights(&self) -> Option<&RangeInclusive<u64>> {
        match &self.part {
            Part::Heights(heights) => Some(heights),
            Part::Rows(_) => None,
        }
    }
}

impl Input {
    /// Opens the input that the arguments name. The rows of an epoch may take `most` bytes of memory.
    pub(crate) fn open(args: &AuditArgs, most: usize) -> Result<Input, Error> {
        let files = |path: &Path, format| {
            let input = randomx_epochs::Input::open(&Local, path, format, most)?;
            Ok(Input::Files(input, args.chain.network))
        };
        if let Some(path) = &args.parquet {
            return files(path, Format::Parquet);
        }
        if let Some(path) = &args.jsonl {
            return files(path, Format::Lines);
        }
        if let Some(folder) = &args.store {
            let chain = Chain::open(folder, args.chain.network, args.fixed_difficulty)?;
            return Ok(Input::Store(chain));
        }
        let remote = args.chain.remote()?;
        remote.map(Input::Remote).ok_or(Error::NoInput)
    }

    /// Refuses an output in the folder of input files.
    pub(crate) fn check_output(&self, output: &Path) -> Result<(), Error> {
        match self {
            Input::Files(files, _) => Ok(files.check_output(&Local, &Local, output)?),
            Input::Remote(_) | Input::Store(_) => Ok(()),
        }
    }

    /// Finds the epochs of a range of heights. Without a range, these are all rows.
    pub(crate) fn plan(&mut self, from: Option<u64>, to: Option<u64>) -> Result<Vec<Job>, Error> {
        match self {
            Input::Remote(remote) => Ok(jobs(remote.range(from, to)?)),
            Input::Store(chain) => Ok(jobs(chain.range(from, to)?)),
            Input::Files(files, _) => {
                let job = |(task, rows)| Job { task, part: Part::Rows(rows) };
                Ok(files.plan(&Local, from, to)?.into_iter().map(job).collect())
            }
        }
    }

    /// Whether a source stated the first difficulties, perhaps too high. Those that a node or relay reports are trusted.
    pub(crate) fn is_stated(&self) -> bool {
        match self {
            Input::Store(chain) => chain.is_stated(),
            Input::Files(..) | Input::Remote(_) => false,
        }
    }

    /// Returns the number of rows that a range leaves out because they have no height. It is complete after
    /// [`Input::plan`].
    pub(crate) fn left_out(&self) -> u64 {
        match self {
            Input::Files(files, _) => files.left_out(),
            Input::Remote(_) | Input::Store(_) => 0,
        }
    }

    /// Explains why the input's results cannot be written. A store no longer has the blocks that an earlier run began
    /// with.
    pub(crate) fn explain(&self, problem: randomx_epochs::Error) -> Error {
        match (self, problem) {
            (Input::Store(chain), problem @ randomx_epochs::Error::MoreBlocks { .. }) => {
                match chain.first() {
                    Some(first) => Error::Forgotten { problem, first },
                    None => problem.into(),
                }
            }
            (_, problem) => problem.into(),
        }
    }

    /// Returns what distinguishes the input from others. It is complete after [`Input::plan`].
    pub(crate) fn name(&self) -> String {
        match self {
            Input::Files(files, network) => files.name(*network),
            Input::Remote(remote) => format!("the chain of {}", remote.network()),
            Input::Store(chain) => format!("a store of {}", chain.network()),
        }
    }

    /// Returns the memory that the rows of an epoch take. It is complete after [`Input::plan`].
    pub(crate) fn memory(&self) -> usize {
        match self {
            Input::Files(files, _) => files.memory(),
            Input::Remote(_) | Input::Store(_) => ROWS,
        }
    }

    /// Returns what finds the id of a block, if the input is a chain. Files may have any rows.
    pub(crate) fn ids(&self) -> Option<Ids<'_>> {
        match self {
            Input::Files(..) => None,
            Input::Remote(remote) => Some(Box::new(|height| remote.id(height))),
            Input::Store(chain) => Some(Box::new(|height| chain.id(height))),
        }
    }

    /// Returns the difficulties of a chain's blocks as the input has them now.
    pub(crate) fn difficulties(&self, heights: &RangeInclusive<u64>) -> Result<Vec<u128>, Error> {
        match self {
            // Files have no heights of their own.
            Input::Files(..) => Ok(Vec::new()),
            Input::Remote(remote) => remote.difficulties_of(heights),
            Input::Store(chain) => {
                Ok(chain.blocks(heights).iter().map(|row| row.difficulty).collect())
            }
        }
    }

    /// Returns why rows could not be read, if another error stands for that.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        match self {
            Input::Remote(remote) => remote.take_failure(),
            Input::Files(..) | Input::Store(_) => None,
        }
    }

    /// Reads the rows of a task in batches. Those of a chain come at once, after `check` has accepted them.
    pub(crate) fn read(
        &self,
        job: &Job,
        check: impl Fn(&[Row]) -> Result<(), Error>,
        take: Take<'_>,
    ) -> Result<(), Error> {
        match (self, &job.part) {
            (_, Part::Rows(rows)) => rows.read(&Local, take)?,
            (Input::Remote(remote), Part::Heights(heights)) => {
                let rows = remote.blocks_in_turn(heights.clone())?.rows;
                check(&rows)?;
                take(&table::batch(&rows)?)?;
            }
            (Input::Store(chain), Part::Heights(heights)) => {
                let rows = chain.blocks(heights);
                check(rows)?;
                take(&table::batch(rows)?)?;
            }
            // Files have no heights of their own.
            (Input::Files(..), Part::Heights(_)) => {}
        }
        Ok(())
    }
}

/// Returns the tasks of a range of blocks.
fn jobs(range: RangeInclusive<u64>) -> Vec<Job> {
    const { assert!(MAX_HEIGHT < u64::MAX) };
    let job = |(epoch, heights): (Epoch, RangeInclusive<u64>)| {
        let rows = heights.end() - heights.start() + 1;
        let task = Task { epoch, rows, label: label(&heights) };
        Job { task, part: Part::Heights(heights) }
    };
    Epoch::within(range).into_iter().map(job).collect()
}
