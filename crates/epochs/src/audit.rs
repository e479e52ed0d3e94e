//! The audit of one epoch, and the summary of all.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use randomx_arrow::{Kernel, Settings, read};
use randomx_monero::Network;
use serde::{Deserialize, Serialize};

use crate::epoch::Epoch;
use crate::error::Error;
use crate::folder::{Folder, NewFile};
use crate::links::{Follower, Links};
use crate::summary::{EpochSummary, Summary};

/// The key, in a file's metadata, of the summary of its epoch.
const SUMMARY: &str = "randomx.summary";

/// The name of the file with the summary of all epochs.
const SUMMARY_FILE: &str = "summary.json";

/// An epoch to audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The epoch.
    pub epoch: Epoch,
    /// The number of its rows.
    pub rows: u64,
    /// What distinguishes the task from others of the same epoch and input.
    pub label: String,
}

/// Takes the rows of a task, batch by batch.
pub type Take<'a> = &'a mut dyn FnMut(&RecordBatch) -> Result<(), Error>;

/// Returns a kernel for blocks of a network, which hashes on this many threads.
pub fn kernel(threads: usize, network: Network) -> Kernel {
    Kernel::new(Settings { blocks: Some(network), ..Settings::new(threads) })
}

/// Returns what a task found, if it is done.
///
/// # Errors
///
/// If the storage fails.
pub fn done(folder: &Folder, task: &Task) -> Result<Option<EpochSummary>, Error> {
    let json = folder.done(&task.epoch.file(), &task.label, SUMMARY)?;
    let summary = json.and_then(|json| serde_json::from_str(&json).ok());
    Ok(summary.filter(|summary: &EpochSummary| summary.counts.blocks == task.rows))
}

/// Returns the jobs whose tasks are not done.
///
/// # Errors
///
/// If the storage fails.
pub fn left<'a, J>(
    folder: &Folder,
    jobs: &'a [J],
    task: impl Fn(&J) -> &Task,
) -> Result<Vec<&'a J>, Error> {
    let mut left = Vec::new();
    for job in jobs {
        if done(folder, task(job))?.is_none() {
            left.push(job);
        }
    }
    Ok(left)
}

/// Returns what a task of a chain found, if it is done. Summaries of earlier versions have no links, so
/// these are computed from the rows.
///
/// # Errors
///
/// If the storage fails.
pub fn done_in_chain(folder: &Folder, task: &Task) -> Result<Option<EpochSummary>, Error> {
    let mut found = done(folder, task)?;
    if let Some(summary) = found.as_mut().filter(|summary| summary.links.is_none()) {
        summary.links = links(folder, task)?;
    }
    Ok(found)
}

/// Computes the links of a task's result.
fn links(folder: &Folder, task: &Task) -> Result<Option<Links>, Error> {
    let mut follower = Follower::default();
    let add = |batch: &RecordBatch| follower.add(batch).ok();
    let read = folder.read(&task.epoch.file(), Follower::COLUMNS, add)?;
    Ok(read.and_then(|()| follower.links()))
}

/// Verifies the rows of a task, which `read` sends, and writes the task's file. With `dataset` the
/// kernel hashes with the dataset of the first row's key. Any thread calls `verified` with the number
/// of rows that were just verified.
///
/// # Errors
///
/// If the rows cannot be read, a column is missing or has another type, there is no memory, or the
/// file cannot be written. There is no file then.
pub fn audit<E: From<Error>>(
    folder: &Folder,
    kernel: &mut Kernel,
    task: &Task,
    dataset: bool,
    read: impl FnOnce(Take<'_>) -> Result<(), E>,
    verified: impl Fn(u64) + Sync,
) -> Result<(), E> {
    let unusable = |problem| Error::Kernel { name: task.epoch.to_string(), problem };
    let mut summary = EpochSummary::new(task.epoch.file());
    let mut follower = Follower::default();
    let mut file: Option<NewFile> = None;
    read(&mut |batch| {
        let file = match &mut file {
            Some(file) => file,
            none => {
                // A folder that cannot be written ends the run before an epoch is hashed.
                let schema = Kernel::schema(batch.schema_ref()).map_err(unusable)?;
                let created = folder.create(task.epoch.file(), schema)?;
                if dataset {
                    prepare(kernel, batch).map_err(unusable)?;
                }
                none.insert(created)
            }
        };
        let hashed = AtomicU64::new(0);
        let count = |hashes| {
            hashed.fetch_add(hashes as u64, Ordering::Relaxed);
            verified(hashes as u64);
        };
        let result = kernel.verify_with(batch, count).map_err(unusable)?;
        verified(batch.num_rows() as u64 - hashed.into_inner());
        summary.add(&result).map_err(unusable)?;
        follower.add(batch).map_err(unusable)?;
        file.write(&result)
    })?;
    if let Some(file) = file {
        summary.links = follower.links();
        let json = serde_json::to_string(&summary).unwrap_or_default();
        file.finish(&task.label, SUMMARY, json)?;
    }
    Ok(())
}

/// Computes the dataset of the first key of a batch.
fn prepare(kernel: &mut Kernel, batch: &RecordBatch) -> Result<(), randomx_arrow::KernelError> {
    match read::seed_hashes(batch)?.into_iter().flatten().next() {
        Some(seed_hash) => kernel.prepare_dataset(&seed_hash),
        None => Ok(()),
    }
}

/// Sums up the files of all tasks, and writes the sum into the folder. `found` is [`done`], or
/// [`done_in_chain`].
///
/// # Errors
///
/// If a task is not done, the storage fails, or the summary cannot be written.
pub fn summarize<'a>(
    folder: &Folder,
    tasks: impl Iterator<Item = &'a Task>,
    found: impl Fn(&Folder, &Task) -> Result<Option<EpochSummary>, Error>,
) -> Result<Summary, Error> {
    let found = |task: &Task| {
        let gone = || Error::Gone { path: folder.path(&task.epoch.file()) };
        found(folder, task)?.ok_or_else(gone)
    };
    let summary = Summary::of(tasks.map(found))?;
    let mut json = serde_json::to_vec_pretty(&summary).unwrap_or_default();
    json.push(b'\n');
    folder.replace(SUMMARY_FILE, &json)?;
    Ok(summary)
}
