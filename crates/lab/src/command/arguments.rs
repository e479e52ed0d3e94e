//! The arguments of `randomx-lab`.

use std::path::{Path, PathBuf};

use clap::Parser;
use randomx::MAX_THREADS;
use randomx_lab::Settings;

const ABOUT: &str = "Repeat the measurements of RandomX's design document and related studies";

const LONG_ABOUT: &str = "\
Repeat the measurements of RandomX's design document and related studies.

Each experiment repeats one published measurement. Its report gives the published figure, the figure
measured here, and the reason for any difference.";

const USAGE: &str = "\
randomx-lab --list
       randomx-lab <EXPERIMENT> [OPTIONS]
       randomx-lab <EXPERIMENT> --raw STREAM [--seed N] [--bytes N]";

const AFTER_HELP: &str = "\
Examples:
  randomx-lab --list
  randomx-lab chain
  randomx-lab cpu-sim --samples 10000 --json cpu-sim.json --svg pictures
  randomx-lab rng --raw 4r-hashed | dieharder -a -g 200

The report is printed as tables. Writing JSON, CSV or Markdown to the file `-` prints that instead.
A file is replaced when its new content is complete; until then an earlier one stays.
The same seed and number of samples give the same figures on any number of threads; only figures
that measure time vary.

Exit codes:
  0  success
  2  invalid arguments, a file that cannot be written, too little memory, or no processor extension
     or program that the experiment needs";

/// The parsed command line.
#[derive(Parser)]
#[command(name = "randomx-lab", version, about = ABOUT, long_about = LONG_ABOUT)]
#[command(override_usage = USAGE, after_long_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Experiment to run; see --list
    #[arg(required_unless_present = "list")]
    pub(crate) experiment: Option<String>,

    /// List the experiments, their parts and their streams
    #[arg(long, exclusive = true)]
    pub(crate) list: bool,

    /// Seed of all random choices; `rdrand` makes none
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Number of samples [default: depends on the experiment, see --list]
    #[arg(long, value_name = "N")]
    samples: Option<u64>,

    /// Number of threads, 1 to 1024; `runtime`, `randen`, `blake2` and `encode` measure on one [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS as i64))]
    threads: Option<u16>,

    /// Run only these parts of the experiment, separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<String>,

    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write every figure, and every point of the pictures, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Write the report as Markdown that refers to the pictures of --svg
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Write the pictures to this folder, which is created if it is missing
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,

    /// Write one of the experiment's random streams to stdout, as input of a statistical test
    #[arg(long, value_name = "STREAM")]
    #[arg(conflicts_with_all = ["samples", "threads", "only", "json", "csv", "markdown", "svg"])]
    pub(crate) raw: Option<String>,

    /// End the stream after this many bytes
    #[arg(long, value_name = "N", requires = "raw")]
    pub(crate) bytes: Option<u64>,
}

impl Arguments {
    pub(crate) fn settings(&self) -> Settings {
        let threads = self.threads.map_or(Settings::default().threads, usize::from);
        Settings { seed: self.seed, samples: self.samples, threads, only: self.only.clone() }
    }

    /// The files that the report is written to, with their options.
    pub(crate) fn reports(&self) -> Vec<(&'static str, &Path)> {
        let options = [("json", &self.json), ("csv", &self.csv), ("markdown", &self.markdown)];
        options.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
