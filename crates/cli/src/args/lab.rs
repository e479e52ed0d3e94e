//! The arguments of `randomx lab`.

use std::{num::NonZero, path::PathBuf, thread};

use clap::Args;
use randomx::MAX_THREADS;
use randomx_lab::Settings;

pub(crate) const USAGE: &str = "\
randomx lab --list
       randomx lab <EXPERIMENT> [OPTIONS]
       randomx lab <EXPERIMENT> --raw STREAM [--seed N] [--bytes N]";

pub(crate) const AFTER_HELP: &str = "\
Examples:
  randomx lab --list
  randomx lab chain
  randomx lab cpu-sim --samples 10000 --json cpu-sim.json --svg pictures
  randomx lab rng --raw 4r-hashed | dieharder -a -g 200

A table has the figure that was published, the one that was measured here, and why they differ if they
do. The same seed and samples give the same figures on any number of threads, unless what is measured
is time. A file named `-` is stdout, which has the table otherwise.

Exit codes:
  0  done
  2  unusable arguments, no memory, or a machine that lacks what is measured; nothing has been
     printed on stdout";

#[derive(Args)]
pub(crate) struct LabArgs {
    /// Which experiment; --list tells them
    #[arg(required_unless_present = "list")]
    pub(crate) experiment: Option<String>,

    /// Tell the experiments that there are
    #[arg(long, exclusive = true)]
    pub(crate) list: bool,

    /// What all random choices follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many samples [default: the experiment's own]
    #[arg(long, value_name = "N")]
    samples: Option<u64>,

    /// Threads that work, 1 to 1024 [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS as i64))]
    threads: Option<u16>,

    /// Only these parts of the experiment
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<String>,

    /// Write everything as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write every figure and every point of a picture as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Write a page with tables and pictures
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Write the pictures into a folder, which is made if need be
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,

    /// Write one of the experiment's random streams on stdout, for a program that tests it
    #[arg(long, value_name = "STREAM")]
    #[arg(conflicts_with_all = ["samples", "only", "json", "csv", "markdown", "svg"])]
    pub(crate) raw: Option<String>,

    /// End the stream after so many bytes
    #[arg(long, value_name = "N", requires = "raw")]
    pub(crate) bytes: Option<u64>,
}

impl LabArgs {
    pub(crate) fn settings(&self) -> Settings {
        let processors = || thread::available_parallelism().map_or(1, NonZero::get);
        Settings {
            seed: self.seed,
            samples: self.samples,
            threads: self.threads.map_or_else(processors, usize::from),
            only: self.only.clone(),
        }
    }
}
