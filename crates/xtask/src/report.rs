//! Named steps with their durations, and the table at the end.

use std::cell::Cell;
use std::fmt;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow, ensure};

use crate::{output, processor_time, workspace};

/// The steps that ran so far.
pub(crate) struct Report {
    started: Instant,
    steps: Mutex<Vec<Step>>,
    /// The names of steps that did not run because earlier ones failed. Some of them may have run before that.
    missed: Mutex<Vec<String>>,
    /// Set when a step fails, so that no other begins.
    failed: AtomicBool,
    /// Whether steps begin although others have failed.
    keeps_going: bool,
}

struct Step {
    name: String,
    /// When it began, counted from the start of the run.
    began: Duration,
    took: Duration,
    /// The processor time of its programs; zero where the system does not report it.
    used: Duration,
    passed: bool,
}

/// Steps that run one after another.
pub(crate) type Series<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// The error of a step that did not begin because another one failed.
#[derive(Debug)]
struct Cancelled;

thread_local! {
    /// Whether this thread's steps share the terminal with those of another thread.
    static IS_BESIDE: Cell<bool> = const { Cell::new(false) };
}

impl Report {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            steps: Mutex::new(Vec::new()),
            missed: Mutex::new(Vec::new()),
            failed: AtomicBool::new(false),
            keeps_going: false,
        }
    }

    /// Returns a report of a long run, which shows all failures instead of ending at the first.
    pub(crate) fn keeping_going() -> Self {
        Self { keeps_going: true, ..Self::new() }
    }

    /// Runs steps, then prints the table, the counts, and the errors if there are any.
    pub(crate) fn run(self, steps: impl FnOnce(&Self) -> Result<()>) -> ExitCode {
        let errors = self.errors(steps(&self));
        self.print();
        if errors.is_empty() {
            return ExitCode::SUCCESS;
        }
        println!();
        for error in errors {
            eprintln!("error: {error:#}");
        }
        ExitCode::FAILURE
    }

    /// Returns what the run ends with: the error that ended its steps, and those that name steps.
    fn errors(&self, ended: Result<()>) -> Vec<Error> {
        let mut errors: Vec<Error> = ended.err().into_iter().collect();
        // The error of any other run names its only failed step.
        if self.keeps_going || errors.is_empty() {
            errors
                .extend([self.verdict(), self.completeness()].into_iter().filter_map(Result::err));
        }
        errors
    }

    /// Returns the result of steps that the steps `names` need. If it is an error, these are reported as not run.
    pub(crate) fn needed_by<T>(&self, names: &[impl AsRef<str>], result: Result<T>) -> Result<T> {
        if result.is_err() {
            let names = names.iter().map(|name| name.as_ref().to_owned());
            self.missed.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
        }
        result
    }

    /// Runs one step under a heading, whose result later steps do not need.
    ///
    /// # Errors
    ///
    /// Those of [`Report::step`]; none in a run that keeps going.
    pub(crate) fn check(
        &self,
        name: impl Into<String>,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        match self.step(name, work) {
            Err(error) if self.keeps_going => {
                println!("error: {error:#}");
                Ok(())
            }
            result => result,
        }
    }

    /// Runs one step under a heading.
    ///
    /// # Errors
    ///
    /// The step's own error, with the step's name.
    pub(crate) fn step<T>(
        &self,
        name: impl Into<String>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if self.failed.load(Ordering::Relaxed) && !self.keeps_going {
            return Err(Cancelled.into());
        }
        let name = name.into();
        let beside = IS_BESIDE.get();
        println!("{}== {name}", if beside { "" } else { "\n" });
        let (start, used) = (Instant::now(), processor_time::used());
        let (result, text) = if beside {
            let unwritten = |error| (Err(error), String::new());
            output::logged(&log_of(&name), work).unwrap_or_else(unwritten)
        } else {
            (work(), String::new())
        };
        let took = start.elapsed();
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        let mut steps = self.steps();
        // The lock keeps the logs of two steps that end together apart.
        let verdict = if result.is_ok() { "" } else { "FAILED after " };
        print!("{text}");
        let used = processor_time::used() - used;
        print!("== {name}: {verdict}{:.1} s", took.as_secs_f64());
        if used.is_zero() {
            println!();
        } else {
            println!(", {:.1} s of processor time", used.as_secs_f64());
        }
        let began = start - self.started;
        steps.push(Step { name: name.clone(), began, took, used, passed: result.is_ok() });
        drop(steps);
        result.map_err(|error| error.context(format!("the step \"{name}\" failed")))
    }

    /// Runs series of steps at the same time. The output of a step appears when it ends.
    ///
    /// # Errors
    ///
    /// The errors of all series that failed. Unless the run keeps going, the others end after their current steps.
    pub(crate) fn side_by_side(&self, series: Vec<Series>) -> Result<()> {
        println!("\n{} series of steps side by side; each step prints when it ends.", series.len());
        let beside = |one: Series| {
            IS_BESIDE.set(true);
            one()
        };
        let ended: Vec<thread::Result<Result<()>>> = thread::scope(|scope| {
            let threads: Vec<_> =
                series.into_iter().map(|one| scope.spawn(move || beside(one))).collect();
            threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let ended = ended.into_iter().map(|end| end.unwrap_or_else(|panic| resume_unwind(panic)));
        together(ended.filter_map(Result::err))
    }

    /// Returns an error that names the failed steps.
    fn verdict(&self) -> Result<()> {
        let steps = self.steps();
        let failed: Vec<&str> =
            steps.iter().filter(|step| !step.passed).map(|step| step.name.as_str()).collect();
        ensure!(failed.is_empty(), "failed: {}", failed.join("; "));
        Ok(())
    }

    /// Returns an error that names the steps that did not run.
    fn completeness(&self) -> Result<()> {
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let steps = self.steps();
        missed.retain(|name| steps.iter().all(|step| step.name != *name));
        ensure!(missed.is_empty(), "did not run: {}", missed.join("; "));
        Ok(())
    }

    fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print(&self) {
        let mut steps = self.steps();
        steps.sort_by_key(|step| step.began);
        let width = steps.iter().map(|step| step.name.chars().count()).max().unwrap_or(0);
        println!("\n{:width$}  {:>9}  {:>9}  {:>9}", "step", "began", "took", "processor");
        for step in steps.iter() {
            let verdict = if step.passed { "ok" } else { "FAILED" };
            let times = [step.began, step.took, step.used].map(|time| time.as_secs_f64());
            let [began, took, used] = times;
            println!("{:width$}  {began:7.1} s  {took:7.1} s  {used:7.1} s  {verdict}", step.name);
        }
        let passed = steps.iter().filter(|step| step.passed).count();
        let seconds = self.started.elapsed().as_secs();
        let failed = steps.len() - passed;
        print!("{passed} passed, {failed} failed, {} min {} s", seconds / 60, seconds % 60);
        match processor_time::of_this_process() {
            Some(time) => println!(", {:.1} min of processor time", time.as_secs_f64() / 60.0),
            // Another system than Linux.
            None => println!(),
        }
    }
}

/// Makes one error of those that ended several steps or series.
pub(crate) fn together(errors: impl IntoIterator<Item = Error>) -> Result<()> {
    // A cancelled step is the consequence of another error.
    let (cancelled, errors): (Vec<_>, Vec<_>) =
        errors.into_iter().partition(|error| error.is::<Cancelled>());
    let together = errors.into_iter().reduce(|all, error| anyhow!("{all:#}\nerror: {error:#}"));
    together.or(cancelled.into_iter().next()).map_or(Ok(()), Err)
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another step failed")
    }
}

impl std::error::Error for Cancelled {}

/// The log of a step, named after it.
fn log_of(step: &str) -> PathBuf {
    let name = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    let name: String = step.chars().map(name).collect();
    workspace::target_dir().join("xtask/logs").join(name).with_extension("log")
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use anyhow::{Result, bail};

    use super::{Report, Series};
    use crate::process;

    /// Runs a program that every system with Rust has.
    fn start() -> Result<()> {
        process::run(process::command("cargo").arg("--version"))
    }

    #[test]
    fn two_series_run_at_the_same_time() {
        let report = Report::new();
        let both = Barrier::new(2);
        let series = |name: &str| {
            report.step(format!("test of reports, {name}"), || {
                // Neither passes before the other one has begun.
                both.wait();
                start()
            })
        };
        let both = ["one", "other"].map(|name| -> Series { Box::new(move || series(name)) });
        report.side_by_side(both.into()).expect("both pass");
        assert!(report.steps().iter().all(|step| step.passed));
        assert_eq!(report.steps().len(), 2);
    }

    #[test]
    fn a_run_that_keeps_going_names_all_failures() {
        let report = Report::keeping_going();
        let steps = [("test of reports, a", false), ("test of reports, b", true)];
        for (name, passes) in steps.into_iter().chain([("test of reports, c", false)]) {
            let work = || if passes { Ok(()) } else { bail!("the reason") };
            report.check(name, work).expect("the next step begins");
        }
        assert_eq!(report.steps().len(), 3);
        let error = report.verdict().expect_err("two failures");
        assert_eq!(error.to_string(), "failed: test of reports, a; test of reports, c");
    }

    #[test]
    fn a_series_that_ended_early_hides_no_other_failure() {
        let report = Report::keeping_going();
        let fails =
            |name: &str| report.step(format!("test of reports, {name}"), || bail!("the reason"));
        let early = || {
            report.check("test of reports, early", || Ok(()))?;
            let missed = ["test of reports, early", "test of reports, late"];
            report.needed_by(&missed, fails("build"))
        };
        let other = || {
            report.check("test of reports, check", || bail!("another reason"))?;
            report.needed_by(&["test of reports, last"], fails("set up"))
        };
        let ended = report.side_by_side(vec![Box::new(early), Box::new(other)]);
        let errors: Vec<String> =
            report.errors(ended).iter().map(|error| format!("{error:#}")).collect();
        assert_eq!(errors.len(), 3, "{errors:?}");
        let each = "the step \"test of reports, build\" failed: the reason\n\
                    error: the step \"test of reports, set up\" failed: the reason";
        assert_eq!(errors[0], each);
        // The order of two series is that in which their steps end.
        let named = |error: &str, start: &str| -> Vec<String> {
            let names = error.strip_prefix(start).expect("the names of steps").split("; ");
            let mut names: Vec<String> = names.map(str::to_owned).collect();
            names.sort();
            names
        };
        let failed = ["build", "check", "set up"].map(|name| format!("test of reports, {name}"));
        assert_eq!(named(&errors[1], "failed: "), failed);
        let missed = ["last", "late"].map(|name| format!("test of reports, {name}"));
        assert_eq!(named(&errors[2], "did not run: "), missed);
    }

    #[test]
    fn a_run_that_ends_at_its_first_failure_names_it_once() {
        let report = Report::new();
        let result = report.step("test of reports, only", || bail!("the reason"));
        let errors = report.errors(report.needed_by(&["test of reports, next"], result));
        let errors: Vec<String> = errors.iter().map(|error| format!("{error:#}")).collect();
        assert_eq!(errors, ["the step \"test of reports, only\" failed: the reason"]);
    }

    #[test]
    fn a_failure_ends_both_series() {
        let report = Report::new();
        let both = Barrier::new(2);
        let fails = || {
            report.step("test of reports, fails", || {
                both.wait();
                bail!("the reason")
            })
        };
        let waits = || {
            both.wait();
            while !report.failed.load(super::Ordering::Relaxed) {
                std::thread::yield_now();
            }
            report.step("test of reports, never begins", || Ok(()))
        };
        let result = report.side_by_side(vec![Box::new(waits), Box::new(fails)]);
        let error = format!("{:#}", result.expect_err("a failure"));
        assert_eq!(error, "the step \"test of reports, fails\" failed: the reason");
        let steps = report.steps();
        assert_eq!(steps.len(), 1);
        assert!(!steps[0].passed);
    }
}
