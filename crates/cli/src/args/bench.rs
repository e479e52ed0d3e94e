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
  randomx bench --against xmrig --xmrig ./xmrig --mode fast --seconds 900
  randomx bench --compare crates/cli/records/RECORD.json

What is measured:
  Hash           hashes, in light and in fast mode: one at a time, many on one thread, many on all
  Efficiency     hashes per joule on all threads, if the processor counts its energy (RAPL)
  Blake2b        hashing 64 bytes to 64 bytes
  Blake2bLong    hashing 72 bytes to 1024 bytes
  Argon2d        filling 256 MiB, three passes
  Aes1R          generating 2 MiB from 64 bytes
  Aes4R          generating 2176 bytes from 64 bytes
  AesHash1R      hashing 2 MiB to 64 bytes
  Superscalar    generating SuperscalarHash programs
  Compile        compiling a generated program to machine code
  Cache          expanding a key into a cache, with allocating its memory
  Dataset        computing the 2080 MiB of a dataset, on all threads
  Cache and dataset  making both for a new key, in memory that is there; only against XMRig
  Trace          the time of each phase of a hash, for many hashes on one thread
MB are 1048576 bytes. Values are medians of rounds. With --against reference both implementations take
turns in every round. The ratio is the median of the rounds' ratios, and above 1 where this
implementation is faster. Measure on an idle computer; other load affects ratios less than values.

The time is divided among the rows; making caches and datasets takes additional time. Fast mode needs
2080 MiB, twice that against the reference. Without that memory its rows, and Dataset in light
mode, have a dash, or the run fails if --mode fast requires it.

The reference comes from the crate randomx-rs, which needs CMake and a C++ compiler, in a binary
built with `cargo build --release -p randomx-cli --features reference`. It supports v2 only if
RANDOMX_DIR named the sources of RandomX 2.0 or newer during that build. Transparent huge pages need
GLIBC_TUNABLES=glibc.malloc.hugetlb=1; the command sets that and runs itself again if it is not set.

XMRig is started anew for each of its turns, with its own offline benchmark: --bench=10M, no pool, nothing
submitted. It opens no connection, and ends with its turn. Started by root it reserves huge pages, which
stay reserved. A turn takes the time of its dataset and at least 5 seconds of hashing: with
--seconds 900 most rows have nine rounds, in about half an hour. XMRig prints no hashes to compare.

JSON: {\"machine\":{...},\"results\":[{\"name\":\"...\",\"value\":1.0,\"unit\":\"...\"}]}. Results have
\"reference\" and \"ratio\" if another implementation was measured. A value is null where the table has a dash.
Records have the same form.

Exit codes:
  0  done
  2  unusable arguments or record, no memory, or a wrong hash; stdout is empty, except for the
     results if they cannot be recorded";

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

    /// The XMRig to measure against; its offline benchmark runs
    #[arg(long, value_name = "PATH", required_if_eq("against", "xmrig"), requires = "against")]
    pub(crate) xmrig: Option<PathBuf>,

    /// Seconds to measure, 1 to 7200 [default: 60, or 300 with --trace]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=7200))]
    seconds: Option<u16>,

    /// Seconds of warming up before measuring, 0 to 15
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=15))]
    warmup: u8,

    /// Details to print: 0 the table, 1 also the computer, 2 also the spread of the rounds
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) verbose: u8,

    /// Measure only hashes, not their parts
    #[arg(long)]
    no_microbenchmarks: bool,

    /// Measure each phase of a hash instead of the microbenchmarks
    #[arg(long)]
    pub(crate) trace: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the results to a file, for --compare
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Compare with an earlier record; a change above 1 is an improvement
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// The C++ implementation of RandomX's authors
    Reference,
    /// The miner XMRig, as the program at --xmrig
    Xmrig,
}

impl BenchArgs {
    /// The arguments for v1 in light mode and its microbenchmarks.
    pub(crate) fn light(seconds: u16, work: WorkArgs) -> BenchArgs {
        BenchArgs {
            mode: Some(Mode::Light),
            version: Some(VersionName::V1),
            against: None,
            xmrig: None,
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

    /// Whether parts of hashes are measured. XMRig measures none.
    pub(crate) fn microbenchmarks(&self) -> bool {
        !self.no_microbenchmarks && !self.trace && self.against != Some(Against::Xmrig)
    }

    /// Whether making a cache and its dataset is measured, as XMRig does before it hashes.
    pub(crate) fn start(&self) -> bool {
        self.against == Some(Against::Xmrig) && self.modes().contains(&Mode::Fast)
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
