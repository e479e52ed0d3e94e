//! The benchmarks of the package in browsers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::setup;
use crate::{build, process};

/// What is measured, and where results go.
#[derive(Args)]
pub(crate) struct BenchWebArgs {
    /// Write the measurements to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write them with the machine, the bytes downloaded and the memory to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Only these browsers.
    #[arg(long = "browser", value_enum, value_name = "NAME")]
    browsers: Vec<Browser>,

    /// Rounds, of which the medians are told.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=50))]
    rounds: u8,

    /// The script of randomx.js for browsers (`dist/web/index.js` of its build), to measure
    /// it beside the package.
    #[arg(long, value_name = "FILE")]
    peer: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Browser {
    Chromium,
    Firefox,
    #[value(name = "webkit")]
    WebKit,
}

/// Builds what is measured, and measures it.
pub(crate) fn bench_web(args: &BenchWebArgs) -> Result<()> {
    build::wasm_from_scratch()?;
    setup::cpp_tools()?;
    let native = build::native("release")?;
    let mut playwright = setup::browsers()?.playwright()?;
    playwright.args(["test", "--config", "tests/e2e/bench/playwright.config.ts"]);
    playwright.env(build::NATIVE, native).env("BENCH_ROUNDS", args.rounds.to_string());
    let files =
        [("BENCH_JSON", &args.json), ("BENCH_RECORD", &args.record), ("RANDOMX_JS", &args.peer)];
    for (variable, file) in files {
        if let Some(file) = file {
            playwright.env(variable, here(file)?);
        }
    }
    if !args.browsers.is_empty() {
        playwright.env("BENCH_BROWSERS", names(&args.browsers));
    }
    process::run(&mut playwright)
}

/// A path as the user means it: commands run in the repository's root. npm does too, and tells
/// where it was called.
fn here(file: &Path) -> Result<PathBuf> {
    let called = std::env::var_os("INIT_CWD").map(PathBuf::from);
    let folder = match called {
        Some(folder) => folder,
        None => std::env::current_dir().context("this folder is gone")?,
    };
    Ok(folder.join(file))
}

fn names(browsers: &[Browser]) -> String {
    let names: Vec<String> = browsers
        .iter()
        .filter_map(ValueEnum::to_possible_value)
        .map(|value| value.get_name().to_owned())
        .collect();
    names.join(",")
}
