//! dieharder, a battery of statistical tests of random numbers.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::{LabError, Stream};

const PROGRAM: &str = "dieharder";

/// A test of dieharder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its number, the argument of `-d`.
    pub number: u32,
    /// Its tuple size, the argument of `-n`, if it has one.
    pub ntuple: Option<u32>,
    /// Its name.
    pub name: &'static str,
    /// Whether one run reads as many numbers as a hundred runs of another test.
    pub large: bool,
}

impl Test {
    /// Returns how often it is repeated: a large test a hundredth as often as others.
    pub fn repeats(self, repeats: u64) -> u64 {
        if self.large { (repeats / 100).max(1) } else { repeats }
    }
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name, with the tuple size if there is one.
    pub name: String,
    /// The p-value over all repetitions.
    pub p: f64,
}

/// dieharder's verdict on a p-value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// Unremarkable.
    Passed,
    /// Rare: 1 in 100 of a perfect generator's p-values.
    Weak,
    /// Very rare: 1 in 500,000.
    Failed,
}

impl Finding {
    /// Applies dieharder's own limits.
    pub fn assessment(&self) -> Assessment {
        let tail = self.p.min(1.0 - self.p);
        match tail {
            tail if tail < 1e-6 => Assessment::Failed,
            tail if tail < 0.005 => Assessment::Weak,
            _ => Assessment::Passed,
        }
    }
}

/// Runs a test on a stream, with [`Test::repeats`] for one p-value over all.
///
/// # Errors
///
/// [`LabError::Program`] if dieharder is missing or its output is not the expected table.
pub fn run(test: Test, repeats: u64, mut stream: Stream) -> Result<Vec<Finding>, LabError> {
    let mut command = Command::new(PROGRAM);
    // Generator 200 reads stdin; each p-value is a line of comma-separated fields.
    command.args(["-g", "200", "-c", ",", "-d", &test.number.to_string()]);
    command.args(["-p", &test.repeats(repeats).to_string()]);
    if let Some(ntuple) = test.ntuple {
        command.args(["-n", &ntuple.to_string()]);
    }
    for column in ["test_name", "ntuple", "pvalues"] {
        command.args(["-D", column]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|problem| match problem.kind() {
        ErrorKind::NotFound => failed("not found; Debian's package is `dieharder`".to_owned()),
        _ => failed(problem.to_string()),
    })?;
    let fed = feed(&mut child, &mut stream);
    let output = child.wait_with_output().map_err(|problem| failed(problem.to_string()))?;
    fed.map_err(|problem| failed(problem.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let findings: Option<Vec<Finding>> = text.lines().map(finding).collect();
    match findings {
        Some(findings) if output.status.success() && !findings.is_empty() => Ok(findings),
        _ => Err(failed(format!("{} printed `{}`", output.status, text.trim()))),
    }
}

fn failed(problem: String) -> LabError {
    LabError::Program { program: PROGRAM, problem }
}

/// Writes the stream until the reader closes the pipe.
fn feed(child: &mut Child, stream: &mut Stream) -> std::io::Result<()> {
    let Some(mut stdin) = child.stdin.take() else {
        return Ok(());
    };
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = stream.read(&mut buffer)?;
        match stdin.write_all(&buffer[..count]) {
            Ok(()) if count > 0 => {}
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Parses a line `name,ntuple,p-value`.
fn finding(line: &str) -> Option<Finding> {
    let mut fields = line.split(',').map(str::trim);
    let (name, ntuple, p) = (fields.next()?, fields.next()?, fields.next()?);
    let ntuple: u32 = ntuple.parse().ok()?;
    let name = if ntuple > 0 { format!("{name} {ntuple}") } else { name.to_owned() };
    let p = p.parse().ok().filter(|p| (0.0..=1.0).contains(p))?;
    Some(Finding { name, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: Test = Test { number: 101, ntuple: None, name: "sts_runs", large: false };
    const MONOBIT: Test = Test { number: 100, ntuple: None, name: "sts_monobit", large: false };

    #[test]
    fn output_is_parsed() {
        let read = finding("        sts_serial,   3,0.87654321").expect("a finding");
        assert_eq!(read, Finding { name: "sts_serial 3".to_owned(), p: 0.876_543_21 });
        for line in ["", "sts_serial", "sts_serial,3", "sts_serial,x,0.5", "sts_serial,3,1.5"] {
            assert_eq!(finding(line), None, "{line}");
        }
        let assessment = |p| Finding { name: String::new(), p }.assessment();
        assert_eq!(assessment(0.3), Assessment::Passed);
        assert_eq!(assessment(0.9951), Assessment::Weak);
        assert_eq!(assessment(0.0), Assessment::Failed);
    }

    /// The tests can fail.
    #[test]
    #[ignore = "full tests: needs dieharder"]
    fn constant_bytes_fail() {
        for test in [RUNS, MONOBIT] {
            let findings = run(test, 10, Box::new(std::io::repeat(7))).expect("dieharder");
            assert!(
                findings.iter().all(|one| one.assessment() == Assessment::Failed),
                "{findings:?}"
            );
            assert!(findings[0].name.starts_with(test.name), "{findings:?}");
        }
    }
}
