//! The rows of a benchmark.

use std::fmt;

use randomx::Version;

use crate::{args::BenchArgs, mode::Mode};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Blake2b,
    Blake2bLong,
    Argon2d,
    Aes1R,
    Aes4R,
    AesHash1R,
    Superscalar,
    /// Compiling programs to the form that the engine executes.
    Compile(Version),
    Cache,
    Dataset {
        threads: usize,
    },
    /// Both for a new key.
    CacheAndDataset {
        threads: usize,
    },
    Hash(Hashing),
    /// A row for each phase of a hash.
    Trace(Hashing),
}

/// How hashes are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashing {
    pub(crate) version: Version,
    pub(crate) mode: Mode,
    pub(crate) threads: usize,
    /// Whether a VM is given one input at a time, instead of many.
    pub(crate) single: bool,
}

/// The unit of a value. Greater is better, except for times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Hashes,
    Programs,
    Megabytes,
    Microseconds,
    Milliseconds,
    HashesPerJoule,
}

/// Bytes in an MB, as in the benchmarks of other implementations.
pub(crate) const MEGABYTE: f64 = 1_048_576.0;

impl Subject {
    /// The rows of a run. Those that need the least memory come first.
    pub(crate) fn all(args: &BenchArgs) -> Vec<Subject> {
        use Subject::*;
        let mut subjects = Vec::new();
        if args.microbenchmarks() {
            subjects.extend([Blake2b, Blake2bLong, Aes1R, Aes4R, AesHash1R, Superscalar]);
            subjects.extend(args.versions().into_iter().map(Compile));
            subjects.extend([Argon2d, Cache, Dataset { threads: args.work.threads() }]);
        }
        if args.start() {
            subjects.push(CacheAndDataset { threads: args.work.threads() });
        }
        for mode in args.modes() {
            for version in args.versions() {
                let hashing = Hashing { version, mode, threads: 1, single: false };
                if mode == Mode::Light {
                    subjects.push(Hash(Hashing { single: true, ..hashing }));
                }
                subjects.push(Hash(hashing));
                let threads = args.work.threads();
                if threads > 1 {
                    subjects.push(Hash(Hashing { threads, ..hashing }));
                }
                if args.trace {
                    subjects.push(Trace(hashing));
                }
            }
        }
        subjects
    }

    /// The unit of its value.
    pub(crate) fn unit(&self) -> Unit {
        match self {
            Subject::Blake2b | Subject::Blake2bLong | Subject::AesHash1R | Subject::Hash(_) => {
                Unit::Hashes
            }
            Subject::Argon2d | Subject::Aes1R | Subject::Aes4R | Subject::Dataset { .. } => {
                Unit::Megabytes
            }
            Subject::Superscalar => Unit::Programs,
            Subject::Cache | Subject::CacheAndDataset { .. } => Unit::Milliseconds,
            Subject::Compile(_) | Subject::Trace(_) => Unit::Microseconds,
        }
    }

    /// Its share of the time: larger for longer pieces of work, and for more important rows.
    pub(crate) fn weight(&self) -> u32 {
        match self {
            Subject::Dataset { .. } | Subject::CacheAndDataset { .. } => 6,
            Subject::Hash(_) | Subject::Trace(_) => 4,
            Subject::Argon2d | Subject::Cache => 3,
            _ => 1,
        }
    }
}

impl Hashing {
    /// How many inputs a VM is given at once.
    pub(crate) fn batch(&self, lanes: usize) -> usize {
        /// Enough that the start and the end of a batch hardly count.
        const MANY: usize = 16;
        if self.single { 1 } else { MANY.next_multiple_of(lanes) }
    }
}

impl Subject {
    /// Whether it needs a dataset.
    pub(crate) fn is_fast(&self) -> bool {
        match self {
            Subject::Hash(how) | Subject::Trace(how) => how.mode == Mode::Fast,
            Subject::Dataset { .. } | Subject::CacheAndDataset { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Hash(how) => write!(f, "Hash {how}"),
            Subject::Trace(how) => write!(f, "Trace {how}"),
            Subject::Compile(version) => write!(f, "Compile {version}"),
            Subject::Dataset { threads } => write!(f, "Dataset, {}", Threads(*threads)),
            Subject::CacheAndDataset { threads } => {
                write!(f, "Cache and dataset, {}", Threads(*threads))
            }
            named => write!(f, "{named:?}"),
        }
    }
}

impl fmt::Display for Hashing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hashing { version, mode, threads, single } = self;
        if *single {
            write!(f, "{version} {mode}, one at a time")
        } else {
            write!(f, "{version} {mode}, {}", Threads(*threads))
        }
    }
}

/// A number of threads in words.
struct Threads(usize);

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "thread" } else { "threads" })
    }
}

impl Unit {
    /// The value, in this unit, of work done at a rate per second.
    pub(crate) fn of_rate(self, rate: f64) -> f64 {
        match self {
            Unit::Milliseconds => 1e3 / rate,
            Unit::Microseconds => 1e6 / rate,
            Unit::Hashes | Unit::Programs | Unit::Megabytes | Unit::HashesPerJoule => rate,
        }
    }

    /// Its name in tables and records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Hashes => "H/s",
            Unit::Programs => "programs/s",
            Unit::Megabytes => "MB/s",
            Unit::Microseconds => "µs",
            Unit::Milliseconds => "ms",
            Unit::HashesPerJoule => "H/J",
        }
    }
}

/// The improvement over an earlier value of the same unit, as a factor.
pub(crate) fn improvement(unit: &str, value: f64, earlier: f64) -> f64 {
    let smaller_is_better =
        [Unit::Microseconds, Unit::Milliseconds].iter().any(|time| time.name() == unit);
    if smaller_is_better { earlier / value } else { value / earlier }
}
