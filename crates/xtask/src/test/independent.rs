//! Steps without prerequisites, which any series may run.

use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use crate::process::{self, Yields};
use crate::report::{self, Report};
use crate::tier::{System, Tier};
use crate::{arm64, check, emulated, foreign_smoke, others, release, windows};

/// A step that any thread may run.
pub(super) type Step<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// Steps that no thread has begun. Threads take the last one.
pub(super) type Rest<'a> = Mutex<Vec<Step<'a>>>;

/// Returns the steps without prerequisites.
pub(super) fn steps(report: &Report, tier: Tier, system: System) -> Vec<Step<'_>> {
    let is_x86_64_debian = system == System::Debian && cfg!(target_arch = "x86_64");
    let mut steps: Vec<Step> = Vec::new();
    if tier == Tier::Quick {
        if is_x86_64_debian {
            steps.push(Box::new(|| foreign_smoke::test(report)));
        }
        return steps;
    }
    steps.push(Box::new(|| check::other_systems(report)));
    if is_x86_64_debian {
        steps.push(Box::new(|| others::test(report)));
        steps.push(Box::new(|| emulated::test(report)));
        // Debian's Wine runs programs for x86-64 on this processor only. More inputs would only repeat what the native
        // tests do.
        steps.push(Box::new(|| windows::test(report, Tier::Quick)));
    }
    // On an ARM64 processor, the native tests run this code.
    if system == System::Debian && !cfg!(target_arch = "aarch64") {
        steps.push(Box::new(move || arm64::test(report, tier)));
    }
    steps.push(Box::new(|| report.check("release, two builds", release::test)));
    steps
}

/// Runs steps that no thread has begun, until none is left, also after one that failed. In the full tier, it first
/// lowers this thread's priority.
///
/// # Errors
///
/// Those of all steps that failed.
pub(super) fn run_all(rest: &Rest, tier: Tier) -> Result<()> {
    if tier == Tier::Full {
        process::lower_priority(Yields::Mostly);
    }
    let mut errors = Vec::new();
    loop {
        let next = rest.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(step) = next else { return report::together(errors) };
        errors.extend(step().err());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use anyhow::bail;

    use super::{Rest, Step, run_all};
    use crate::report::Report;
    use crate::tier::Tier;

    #[test]
    fn failed_steps_keep_no_other_from_running() {
        let report = Report::keeping_going();
        let is_run = AtomicBool::new(false);
        let fails = |name: &'static str| -> Step<'_> {
            let report = &report;
            Box::new(move || report.step(format!("set up of {name}"), || bail!("no {name}")))
        };
        let last: Step = Box::new(|| {
            is_run.store(true, Ordering::Relaxed);
            Ok(())
        });
        // Threads take the last one.
        let rest = Rest::new(vec![last, fails("linker"), fails("emulator")]);
        let error = run_all(&rest, Tier::Quick).expect_err("two failures");
        assert_eq!(
            format!("{error:#}"),
            "the step \"set up of emulator\" failed: no emulator\n\
             error: the step \"set up of linker\" failed: no linker"
        );
        assert!(is_run.load(Ordering::Relaxed));
    }
}
