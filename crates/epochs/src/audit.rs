//! The audit of one epoch, and the summary of all.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use randomx_arrow::{Kernel, KernelError, Settings, read};
use randomx_monero::{Hash, LATEST_VERSION, Network};

use crate::epoch::contains;
use crate::error::Error;
use crate::folder::{Folder, Held, RULES as RULES_KEY, State};
use crate::input::name_lines;
use crate::links::Follower;
use crate::new_file::NewFile;
use crate::summary::{EpochSummary, Summary};
use crate::task::{Take, Task};

/// The key, in a file's metadata, of the summary of its epoch.
const SUMMARY: &str = "randomx.summary";

/// The rules by which rows are judged. Raise the number when the same rows get other verdicts or reasons, as they do
/// when a release knows further versions of blocks: then results of earlier rules are computed again, and releases with
/// earlier rules refuse the new results.
pub const RULES: u32 = 2;

const _: () = assert!(LATEST_VERSION == 16, "raise RULES for blocks of further versions");

/// The name of the file with the summary of all epochs.
const SUMMARY_FILE: &str = "summary.json";

/// Returns a kernel for blocks of a network, which hashes on this many threads. `stated` is whether a source stated the
/// first difficulties, perhaps too high.
pub fn kernel(threads: usize, network: Network, stated: bool) -> Kernel {
    Kernel::new(Settings { blocks: Some(network), stated, ..Settings::new(threads) })
}

/// Returns what a task found, if it is done.
///
/// # Errors
///
/// If the storage fails, or the folder has the result of a release with later rules.
pub fn done(folder: &Folder, task: &Task) -> Result<Option<EpochSummary>, Error> {
    let Some(held) = folder.held(&task.epoch.file(), SUMMARY)? else { return Ok(None) };
    check_rules(folder, task, &held)?;
    Ok(found(task, &held))
}

/// Refuses the result of later rules, which earlier ones would replace.
fn check_rules(folder: &Folder, task: &Task, held: &Held) -> Result<(), Error> {
    match held.rules {
        Some(got) if got > RULES && held.state != State::Damaged => {
            let path = folder.path(&task.epoch.file());
            Err(Error::LaterRules { path, known: RULES, got })
        }
        _ => Ok(()),
    }
}

/// Returns what a task found, given the file that the folder has.
fn found(task: &Task, held: &Held) -> Option<EpochSummary> {
    let is_usable = held.state == State::Intact && held.rules == Some(RULES);
    let json = held.value.as_ref().filter(|_| is_usable)?;
    let summary: EpochSummary = serde_json::from_str(json).ok()?;
    // If a wider range has as many rows, it has the same rows.
    let has_rows = held.label.as_ref() == Some(&task.label)
        || blocks(task, held).is_some_and(|(held, asked)| contains(&held, &asked));
    // The files of all seed hashes have the same label.
    let is_own = summary.file == task.epoch.file();
    (is_own && has_rows && summary.counts.are_of(task.rows)).then_some(summary)
}

/// Returns the blocks of the file that the folder has, and those of the task.
fn blocks(task: &Task, held: &Held) -> Option<(RangeInclusive<u64>, RangeInclusive<u64>)> {
    Some((held.blocks(&task.epoch)?, task.epoch.labelled(&task.label)?))
}

/// Returns what a task found, if it is done. Otherwise its result may replace the file that the folder has: one with no
/// other blocks, or a damaged one whose blocks are unknown.
fn done_or_replaceable(folder: &Folder, task: &Task) -> Result<Option<EpochSummary>, Error> {
    let Some(held) = folder.held(&task.epoch.file(), SUMMARY)? else { return Ok(None) };
    check_rules(folder, task, &held)?;
    let done = found(task, &held);
    let is_lost = |(held, asked)| !contains(&asked, &held);
    let loses = blocks(task, &held).is_some_and(is_lost);
    if done.is_none() && loses {
        return Err(Error::MoreBlocks {
            path: folder.path(&task.epoch.file()),
            held: held.label.unwrap_or_default(),
            asked: task.label.clone(),
        });
    }
    Ok(done)
}

/// Returns the height of the first block in a task's result, perhaps an unfinished one, and the id of the block before
/// it. Returns `None` if the folder has no result, it is damaged, or its rows are not blocks that follow each other.
///
/// # Errors
///
/// If the storage fails.
pub fn previous(folder: &Folder, task: &Task) -> Result<Option<(u64, Hash)>, Error> {
    let held = folder.held(&task.epoch.file(), SUMMARY)?;
    let find = |held: Held| {
        let blocks = held.blocks(&task.epoch)?;
        let json = held.value.filter(|_| held.state == State::Intact)?;
        let summary: EpochSummary = serde_json::from_str(&json).ok()?;
        Some((*blocks.start(), summary.links?.previous))
    };
    Ok(held.and_then(find))
}

/// Returns the jobs whose tasks are not done.
///
/// # Errors
///
/// If the storage fails, or the folder has the result of blocks that a task would remove, or of later rules.
pub fn left<'a, J>(
    folder: &Folder,
    jobs: &'a [J],
    task: impl Fn(&J) -> &Task,
) -> Result<Vec<&'a J>, Error> {
    let mut left = Vec::new();
    for job in jobs {
        if done_or_replaceable(folder, task(job))?.is_none() {
            left.push(job);
        }
    }
    Ok(left)
}

/// Verifies the rows of a task, which `read` sends, and writes the task's file. With `dataset` the
/// kernel hashes with the dataset of the first row's key. Any thread calls `verified` with the number
/// of rows that were just verified, and ends the audit by returning `false`.
///
/// # Errors
///
/// If the rows cannot be read, a column is missing or has another type, there is no memory, or the
/// file cannot be written; [`Error::Stopped`] if `verified` ended the audit. There is no new file then, unless only the
/// flush of its folder failed.
pub fn audit<E: From<Error>>(
    folder: &Folder,
    kernel: &mut Kernel,
    task: &Task,
    dataset: bool,
    read: impl FnOnce(Take<'_>) -> Result<(), E>,
    verified: impl Fn(u64) -> bool + Sync,
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
                // If this run ends without a summary, that of an earlier run would look like this one's.
                folder.remove(SUMMARY_FILE)?;
                if dataset {
                    prepare(kernel, batch).map_err(unusable)?;
                }
                none.insert(created)
            }
        };
        let hashed = AtomicU64::new(0);
        let count = |hashes| {
            hashed.fetch_add(hashes as u64, Ordering::Relaxed);
            if verified(hashes as u64) { Ok(()) } else { Err(Ended::Stopped) }
        };
        let result = kernel.try_verify(batch, count).map_err(|ended| match ended {
            Ended::Kernel(problem) => unusable(problem),
            Ended::Stopped => Error::Stopped,
        })?;
        if !verified(batch.num_rows() as u64 - hashed.into_inner()) {
            return Err(Error::Stopped);
        }
        let result = name_lines(batch, result).map_err(|problem| unusable(problem.into()))?;
        summary.add(&result).map_err(unusable)?;
        follower.add(batch).map_err(unusable)?;
        file.write(&result)
    })?;
    if let Some(file) = file {
        summary.links = follower.links();
        let json = serde_json::to_string(&summary).unwrap_or_default();
        // Another process may have written a result meanwhile.
        done_or_replaceable(folder, task)?;
        file.finish(&task.label, &[(SUMMARY, &json), (RULES_KEY, &RULES.to_string())])?;
    }
    Ok(())
}

/// Why a batch was not verified.
enum Ended {
    Kernel(KernelError),
    Stopped,
}

impl From<KernelError> for Ended {
    fn from(problem: KernelError) -> Ended {
        Ended::Kernel(problem)
    }
}

/// Computes the dataset of the first key of a batch.
fn prepare(kernel: &mut Kernel, batch: &RecordBatch) -> Result<(), KernelError> {
    match read::seed_hashes(batch)?.into_iter().flatten().next() {
        Some(seed_hash) => kernel.prepare_dataset(&seed_hash),
        None => Ok(()),
    }
}

/// Sums up the files of all tasks, and writes the sum into the folder.
///
/// # Errors
///
/// If a task is not done, the storage fails, or the summary cannot be written.
pub fn summarize<'a>(
    folder: &Folder,
    tasks: impl Iterator<Item = &'a Task>,
) -> Result<Summary, Error> {
    let found = |task: &Task| {
        let gone = || Error::Gone { path: folder.path(&task.epoch.file()) };
        done(folder, task)?.ok_or_else(gone)
    };
    let summary = Summary::of(tasks.map(found))?;
    let mut json = serde_json::to_vec_pretty(&summary).unwrap_or_default();
    json.push(b'\n');
    folder.replace(SUMMARY_FILE, &json)?;
    Ok(summary)
}
