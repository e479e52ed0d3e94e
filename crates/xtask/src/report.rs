//! Named steps with their durations, and the table at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

/// The steps that ran so far.
pub(crate) struct Report {
    steps: Vec<Step>,
}

struct Step {
    name: String,
    took: Duration,
    passed: bool,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self { steps: Vec::new() }
    }

    /// Runs steps until one fails, then prints the table and, as the last line, the counts.
    pub(crate) fn run(mut self, steps: impl FnOnce(&mut Self) -> Result<()>) -> ExitCode {
        let result = steps(&mut self);
        if let Err(error) = &result {
            eprintln!("\nerror: {error:#}");
        }
        self.print();
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }

    /// Runs one step under a heading.
    ///
    /// # Errors
    ///
    /// The step's own error, with the step's name.
    pub(crate) fn step<T>(
        &mut self,
        name: impl Into<String>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let name = name.into();
        println!("\n== {name}");
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        if result.is_ok() {
            println!("== {name}: {:.1} s", took.as_secs_f64());
        }
        self.steps.push(Step { name: name.clone(), took, passed: result.is_ok() });
        result.map_err(|error| error.context(format!("the step \"{name}\" failed")))
    }

    fn print(&self) {
        let width = self.steps.iter().map(|step| step.name.chars().count()).max().unwrap_or(0);
        println!();
        for step in &self.steps {
            let verdict = if step.passed { "ok" } else { "FAILED" };
            println!("{:width$}  {:7.1} s  {verdict}", step.name, step.took.as_secs_f64());
        }
        let passed = self.steps.iter().filter(|step| step.passed).count();
        println!("{passed} passed, {} failed", self.steps.len() - passed);
    }
}
