//! `cargo xtask bench-web`: benchmarks of the package in browsers.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::setup;
use crate::{build, process, workspace};

/// Options of `cargo xtask bench-web`.
#[derive(Args)]
pub(crate) struct BenchWebArgs {
    /// Write the measurements to a JSON file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the measurements, the machine, the bytes downloaded and the memory to a JSON file.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Measure only this browser; repeat the option for several.
    #[arg(long = "browser", value_enum, value_name = "NAME")]
    browsers: Vec<Browser>,

    /// The number of rounds; results are their medians.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=50))]
    rounds: u8,

    /// Measure only following a chain from a relay, which takes minutes.
    #[arg(long, group = "part")]
    following: bool,

    /// Measure only batches after a change of the key, by each choice of an engine.
    #[arg(long, group = "part")]
    batches: bool,

    /// Measure only the page, from the request for it to the verdict on its block.
    #[arg(long, group = "part")]
    page: bool,

    /// Measure randomx.js too, whose build has this script (`dist/web/index.js`).
    #[arg(long, value_name = "FILE")]
    peer: Option<PathBuf>,
}

impl BenchWebArgs {
    /// The one part that is to be measured, as the benchmark knows it.
    fn part(&self) -> Option<&'static str> {
        [(self.following, "following"), (self.batches, "batches"), (self.page, "page")]
            .into_iter()
            .find_map(|(is_wanted, part)| is_wanted.then_some(part))
    }

    /// Whether Chromium alone is to be measured.
    fn wants_only_chromium(&self) -> bool {
        !self.browsers.is_empty() && self.browsers.iter().all(|name| *name == Browser::Chromium)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Browser {
    Chromium,
    Firefox,
    #[value(name = "webkit")]
    WebKit,
}

/// Builds the package and the program `randomx`, and measures both.
pub(crate) fn bench_web(args: &BenchWebArgs) -> Result<()> {
    build::wasm_from_scratch()?;
    let part = args.part();
    let native = if part.is_some() {
        build::native("release", &[])?
    } else {
        setup::cpp_tools()?;
        build::native("release", &["reference"])?
    };
    let browsers =
        if args.wants_only_chromium() { setup::only_chromium()? } else { setup::browsers()? };
    let mut playwright = browsers.playwright()?;
    playwright.args(["test", "--config", "tests/e2e/bench/playwright.config.ts"]);
    playwright.env(build::NATIVE, native).env("BENCH_ROUNDS", args.rounds.to_string());
    let files =
        [("BENCH_JSON", &args.json), ("BENCH_RECORD", &args.record), ("RANDOMX_JS", &args.peer)];
    for (variable, file) in files {
        if let Some(file) = file {
            playwright.env(variable, workspace::here(file)?);
        }
    }
    if let Some(part) = part {
        playwright.env("BENCH_ONLY", part);
    }
    if !args.browsers.is_empty() {
        playwright.env("BENCH_BROWSERS", names(&args.browsers));
    }
    process::run(&mut playwright)
}

fn names(browsers: &[Browser]) -> String {
    let names: Vec<String> = browsers
        .iter()
        .filter_map(ValueEnum::to_possible_value)
        .map(|value| value.get_name().to_owned())
        .collect();
    names.join(",")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::BenchWebArgs;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: BenchWebArgs,
    }

    #[test]
    fn chromium_alone_needs_no_other_browser() {
        let wants_only_chromium = |options: &[&str]| {
            let CommandLine { args } = CommandLine::parse_from([&["bench-web"], options].concat());
            args.wants_only_chromium()
        };
        assert!(wants_only_chromium(&["--browser", "chromium"]));
        assert!(!wants_only_chromium(&[]));
        assert!(!wants_only_chromium(&["--browser", "webkit"]));
        assert!(!wants_only_chromium(&["--browser", "chromium", "--browser", "firefox"]));
    }
}
