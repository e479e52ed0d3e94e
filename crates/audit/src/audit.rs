//! `randomx audit`.

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use randomx_arrow::Kernel;
use randomx_epochs::{EpochSummary, Folder, Local, Manifest};

use crate::args::AuditArgs;
use crate::budget::Budget;
use crate::error::{Error, NOT_VALID};
use crate::input::{Input, Job};
use crate::links::{self, Part};
use crate::progress::Progress;
use crate::table::Row;
use crate::workers;

/// The hashes of an epoch from which a dataset is computed: 1.5 times as many as repay it, since that
/// number depends on the processor. `docs/measured.md` has the measurement.
const FAST_FROM: u64 = 2560;

/// Audits an input, or what an earlier run left of it.
pub(crate) fn run(args: &AuditArgs) -> Result<ExitCode, Error> {
    let network = args.chain.network;
    let mut input = Input::open(args, Budget::most_rows(args.memory)?)?;
    input.check_output(&args.output)?;
    let jobs = input.plan(args.chain.from, args.chain.to)?;
    print_left_out(input.left_out());
    let budget = Budget::new(args.memory, args.threads(), input.memory())?;
    let manifest = Manifest { command: "audit".to_owned(), input: input.name() };
    let folder = Folder::open(Arc::new(Local), &args.output, &manifest)?;
    if let Some(id) = input.ids() {
        let earlier = parts(&folder, &args.output, &jobs)?;
        links::check_earlier(&args.output, &earlier, id)?;
        let difficulties = |heights: &RangeInclusive<u64>| input.difficulties(heights);
        links::check_difficulties((&folder, &args.output), &earlier, difficulties)?;
    }
    let left = randomx_epochs::left(&folder, &jobs, |job: &Job| &job.task);
    let left = left.map_err(|problem| input.explain(problem))?;
    let rows = left.iter().map(|job| job.task.rows).sum();
    let progress = Progress::new(jobs.len(), jobs.len() - left.len(), rows);
    let audit = Audit { progress, input, folder, output: &args.output };
    let pays = |job: &&Job| budget.fast().is_some() && job.task.rows >= FAST_FROM;
    let (fast, light): (Vec<&Job>, Vec<&Job>) = left.into_iter().partition(pays);
    let explain = |problem| audit.input.take_failure().unwrap_or(problem);
    let stated = audit.input.is_stated();
    let kernel = |threads| randomx_epochs::kernel(threads, network, stated);
    if let Some(threads) = budget.fast().filter(|_| !fast.is_empty()) {
        let mut kernel = kernel(threads);
        fast.iter().try_for_each(|job| audit.epoch(&mut kernel, job, true)).map_err(explain)?;
    }
    let mut kernels: Vec<Kernel> = budget.light(light.len()).into_iter().map(kernel).collect();
    let hash = |kernel: &mut Kernel, job: &&Job| audit.epoch(kernel, job, false);
    workers::run(&mut kernels, &light, hash).map_err(explain)?;
    drop(kernels);
    audit.finish(&jobs)
}

/// Says how many rows of files have no verdict because of the range.
fn print_left_out(rows: u64) {
    let left_out = match rows {
        0 => return,
        1 => "1 row without a height is left out".to_owned(),
        rows => format!("{rows} rows without a height are left out"),
    };
    let reason = "a range chooses rows by their heights";
    randomx_console::print_message(&format!("{left_out}: {reason}"));
}

/// An audit in progress.
struct Audit<'a> {
    input: Input,
    folder: Folder,
    output: &'a Path,
    progress: Progress,
}

impl Audit<'_> {
    /// Verifies the rows of an epoch and writes its file.
    fn epoch(&self, kernel: &mut Kernel, job: &Job, dataset: bool) -> Result<(), Error> {
        let previous = randomx_epochs::previous(&self.folder, &job.task)?;
        let check = |rows: &[Row]| match &previous {
            Some(previous) => {
                links::check_previous(rows, previous, (self.output, &job.task.epoch.file()))
            }
            None => Ok(()),
        };
        let read = |take: randomx_epochs::Take<'_>| self.input.read(job, check, take);
        let verified = |rows| {
            self.progress.blocks(rows);
            true
        };
        randomx_epochs::audit(&self.folder, kernel, &job.task, dataset, read, verified)?;
        self.progress.epoch();
        Ok(())
    }

    /// Sums up the files of all tasks. Those of a chain must follow each other.
    fn finish(self, jobs: &[Job]) -> Result<ExitCode, Error> {
        let Audit { folder, output, progress, .. } = self;
        drop(progress);
        links::check(&parts(&folder, output, jobs)?)?;
        let tasks = jobs.iter().map(|job| &job.task);
        let summary = randomx_epochs::summarize(&folder, tasks)?;
        randomx_console::write_while_read(|out| summary.print(out)).map_err(Error::Output)?;
        match (summary.counts.invalid, summary.unjudged()) {
            (0, None) => Ok(ExitCode::SUCCESS),
            (0, Some(reason)) => Err(Error::Unjudged { reason }),
            (_, unjudged) => {
                unjudged.iter().for_each(|reason| randomx_console::print_message(reason));
                Ok(ExitCode::from(NOT_VALID))
            }
        }
    }
}

/// Returns what the folder has of a chain's epochs. Other inputs have none.
fn parts(folder: &Folder, output: &Path, jobs: &[Job]) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    for job in jobs {
        let Some(heights) = job.heights() else { continue };
        let file = job.task.epoch.file();
        let links = match randomx_epochs::done(folder, &job.task)? {
            Some(EpochSummary { links: None, .. }) => {
                return Err(Error::NoLinks { folder: output.to_owned(), file });
            }
            done => done.and_then(|summary| summary.links),
        };
        parts.push(Part { file, heights: heights.clone(), links, previous: None });
    }
    Ok(parts)
}
