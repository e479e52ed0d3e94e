//! `randomx bench`: measures this machine, alone or against another implementation.

mod energy;
mod hashing;
mod measure;
mod native;
mod other;
mod reference;
mod report;
mod subject;
mod table;
mod trace;
mod xmrig;

use std::{process::ExitCode, time::Duration};

use crate::{
    args::BenchArgs,
    error::{self, Error},
    host::Host,
    mode::Mode,
    output,
    progress::RowBar,
};

use energy::Meter;
use measure::{Budget, Outcome, Stopped, measure};
use native::Native;
use other::Other;
use report::{Report, Row};
use subject::{Subject, Unit};

/// Measures, records, compares and prints.
pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode, Error> {
    // Checks the files before the minute of work, not after it.
    let earlier = args.compare.as_deref().map(Report::read).transpose()?;
    args.record.as_deref().map(Report::can_be_written).transpose()?;
    let other = Other::new(args)?;

    let mut report = Bench::new(args, other, &|| false).report()?;
    // A full disk does not cost the results: they are printed also if they cannot be recorded.
    let recorded = args.record.as_deref().map_or(Ok(()), |file| report.write(file));
    if let Some(earlier) = &earlier {
        report.compare_with(earlier);
    }
    output::write(|out| match args.json {
        true => output::json_line(out, &report),
        false => table::write(out, &report, args.verbose),
    })?;
    recorded.map(|()| ExitCode::SUCCESS)
}

/// Measures, and passes each row to `report` as soon as it is known.
///
/// # Errors
///
/// An error of `report`, [`Error::Stopped`] once `stopped` returns true, or what prevents measuring.
pub(crate) fn each_row<E: From<Error>>(
    args: &BenchArgs,
    stopped: Stopped<'_>,
    mut report: impl FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    let mut bench = Bench::new(args, None, stopped);
    let subjects = Subject::all(args);
    let shares = subjects.iter().map(Subject::weight).sum();
    for subject in &subjects {
        let rows = match bench.rows(subject, bench.budget(subject, shares)) {
            Err(problem) if subject.is_fast() && problem.is_out_of_memory() => {
                vec![Row::of(subject, None)]
            }
            rows => rows?,
        };
        rows.into_iter().try_for_each(&mut report)?;
    }
    Ok(())
}

struct Bench<'a> {
    args: &'a BenchArgs,
    native: Native<'a>,
    other: Option<Other>,
    meter: Option<Meter>,
    stopped: Stopped<'a>,
}

impl<'a> Bench<'a> {
    fn new(args: &'a BenchArgs, other: Option<Other>, stopped: Stopped<'a>) -> Bench<'a> {
        Bench { args, native: Native::new(args), other, meter: Meter::new(), stopped }
    }

    fn report(&mut self) -> Result<Report, Error> {
        let subjects = Subject::all(self.args);
        let shares = subjects.iter().map(Subject::weight).sum();
        let bar = RowBar::on_terminal(subjects.len());
        let mut results = Vec::new();
        let mut shortage = None;
        for subject in &subjects {
            bar.at(subject);
            match self.rows(subject, self.budget(subject, shares)) {
                Ok(rows) => results.extend(rows),
                // Only `--mode fast` requires a dataset. Other runs must work on a small computer.
                Err(problem) if subject.is_fast() && self.may_lack(&problem) => {
                    results.push(Row::of(subject, None));
                    shortage = Some(problem);
                }
                Err(problem) => return Err(problem),
            }
        }
        drop(bar);
        if let Some(problem) = shortage {
            error::note(&problem);
        }
        let mut machine = Host::new(self.args.work.vm_options().cpu);
        self.native.describe(&mut machine);
        machine.reference = self.other.as_ref().map(Other::description);
        Ok(Report { machine, results })
    }

    /// Whether the run goes on without a row that needs a dataset.
    fn may_lack(&self, problem: &Error) -> bool {
        self.args.mode != Some(Mode::Fast) && problem.is_out_of_memory()
    }

    fn rows(&mut self, subject: &Subject, budget: Budget) -> Result<Vec<Row>, Error> {
        if let Subject::Trace(how) = subject {
            let mut vm = self.native.vm(how)?;
            vm.measure_lanes();
            return Ok(trace::rows(&mut vm, how, self.native.batch(how), budget.measured));
        }
        let outcome = self.outcome(subject, budget)?;
        let mut rows = vec![Row::of(subject, Some(&outcome))];
        rows.extend(self.efficiency(subject, &outcome));
        Ok(rows)
    }

    fn outcome(&mut self, subject: &Subject, budget: Budget) -> Result<Outcome, Error> {
        if let Some(other) = &mut self.other {
            other.check(subject, &mut self.native)?;
        }
        let ours = self.native.contestant(subject)?;
        let other = match &mut self.other {
            Some(other) => other.contestant(subject, &mut self.native)?,
            None => None,
        };
        let joules = || self.meter.as_ref().and_then(Meter::joules);
        measure(ours, other, budget, self.stopped, joules)
    }

    /// A row's share of the time.
    fn budget(&self, subject: &Subject, shares: u32) -> Budget {
        let part = |time: Duration| time * subject.weight() / shares;
        Budget { warmup: part(self.args.warmup()), measured: part(self.args.seconds()) }
    }

    /// The row for the energy of hashes, if all threads hash.
    fn efficiency(&self, subject: &Subject, outcome: &Outcome) -> Option<Row> {
        let Subject::Hash(how) = subject else { return None };
        let on_all = how.threads == self.args.work.threads() && !how.single;
        on_all.then(|| {
            let name = format!("Efficiency {how}");
            Row::new(name, Unit::HashesPerJoule, outcome.efficiency())
        })
    }
}
