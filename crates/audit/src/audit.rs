//! `randomx audit`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use randomx_arrow::{Kernel, Settings, read};

use crate::args::AuditArgs;
use crate::budget::Budget;
use crate::error::{Error, NOT_VALID};
use crate::folder::{Folder, Manifest, NewFile};
use crate::input::{Input, Task};
use crate::progress::Progress;
use crate::summary::{EpochSummary, Summary};
use crate::workers;

/// The hashes of an epoch from which a dataset is computed: 1.5 times as many as repay it, since that
/// number depends on the processor. `docs/measured.md` has the measurement.
const FAST_FROM: u64 = 2560;

/// The key, in a file's metadata, of the summary of its epoch.
const SUMMARY: &str = "randomx.summary";

/// The name of the file with the summary of all epochs.
const SUMMARY_FILE: &str = "summary.json";

/// Audits an input, or what an earlier run left of it.
pub(crate) fn run(args: &AuditArgs) -> Result<ExitCode, Error> {
    let budget = Budget::new(args.memory, args.threads())?;
    let mut input = Input::open(args)?;
    let tasks = input.plan(args.chain.from, args.chain.to)?;
    let manifest = Manifest { command: "audit".to_owned(), input: input.name() };
    let folder = Folder::open(&args.output, &manifest)?;
    let left: Vec<&Task> = tasks.iter().filter(|task| done(&folder, task).is_none()).collect();
    let rows = left.iter().map(|task| task.rows).sum();
    let audit = Audit {
        progress: Progress::new(tasks.len(), tasks.len() - left.len(), rows),
        input,
        folder,
    };
    let pays = |task: &&Task| budget.fast().is_some() && task.rows >= FAST_FROM;
    let (fast, light): (Vec<&Task>, Vec<&Task>) = left.into_iter().partition(pays);
    if let Some(threads) = budget.fast().filter(|_| !fast.is_empty()) {
        let mut kernel = kernel(threads);
        fast.iter().try_for_each(|task| audit.epoch(&mut kernel, task, true))?;
    }
    let mut kernels: Vec<Kernel> = budget.light(light.len()).into_iter().map(kernel).collect();
    workers::run(&mut kernels, &light, |kernel, task| audit.epoch(kernel, task, false))?;
    drop(kernels);
    audit.finish(&tasks)
}

fn kernel(threads: usize) -> Kernel {
    Kernel::new(Settings { blocks: true, ..Settings::new(threads) })
}

/// Returns what a task found, if it is done.
fn done(folder: &Folder, task: &Task) -> Option<EpochSummary> {
    let json = folder.done(&task.epoch.file(), &task.label, SUMMARY)?;
    let summary: EpochSummary = serde_json::from_str(&json).ok()?;
    (summary.counts.blocks == task.rows).then_some(summary)
}

/// An audit in progress.
struct Audit {
    input: Input,
    folder: Folder,
    progress: Progress,
}

impl Audit {
    /// Verifies the rows of an epoch and writes its file.
    fn epoch(&self, kernel: &mut Kernel, task: &Task, fast: bool) -> Result<(), Error> {
        let name = || task.epoch.to_string();
        let unusable = |problem| Error::Kernel { name: name(), problem };
        let mut summary = EpochSummary::new(task.epoch.file());
        let mut file: Option<NewFile> = None;
        self.input.read(task, &mut |batch| {
            if fast && file.is_none() {
                let seed_hashes = read::seed_hashes(batch).map_err(unusable)?;
                if let Some(seed_hash) = seed_hashes.into_iter().flatten().next() {
                    kernel.prepare_dataset(&seed_hash).map_err(unusable)?;
                }
            }
            let hashed = AtomicU64::new(0);
            let count = |hashes| {
                hashed.fetch_add(hashes as u64, Ordering::Relaxed);
                self.progress.blocks(hashes as u64);
            };
            let result = kernel.verify_with(batch, count).map_err(unusable)?;
            self.progress.blocks(batch.num_rows() as u64 - hashed.into_inner());
            summary.add(&result).map_err(unusable)?;
            let file = match &mut file {
                Some(file) => file,
                none => none.insert(self.folder.create(task.epoch.file(), result.schema())?),
            };
            file.write(&result)
        })?;
        if let Some(file) = file {
            let json = serde_json::to_string(&summary).unwrap_or_default();
            file.finish(&task.label, SUMMARY, json)?;
        }
        self.progress.epoch();
        Ok(())
    }

    /// Sums up the files of all tasks.
    fn finish(self, tasks: &[Task]) -> Result<ExitCode, Error> {
        let Audit { folder, progress, .. } = self;
        drop(progress);
        let found = |task: &Task| {
            let gone = || Error::Gone { path: folder.path(&task.epoch.file()) };
            done(&folder, task).ok_or_else(gone)
        };
        let summary = Summary::of(tasks.iter().map(found).collect::<Result<_, _>>()?);
        let mut json = serde_json::to_vec_pretty(&summary).unwrap_or_default();
        json.push(b'\n');
        folder.replace(SUMMARY_FILE, &json)?;
        randomx_console::write_while_read(|out| summary.print(out)).map_err(Error::Output)?;
        let all_valid = summary.counts.invalid == 0;
        Ok(if all_valid { ExitCode::SUCCESS } else { ExitCode::from(NOT_VALID) })
    }
}
