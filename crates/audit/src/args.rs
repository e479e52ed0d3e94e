//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand};
use randomx::MAX_THREADS;
use randomx_client::{ProxyError, Route, Source, node, relay};
use randomx_console::machine;
use randomx_monero::{MAX_HEIGHT, Network};
use url::Url;

use crate::remote::Remote;
use crate::size;

const AUDIT_HELP: &str = "\
Examples:
  randomx audit --parquet chain/ --output audit/
  randomx audit --jsonl shares.jsonl --output audit/ --memory 4G
  randomx audit --node http://127.0.0.1:18081 --from 3700000 --output audit/

Input: a row for each proof of work, with the columns (or the JSON fields)
  seed_hash     32 bytes, or 64 hex digits
  hashing_blob  bytes, or hex digits
  difficulty    an integer from 1 to 2^256 - 1, or its digits
  target        instead of or beside it: 4, 8 or 32 bytes in little-endian order
  version       optional: RandomX 1 (default) or 2
  height        optional: of the block; needed for blocks of a version before RandomX
The output keeps any other columns. The Parquet files of a folder must have the same columns in the same
order, and names that end in .parquet. Files whose names begin with . or _ may have other names. With --from
or --to, rows without a height are left out, also malformed ones; stderr has their number. An epoch has
2048 blocks. A row's epoch follows from its height, or from its seed hash if it has no height. Rows may be
in any order; the audit is faster if the rows of an epoch are close together. Limits: 65,536 epochs, and
1,048,576 runs of consecutive rows of one epoch (sort the input by height if there are more). Parquet files
must not have nested or repeated values, pages with the encodings DELTA_LENGTH_BYTE_ARRAY and
DELTA_BYTE_ARRAY, or compression with LZ4 (LZ4_RAW is allowed).

Output: a Parquet file for each epoch with the columns pow_hash, valid and reason besides those of the
input, and summary.json: the blocks, their work, the first invalid ones of each epoch with evidence,
and those without a RandomX proof of work. These are blocks of an earlier version at heights at which
--network had one. Blocks of a version that this release does not know have no verdict, unless their
row has a version of RandomX: install a newer release, and run the same command again. Malformed rows
are invalid, with a reason. The work is the sum of the difficulties of valid rows. A row with only a
target adds nothing. Rows are not compared: a proof of work that is listed twice counts twice. Each
file is written when its epoch is complete, and contains a checksum. To resume an interrupted run, run
the same command again. It computes damaged results again, and those of earlier releases with other rules
or without checksums. Results of a newer release with other rules are refused.

With another range, a run keeps the results that have the same rows, and replaces those that have fewer. It
refuses a range with only some of the blocks of a result. A damaged result that names another number of
blocks than it has rows is replaced by any other. summary.json has the epochs of the last run, which
removes the file of an earlier run before it hashes anything.

A folder belongs to one input. Files are compared by their contents. A node, relay or store must have the
last blocks and the difficulties of the epochs that are in the folder, and each epoch's first block must
follow the last one before it. Otherwise there is no verdict: the proofs of work may be valid, but not of
one chain, or not for its difficulties.

A store has the newest 2,160 to 2,700 blocks of its chain, and forgets older ones while `follow` or
`guard` runs. A run with --store can only be resumed as long as the store has its first block. To have
more time for that, begin later with --from. Otherwise use a new folder. On the main network, a store's
difficulties follow from some that a source sent, perhaps too high. So a hash that misses its difficulty by
less than 3.1 % has no verdict.

The audit trusts the node or relay to report the right chain and its difficulties. `randomx verify
--node` also checks the difficulties. `randomx follow` also compares sources. Without --to, the ten
newest blocks are left out. ALL_PROXY, HTTPS_PROXY and HTTP_PROXY name a proxy, which also resolves the
names of hosts; NO_PROXY names the hosts to reach without it.

Memory: 256 MiB for each epoch that is hashed at once, 2 MiB for each of eight lanes of each thread,
and 64 MiB for each epoch's rows, or more if the pages of a Parquet file are large. A file that needs more
than --memory allows is refused before it is read. Epochs of 2,560 or more hashes use a dataset if
--memory is at least 2,400 MiB plus 16 MiB per thread. The default of 2G is too small for that.

Exit codes:
  0  every proof of work is valid
  1  at least one is not valid
  2  no verdict: unusable arguments or input, no memory, epochs of several chains, blocks of a version
     that this release does not know, or hashes that miss a store's difficulties narrowly; what was done
     stays done";

const COLLECT_HELP: &str = "\
Examples:
  randomx collect --node http://127.0.0.1:18081 --from 1978433 --output chain/
  randomx audit --parquet chain/ --output audit/

Output: a Parquet file for each epoch with the columns height, seed_hash, hashing_blob and difficulty.
Each file is written when its epoch is complete, and contains a checksum. To resume an interrupted run, or
to read blocks that are newer, run the same command again. It reads the last epoch again if that has
grown, and files that are damaged.

Without --to, the ten newest blocks are not read: the chain may still drop them. A later run reads them.

No range removes blocks: the file of an epoch has the blocks of earlier runs, those of the range, and
those between them. If the node lacks some of these, the run ends with an error. Every block must follow
the one before it, also from one epoch to the next. The node must have the last blocks and the difficulties
of the epochs that are in the folder, as far as the range goes.

ALL_PROXY, HTTPS_PROXY and HTTP_PROXY name a proxy, which also resolves the names of hosts; NO_PROXY names
the hosts to reach without it.

Exit codes:
  0  the range is complete
  2  unusable arguments, an unusable answer, or epochs of several chains; the epochs so far are in the
     folder";

/// The help text of `--to` where there are no files and stores.
const LAST_OF_CHAIN: &str =
    "The last block [default: ten blocks before the newest, since the chain may still drop those]";

#[derive(Parser)]
#[command(name = "randomx-audit", version, bin_name = "randomx")]
#[command(about = "Audit the proofs of work of a whole chain")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Verify every proof of work of a chain or a list, epoch by epoch
    #[command(after_long_help = AUDIT_HELP)]
    #[command(group = one_of(&["parquet", "jsonl", "store", "node", "relay"]))]
    Audit(AuditArgs),
    /// Read a range of a chain into Parquet files, for audits
    #[command(after_long_help = COLLECT_HELP, group = one_of(&["node", "relay"]))]
    #[command(mut_arg("from", |from| from.help("The first block")))]
    #[command(mut_arg("to", |to| to.help(LAST_OF_CHAIN)))]
    Collect(CollectArgs),
}

#[derive(Args)]
pub(crate) struct AuditArgs {
    /// A Parquet file, or a folder of them
    #[arg(long, value_name = "PATH")]
    pub(crate) parquet: Option<PathBuf>,

    /// A file of JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<PathBuf>,

    /// The folder in which `follow` or `guard` keeps its state
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) chain: ChainArgs,

    /// The difficulty of every block of the store's chain, if it is fixed
    #[arg(long, value_name = "N", requires = "store", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) fixed_difficulty: Option<u64>,

    /// The folder of the results; an interrupted run in it is resumed
    #[arg(long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// The most memory for hashing, in MiB or GiB, such as 512M or 4G
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = size::parse)]
    pub(crate) memory: usize,

    /// Threads that hash at once, 1 to 1024 [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS as i64))]
    threads: Option<u16>,
}

#[derive(Args)]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    pub(crate) chain: ChainArgs,

    /// The folder of the headers; an interrupted run in it is resumed
    #[arg(long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

/// A chain and a part of it.
#[derive(Args)]
pub(crate) struct ChainArgs {
    /// A node
    #[arg(long, value_name = "URL", requires = "from", value_parser = node::address)]
    pub(crate) node: Option<Url>,

    /// A relay
    #[arg(long, value_name = "URL", requires = "from", value_parser = relay::address)]
    pub(crate) relay: Option<Url>,

    /// The first block [default: the first one of a file or store; a node or relay needs it]. Rows of a
    /// file without a height are left out
    #[arg(long, value_name = "HEIGHT", value_parser = clap::value_parser!(u64).range(..=MAX_HEIGHT))]
    pub(crate) from: Option<u64>,

    /// The last block [default: the last one of a file or store; of a node or relay, ten blocks
    /// before the newest, since the chain may still drop those]. Rows of a file without a height are
    /// left out
    #[arg(long, value_name = "HEIGHT", value_parser = clap::value_parser!(u64).range(..=MAX_HEIGHT))]
    pub(crate) to: Option<u64>,

    /// The chain's network: mainnet, stagenet, testnet or regtest
    #[arg(long, value_name = "NAME", default_value_t = Network::Mainnet)]
    pub(crate) network: Network,

    /// Seconds that an answer may take, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

impl AuditArgs {
    pub(crate) fn threads(&self) -> usize {
        let processors = || machine::processors().min(MAX_THREADS);
        self.threads.map_or_else(processors, usize::from)
    }
}

impl ChainArgs {
    /// Returns the node or relay, if one is named.
    pub(crate) fn remote(&self) -> Result<Option<Remote>, ProxyError> {
        let route = || Route::of_environment(Duration::from_secs(self.timeout));
        let source = match (&self.node, &self.relay) {
            (Some(address), _) => Source::node(&route()?, address),
            (None, Some(address)) => Source::relay(&route()?, address),
            (None, None) => return Ok(None),
        };
        Ok(Some(Remote::new(source, self.network)))
    }
}

/// Returns a group that requires one of the arguments.
fn one_of(names: &[&'static str]) -> ArgGroup {
    ArgGroup::new("input").args(names.iter().copied()).required(true)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
