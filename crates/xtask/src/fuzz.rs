//! `cargo xtask fuzz`: the targets of `crates/fuzz` with libFuzzer.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs, thread};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{build, output, process, processor_time, setup, workspace};

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct FuzzArgs {
    /// The target to run; all of them if none is named.
    target: Option<String>,
    /// How long each target runs.
    // libFuzzer reads an `int`, and takes 0 for no limit.
    #[arg(long, value_name = "SECONDS", default_value_t = MINUTE,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    seconds: u32,
    /// Add what was found to the kept corpus in `crates/fuzz/corpus`, reduced to a small set of
    /// inputs that reach as much code.
    #[arg(long)]
    keep: bool,
}

const MINUTE: u32 = 60;

/// The crates whose coverage guides libFuzzer. The code of other authors would only add noise.
const INSTRUMENTED: [&str; 6] = [
    "randomx-core",
    "randomx-monero",
    "randomx-client",
    "randomx-guard",
    "randomx-cli",
    "randomx-epochs",
];

/// Options of the compiler for instrumented code: a counter for each edge, and hooks at comparisons.
const INSTRUMENTATION: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// A target, as `corpus list` describes it.
#[derive(Clone, Debug)]
struct Target {
    name: String,
    /// The length of the longest input, in bytes.
    longest: String,
}

/// Builds the targets and runs them.
pub(crate) fn fuzz(args: &FuzzArgs) -> Result<()> {
    build()?;
    run_all(args)
}

/// Builds all targets.
pub(crate) fn build() -> Result<()> {
    setup::cpp_tools()?;
    build::cargo(&mut cargo_build(), &["corpus", "fuzzer"].map(path))
}

/// Runs the targets, as many at once as there are processors, and prints what each reached.
fn run_all(args: &FuzzArgs) -> Result<()> {
    let mut targets = targets()?;
    if let Some(name) = &args.target {
        targets.retain(|target| target.name == *name);
        if targets.is_empty() {
            bail!("no fuzz target is called {name}");
        }
    }
    targets.reverse();
    let (waiting, lines) = (Mutex::new(targets), Mutex::new(Vec::new()));
    let work = || -> Result<()> {
        loop {
            let Some(target) = lock(&waiting).pop() else { return Ok(()) };
            match run(&target, args) {
                Ok(line) => lock(&lines).push(line),
                Err(error) => {
                    // The other threads finish their targets.
                    lock(&waiting).clear();
                    return Err(error);
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let with_log = output::shared();
    let worker = || (with_log(&work), processor_time::used());
    let outcome: Result<()> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        let ended: Vec<_> =
            ended.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
        let count = |(outcome, used)| {
            processor_time::add(used);
            outcome
        };
        ended.into_iter().try_for_each(count)
    });
    lock(&lines).iter().for_each(output::line);
    outcome
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic on another thread ends the run anyway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs every target for a minute. They are built.
pub(crate) fn a_minute_of_each() -> Result<()> {
    run_all(&FuzzArgs { target: None, seconds: MINUTE, keep: false })
}

fn cargo_build() -> Command {
    let mut build = process::command("cargo");
    // Cargo's flags for single packages are unstable.
    build.env("RUSTC_BOOTSTRAP", "1").arg("-Zprofile-rustflags");
    build.args(["build", "--locked", "--profile", "fuzz", "--package", "randomx-fuzz"]);
    build.args(["--features", "libfuzzer"]).arg("--target-dir").arg(target_dir());
    let flags = INSTRUMENTATION.map(|flag| format!("{flag:?}")).join(",");
    for package in INSTRUMENTED {
        build.arg("--config").arg(format!("profile.fuzz.package.{package}.rustflags=[{flags}]"));
    }
    build
}

fn targets() -> Result<Vec<Target>> {
    let list = process::read(program("corpus").arg("list"))?;
    let parse = |line: &str| {
        let (name, longest) = line.split_once(' ')?;
        Some(Target { name: name.to_owned(), longest: longest.to_owned() })
    };
    list.lines().map(|line| parse(line).context("`corpus list` has another form")).collect()
}

/// Runs a target and returns a line about what it reached.
fn run(target: &Target, args: &FuzzArgs) -> Result<String> {
    let Target { name, longest } = target;
    let (corpus, log) = (folder("corpus", name)?, target_dir().join(format!("{name}.log")));
    process::run_logged(program("corpus").args(["unpack", name]).arg(&corpus), &log)?;
    let failures = folder("failures", name)?;
    let mut fuzzer = fuzzer(name);
    fuzzer.arg(format!("-max_total_time={}", args.seconds)).arg(format!("-max_len={longest}"));
    fuzzer.arg(format!("-artifact_prefix={}/", failures.display()));
    fuzzer.args(["-timeout=30", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1"]);
    process::run_logged(fuzzer.arg(&corpus), &log)?;
    let text = fs::read_to_string(&log).with_context(|| format!("no {}", log.display()))?;
    if args.keep {
        keep(target, &corpus)?;
    }
    Ok(format!("{name}: {}", summary(&text)))
}

/// Replaces the kept corpus by a few of all inputs that together reach as many edges.
fn keep(target: &Target, corpus: &Path) -> Result<()> {
    let Target { name, longest } = target;
    let kept = target_dir().join("kept").join(name);
    process::remove_dir(&kept)?;
    fs::create_dir_all(&kept).with_context(|| format!("cannot create {}", kept.display()))?;
    let mut merge = fuzzer(name);
    // Edges alone: how often each was passed would keep ten times as many inputs.
    merge.args(["-set_cover_merge=1", "-use_counters=0", "-timeout=30"]);
    merge.arg(format!("-max_len={longest}")).arg(&kept).arg(corpus);
    process::run_logged(&mut merge, &target_dir().join(format!("{name}-merge.log")))?;
    process::run(program("corpus").args(["pack", name]).arg(&kept))
}

/// Returns the figures in libFuzzer's output: its runs, and the edges that it reached of all that
/// are in the program.
fn summary(log: &str) -> String {
    let after = |mark: &str| {
        let (_, rest) = log.rsplit_once(mark)?;
        let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u64>().ok()
    };
    let number = |mark| after(mark).map_or("?".to_owned(), |number| number.to_string());
    let (edges, all) = (number("cov:"), number("INFO: Loaded 1 PC tables ("));
    let (runs, inputs) = (number("stat::number_of_executed_units:"), number("corp:"));
    format!("{runs} runs, {edges} of {all} edges, {inputs} inputs")
}

/// Returns a command that runs a target with libFuzzer.
fn fuzzer(target: &str) -> Command {
    let mut fuzzer = program("fuzzer");
    fuzzer.env("RANDOMX_FUZZ_TARGET", target);
    fuzzer
}

fn program(name: &str) -> Command {
    process::command(path(name))
}

/// Returns the path of a program that [`build()`] builds.
fn path(name: &str) -> PathBuf {
    target_dir().join("fuzz").join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

fn folder(kind: &str, name: &str) -> Result<PathBuf> {
    let folder = target_dir().join(kind).join(name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Cargo's build folder for instrumented code. libFuzzer's folders are there too.
fn target_dir() -> PathBuf {
    workspace::target_dir().join("fuzzing")
}

#[test]
fn a_run_has_a_limit() {
    #[derive(clap::Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: FuzzArgs,
    }
    let seconds = |given: &[&str]| {
        let words = ["fuzz"].into_iter().chain(given.iter().copied());
        <CommandLine as clap::Parser>::try_parse_from(words).map(|line| line.args.seconds)
    };
    assert_eq!(seconds(&[]).expect("the default"), MINUTE);
    assert_eq!(seconds(&["--seconds", "1"]).expect("a second"), 1);
    for wrong in ["0", "2147483648"] {
        let error = seconds(&["--seconds", wrong]).expect_err("no limit").to_string();
        assert!(error.contains(&format!("invalid value '{wrong}'")), "{error}");
    }
}
