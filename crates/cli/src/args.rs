//! The command line.

mod bench;
mod chain;
mod follow;
mod guard;
mod node;
mod serve;
mod work;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand};

pub(crate) use bench::{Against, BenchArgs};
pub(crate) use chain::ChainArgs;
pub(crate) use follow::{FollowArgs, RelayArgs};
pub(crate) use guard::GuardArgs;
pub(crate) use node::NodeArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use work::{VersionName, VmArgs, WorkArgs};

use crate::mode::Mode;

const ABOUT: &str = "Hash with RandomX and verify Monero's proof of work";

const LONG_ABOUT: &str = "\
Hash with RandomX and verify Monero's proof of work.

RandomX hashes an input under a key of up to 1 MiB, often 32 bytes. A key is first expanded into a
cache of 256 MiB. The cache serves every input hashed under that key. On Monero the key is the
seed hash, the id of an earlier block that changes every 2048 blocks, and the input is the hashing blob
of a block.

Memory: 256 MiB for a cache, and 2 MiB per lane of each thread. With --mode fast a key is expanded
further, into a dataset of 2080 MiB: that pays for thousands of inputs under one key.

On one thread of a processor with AVX-512, a cache takes about 0.3 seconds, and a hash some 6
milliseconds, or 16 if it is hashed alone. A dataset takes about 4 seconds on two threads, and a hash
with it some 2 milliseconds. `randomx bench` measures your processor.";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; for `verify` and `audit`: nothing is invalid
  1  `verify`: a line, a block or a side of the evidence is not valid, or this release cannot judge a
     block's version; `audit`: a proof of work is not valid; `follow --once`: a source sent false data
  2  unusable arguments or input, or no memory; `audit`: no verdict, such as on a block of a version that
     this release does not know; stdout has only what was printed before the error";

const HASH_USAGE: &str = "\
randomx hash <--key HEX|--key-text TEXT> <--input HEX|--input-text TEXT> [OPTIONS]
       randomx hash --jsonl FILE [OPTIONS]";

const HASH_EXAMPLES: &str = "\
Examples:
  randomx hash --key-text 'test key 000' --input-text 'This is a test'
  randomx hash --key 74657374206b657920303030 --input 5468697320697320612074657374 --version v2
  randomx hash --jsonl jobs.jsonl > hashes.jsonl

JSON lines, one object a line:
  in   {\"version\":1,\"key\":\"74657374\",\"input\":\"5468\"}   key and input in hex; version 1 (default) or 2
  out  {\"hash\":\"...\"}   64 hex digits, one line for each line of input, in the same order

Answers are printed as soon as they are known, so another program can keep the command open and
write one line at a time for as long as it runs. The command reads at most 65536 lines, or
64 MiB of keys and inputs, ahead of the first line without an answer. Lines whose keys alternate are sorted by
key within that window. In light mode the caches of the last two keys are kept (512 MiB), in fast mode
the dataset of the last. The first malformed line ends the run with exit code 2, after the answers to
the lines before it.

Limits: 1 MiB per key and per input. A command line holds about 64 KiB of bytes in hex on Linux and 16 on
Windows; longer ones need --jsonl.

Exit codes:
  0  done, or the reader of the answers closed the pipe
  2  unusable arguments or input, or no memory; with --jsonl the answers so far are on stdout";

const VERIFY_USAGE: Parts = [
    "\
randomx verify --jsonl FILE [OPTIONS]
",
    "       randomx verify --listen PATH [OPTIONS]
",
    "       randomx verify --node URL --from HEIGHT [--to HEIGHT] [OPTIONS]
       randomx verify --node URL --checkpoint FILE [--from HEIGHT] [--to HEIGHT] [OPTIONS]
       randomx verify --evidence FILE [OPTIONS]",
];

const VERIFY_EXAMPLES: Parts = [
    "\
Examples:
  randomx verify --jsonl blocks.jsonl
  my-block-source | randomx verify --jsonl - && echo 'all valid'
  randomx verify --node http://node.example:18089 --from 3700000 --checkpoint chain.json
  randomx verify --node http://node.example:18089 --checkpoint chain.json --sample 50   (later)

JSON lines, one object a line:
  in   {\"seed_hash\":\"...\",\"hashing_blob\":\"...\",\"difficulty\":716071628829}
       seed_hash     64 hex digits: the id of the block at the seed height
       hashing_blob  hex: block header, tree root of the transactions and their number
       difficulty    an integer from 1 to 2^256 - 1, bare or in a string
       version       optional: 1 (default) or 2
  out  {\"valid\":true,\"hash\":\"...\"}
       {\"valid\":false,\"hash\":\"...\",\"reason\":\"...\"}   in the same order as the input

A hash, as a 256-bit little-endian integer, meets a difficulty d if hash * d < 2^256.

Verdicts are printed as soon as they are known, so another program can keep the command open and
write one line at a time for as long as it runs. The command reads at most 65536 lines, or
64 MiB of hashing blobs, ahead of the first line without a verdict. Lines whose seed hashes alternate are sorted
within that window. In light mode the caches of the last two are kept (512 MiB), in fast mode the
dataset of the last. The first malformed line ends the run with exit code 2, after the verdicts on the
lines before it. If the reader of the verdicts closes the pipe, the run goes on until a line is invalid or
the input ends. Limit: 1 MiB per hashing blob.
",
    "
A socket: with --listen, each connection has lines of its own, answered in their order. Only this user
can connect. A malformed line is answered by {\"error\":\"...\"} after the verdicts on the lines before,
and ends its connection. At most 256 lines of a connection wait; the next are read when those are
answered. A program that leaves its verdicts unread for 30 seconds is disconnected. Limit: 16
connections. SIGINT and SIGTERM end the run with exit code 0, and remove the socket.
",
    "
A node's chain: every block is read whole. Its id, height, predecessor, timestamps, seed hash,
difficulty and proof of work are checked against the blocks before it; the difficulty that the network
requires is computed. Without a checkpoint, the node is trusted about the chain before the first block.
This command and `follow --once` write checkpoints to the file of --checkpoint. Keep it where only you
can write.
With --sample N a proof of work is checked with a chance of 1 in N, and those of the newest 16 of each
1024 blocks always. k forged blocks outside the newest 16 go unnoticed with a probability of (1 - 1/N)^k.
The other rules are checked for every block. The checkpoint is written after each batch (64 blocks, or 1024
with --sample), unless a block in it is invalid or needs an update. The proof of work of the newest block of
the batch is always checked.
A chain that ends before --to is verified to its end. If it ends before --from, nothing is verified and
the exit code is 0. A message names the end.
Verdicts are JSON lines in the order of the blocks. The run ends after the first block that is invalid
or needs an update. If the reader of the verdicts closes the pipe, it goes on until the exit code is known:
  out  {\"height\":1,\"id\":\"...\",\"status\":\"valid\",\"valid\":true,\"difficulty\":\"...\",\"work\":\"...\",
        \"complete_start\":true,\"hash\":\"...\"}
       {\"height\":2,\"id\":\"...\",\"status\":\"invalid\",\"valid\":false,\"work\":\"...\",
        \"complete_start\":true,\"failed\":[{\"check\":\"previous-id\",\"detail\":\"...\"}]}
       status          valid, unproven (the proof of work was not in the sample), update-needed (the
                       block's version is newer than this release knows or than it expects at the
                       height, or older than RandomX) or invalid
       work            the sum of the difficulties of valid and unproven blocks up to this one, from the
                       genesis block, or from the first one if the work before it is unknown
       complete_start  whether the run began with a checkpoint that was complete and plausible
       id, difficulty and hash are absent where they are unknown.
Two problems may be no fault of the node: a reorganisation while its chain is read, and a block whose only
failed check is that it is over two hours ahead of this clock. The run then ends with exit code 2, and
without a line for that block.
Limits: 8 MiB per answer, 1 MiB per block without its transactions. ALL_PROXY, HTTPS_PROXY and
HTTP_PROXY name a proxy (Tor's is socks5://127.0.0.1:9050), which also resolves the names of hosts;
NO_PROXY names the hosts to reach without it.

Evidence: the first line names the network, the last block that the sides have in common, and the
difficulty of the first block after it. All of these are from the file, and so are the difficulties from
which the rule computes those of later blocks: compare them with a chain that you trust. A line follows for
each side:
  out  {\"network\":\"regtest\",\"fixed_difficulty\":\"1\",\"common\":{\"height\":1,\"id\":\"...\"},
        \"difficulty\":\"1\"}
       {\"side\":1,\"valid\":2,\"tip\":\"...\",\"work\":\"...\"}
       {\"side\":2,\"valid\":0,\"tip\":\"...\",\"work\":\"...\",\"refused\":{\"height\":2,\"failed\":[\"...\"]}}
       fixed_difficulty  absent if there is none; except on regtest, it is an error unless --fixed-difficulty
                         is the same
       valid             the number of valid blocks after the common one
       tip               the id of the last of these, or of the common block
       work              the sum of their difficulties
       refused           the first block that is not valid, and its failed checks; absent if there is none

Exit codes:
  0  every line is valid, no block is invalid or needs an update (unproven blocks pass), or no side of
     the evidence has a refused block
  1  a line is not valid, a block is invalid or needs an update, or a side has a refused block
  2  unusable arguments or input (such as no line at all), an unusable answer of the node, a
     reorganisation during the run, a block ahead of this clock, or no memory; the verdicts so far are on
     stdout",
];

/// A text in three parts. The second documents `verify --listen`, which Windows lacks.
type Parts = [&'static str; 3];

/// Returns the whole text, with or without `--listen`.
fn join([before, about_listen, after]: Parts, has_listen: bool) -> String {
    [before, if has_listen { about_listen } else { "" }, after].concat()
}

#[derive(Parser)]
#[command(name = "randomx", version, about = ABOUT, long_about = LONG_ABOUT)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Hash one input, or every line of a file
    #[command(override_usage = HASH_USAGE, after_long_help = HASH_EXAMPLES)]
    Hash(HashArgs),
    /// Verify the proof of work of Monero blocks
    #[command(override_usage = join(VERIFY_USAGE, cfg!(unix)))]
    #[command(after_long_help = join(VERIFY_EXAMPLES, cfg!(unix)))]
    Verify(VerifyArgs),
    /// Follow Monero's chain through nodes and relays that are not trusted
    #[command(after_long_help = follow::AFTER_HELP)]
    Follow(FollowArgs),
    /// Serve a node's compact headers to others who follow the chain
    #[command(after_long_help = follow::AFTER_RELAY_HELP)]
    Relay(RelayArgs),
    /// Run a local proxy that verifies nodes' answers to your wallets
    #[command(after_long_help = guard::AFTER_HELP)]
    Guard(GuardArgs),
    /// Measure this machine, alone or against the reference implementation
    #[command(after_long_help = bench::AFTER_HELP)]
    Bench(BenchArgs),
    /// Show the engine, processor extensions and kinds of memory pages that this machine uses
    Info(InfoArgs),
    /// Serve the page on loopback, and compute hashes for it
    #[command(after_long_help = serve::AFTER_HELP)]
    Serve(ServeArgs),
    /// Verify every proof of work of a chain or a list, epoch by epoch (requires randomx-audit)
    #[command(
        disable_help_flag = true,
        after_help = "`randomx audit --help` explains the arguments."
    )]
    Audit(ExternalArgs),
    /// Read a range of a chain into Parquet files, for audits (requires randomx-audit)
    #[command(
        disable_help_flag = true,
        after_help = "`randomx collect --help` explains the arguments."
    )]
    Collect(ExternalArgs),
}

/// The arguments of a command that is a program of its own.
#[derive(Args)]
pub(crate) struct ExternalArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct HashArgs {
    /// Key in hexadecimal, up to 1 MiB; may be empty
    #[arg(long, value_name = "HEX", required_unless_present_any = ["key_text", "jsonl"])]
    #[arg(conflicts_with_all = ["key_text", "jsonl"])]
    pub(crate) key: Option<String>,

    /// Key as text: its UTF-8 bytes
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl", allow_hyphen_values = true)]
    pub(crate) key_text: Option<String>,

    /// Input in hexadecimal, up to 1 MiB; may be empty
    #[arg(long, value_name = "HEX", required_unless_present_any = ["input_text", "jsonl"])]
    #[arg(conflicts_with_all = ["input_text", "jsonl"])]
    pub(crate) input: Option<String>,

    /// Input as text: its UTF-8 bytes
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl", allow_hyphen_values = true)]
    pub(crate) input_text: Option<String>,

    /// RandomX v1 (Monero today) or v2
    #[arg(long, value_enum, default_value_t = VersionName::V1, conflicts_with = "jsonl")]
    pub(crate) version: VersionName,

    /// Hash every line of a JSON lines file; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<PathBuf>,

    /// Memory against speed
    #[arg(long, value_enum, default_value_t = Mode::Light)]
    pub(crate) mode: Mode,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// Verify every line of a JSON lines file; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = node::OPTIONS)]
    #[cfg_attr(unix, arg(required_unless_present_any = ["node", "evidence", "listen"]))]
    #[cfg_attr(not(unix), arg(required_unless_present_any = ["node", "evidence"]))]
    pub(crate) jsonl: Option<PathBuf>,

    /// Verify the lines of other programs of this user, by a Unix socket at this path
    #[cfg(unix)]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["jsonl", "evidence"])]
    #[arg(conflicts_with_all = node::OPTIONS)]
    pub(crate) listen: Option<PathBuf>,

    /// Verify evidence that `follow` wrote, without any network and always in light mode
    #[arg(long, value_name = "FILE", conflicts_with_all = ["jsonl", "mode"])]
    #[arg(conflicts_with_all = node::OPTIONS)]
    pub(crate) evidence: Option<PathBuf>,

    /// The difficulty of every block: of a node that runs with the same option, or of the evidence
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with = "jsonl")]
    #[cfg_attr(unix, arg(conflicts_with = "listen"))]
    pub(crate) fixed_difficulty: Option<u64>,

    #[command(flatten)]
    pub(crate) node: Option<NodeArgs>,

    /// Memory against speed
    #[arg(long, value_enum, default_value_t = Mode::Light)]
    pub(crate) mode: Mode,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Args)]
pub(crate) struct InfoArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) vm: VmArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_texts_name_only_options_that_exist() {
        const OTHERS: [(&str, &str); 8] = [
            // `randomx follow`
            ("verify", "--once"),
            // A wallet
            ("guard", "--daemon-address"),
            ("guard", "--untrusted-daemon"),
            // Cargo
            ("bench", "--release"),
            ("bench", "--features"),
            // XMRig
            ("bench", "--bench"),
            // randomx-audit
            ("audit", "--help"),
            ("collect", "--help"),
        ];
        let mut program = Cli::command();
        program.build();
        for command in program.get_subcommands_mut() {
            let usage = command.render_usage().to_string();
            let after = [command.get_after_help(), command.get_after_long_help()];
            let after = after.into_iter().flatten().map(ToString::to_string);
            let text = after.fold(usage, |text, more| text + "\n" + &more);
            let name = command.get_name();
            let is_known = |option: &str| {
                command.get_arguments().any(|argument| argument.get_long() == Some(&option[2..]))
                    || OTHERS.contains(&(name, option))
            };
            let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
            for option in words.filter(|word| word.starts_with("--")) {
                assert!(is_known(option), "{name}: {option}");
            }
        }
        for parts in [VERIFY_USAGE, VERIFY_EXAMPLES] {
            assert!(join(parts, true).contains("--listen"));
            assert!(!join(parts, false).contains("--listen"));
        }
    }

    #[test]
    fn texts_may_look_like_options() {
        let words = ["randomx", "hash", "--key-text", "-x", "--input-text", "--key"];
        let Ok(Cli { command: Command::Hash(args) }) = Cli::try_parse_from(words) else {
            panic!("expected the texts as values");
        };
        assert_eq!((args.key_text.as_deref(), args.key), (Some("-x"), None));
        assert_eq!(args.input_text.as_deref(), Some("--key"));
    }

    #[test]
    fn every_option_of_a_node_is_in_the_list_that_excludes_other_sources() {
        let command = Cli::command();
        let verify = command.find_subcommand("verify").expect("a subcommand");
        let mut groups = verify.get_groups();
        let of_node = groups.find(|group| group.get_id() == "NodeArgs").expect("a flattened group");
        assert!(of_node.get_args().eq(&node::OPTIONS));
    }
}
