//! The arguments of `randomx bench`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use randomx::Version;

use super::work::{VersionName, WorkArgs};
use crate::mode::Mode;

pub(crate) const AFTER_HELP: &str = "\
Examples:
  randomx bench
  randomx bench --mode light --version v2 --threads 2 --no-microbenchmarks
  randomx bench --against reference --json > measured.json
  randomx bench --compare crates/cli/records/RECORD.json

What is measured:
  Hash           hashes, in light and in fast mode: one at a time, many on one thread, many on all
  Efficiency     hashes per joule on all threads, where the processor tells its energy (RAPL)
  Blake2b        64 bytes of 64 bytes
  Blake2bLong    1024 bytes of 72 bytes
  Argon2d        filling 256 MiB, three passes
  Aes1R          2 MiB of 64 bytes
  Aes4R          2176 bytes of 64 bytes
  AesHash1R      64 bytes of 2 MiB
  Superscalar    generating SuperscalarHash programs
  Compile        generating the machine code of a program that is there
  Cache          a cache from its key, with its memory
  Dataset        the 2080 MiB of a dataset, on all threads
  Trace          what a hash takes of each of its phases, when many are made on one thread
MB are 1048576 bytes. Values are medians of rounds. With --against reference the two take turns in
every round, and the ratio, above 1 where this implementation is faster, is the median of the
rounds' ratios. Measure on a quiet machine; ratios bear a busy one better than values do.

The time is divided among the rows; making caches and datasets comes on top of it. Fast mode needs
2080 MiB, twice that against the reference; where there is no memory for it and --mode does not
insist, its rows have a dash.

The reference comes from the crate randomx-rs, which needs CMake and a C++ compiler, in a binary
built with `cargo build --release -p randomx-cli --features reference`. It knows v2 only when
RANDOMX_DIR named the sources of RandomX 2.0 or newer at that time. It gets transparent huge pages
by GLIBC_TUNABLES=glibc.malloc.hugetlb=1, with which the command runs itself again where needed.

JSON: {\"machine\":{...},\"results\":[{\"name\":\"...\",\"value\":1.0,\"unit\":\"...\"}]}, a result with
\"reference\" and \"ratio\" where there are, and a value of null where the table has a dash. A record
is the same.

Exit codes:
  0  done
  2  unusable arguments or record, no memory, or a wrong hash; nothing has been printed on stdout";

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Only this mode [default: both]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,

    /// Only this version of RandomX [default: both]
    #[arg(long, value_enum)]
    version: Option<VersionName>,

    /// Measure against another implementation, in turns
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) against: Option<Against>,

    /// Seconds to measure, 1 to 7200 [default: 60, or 300 with --trace]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=7200))]
    seconds: Option<u16>,

    /// Seconds of warming up that do not count, 0 to 15
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=15))]
    warmup: u8,

    /// How much to tell: 0 the table, 1 also the machine, 2 also the spread of the rounds
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) verbose: u8,

    /// Only hashes, not what they are made of
    #[arg(long)]
    no_microbenchmarks: bool,

    /// Tell how long each phase of a hash takes; no microbenchmarks then
    #[arg(long)]
    pub(crate) trace: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the results to a file, for --compare
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Compare with an earlier record; a change above 1 is for the better
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// The C++ implementation of RandomX's authors
    Reference,
}

impl BenchArgs {
    /// For v1 in light mode and what its hashes are made of, in so many seconds.
    pub(crate) fn light(seconds: u16, work: WorkArgs) -> BenchArgs {
        BenchArgs {
            mode: Some(Mode::Light),
            version: Some(VersionName::V1),
            against: None,
            seconds: Some(seconds),
            warmup: 0,
            verbose: 0,
            no_microbenchmarks: false,
            trace: false,
            json: false,
            record: None,
            compare: None,
            work,
        }
    }

    pub(crate) fn microbenchmarks(&self) -> bool {
        !self.no_microbenchmarks && !self.trace
    }

    pub(crate) fn modes(&self) -> Vec<Mode> {
        self.mode.map_or_else(|| vec![Mode::Light, Mode::Fast], |mode| vec![mode])
    }

    pub(crate) fn versions(&self) -> Vec<Version> {
        self.version.map_or_else(|| Version::ALL.to_vec(), |version| vec![version.into()])
    }

    pub(crate) fn seconds(&self) -> Duration {
        let default = if self.trace { 300 } else { 60 };
        Duration::from_secs(self.seconds.unwrap_or(default).into())
    }

    pub(crate) fn warmup(&self) -> Duration {
        Duration::from_secs(self.warmup.into())
    }
}
