//! `randomx verify --node`: verifies a node's chain, part by part.
//!
//! The light client in `randomx-monero` decides what is trusted: each part is the chain of its only
//! source, and counts once the client has adopted the part's last block. If it does not, the part is
//! judged again block by block, so that the first block that is not valid is printed with all checks.

mod checkpoint;
mod explain;
mod hashes;
mod part;
mod start;
mod trust;
mod verdict;

use std::{
    io::{self, IsTerminal},
    ops::RangeInclusive,
    panic,
    process::ExitCode,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use randomx_monero::{Checkpoint, Network, client::Config};

use crate::{
    args::{NodeArgs, VerifyArgs},
    backend::Hash,
    error::{Error, NOT_VALID},
    hasher::Hasher,
    node::{Node, NodeError},
    progress::Progress,
};
pub(crate) use checkpoint::CheckpointFile;
#[cfg(feature = "internals")]
pub(crate) use checkpoint::{parse as parse_checkpoint, write as write_checkpoint};
use hashes::Hashes;
use part::{Given, Part};
use verdict::Line;

/// Blocks that are hashed together while the same number is requested.
const PART: u64 = 64;

/// The same with a sample. The newest of each part are always hashed, which should be a small share.
const SAMPLED_PART: u64 = 1024;

/// Verifies a node's blocks and prints the verdicts as they come. Success only when all are valid.
///
/// If the reader of the verdicts closes the pipe, the run goes on until the exit code is known.
pub(crate) fn run(args: &VerifyArgs, node_args: &NodeArgs) -> Result<ExitCode, Error> {
    let node = node_args.node()?;
    let file = node_args.checkpoint.as_deref().map(CheckpointFile::new);
    let Some(start) = start::start(&node, node_args, file.as_ref())? else {
        return Ok(ExitCode::SUCCESS);
    };
    // On a terminal the verdicts themselves show the progress.
    let visible = !io::stdout().is_terminal();
    let blocks = start.last - start.checkpoint.height;
    let progress = if visible { Progress::on_terminal(Some(blocks)) } else { Progress::hidden() };
    let mut walk = Walk {
        rules: Rules::new(node_args, args.fixed_difficulty)?,
        checkpoint: start.checkpoint,
        complete_start: start.complete,
        unknown_work: 0,
        last: start.last,
        hasher: Hasher::new(args.work.backend(args.mode), args.work.spread(), &progress),
        file,
    };
    let all_valid = walk.run(&node)?;
    drop(progress);
    Ok(if all_valid { ExitCode::SUCCESS } else { ExitCode::from(NOT_VALID) })
}

/// The rules for the blocks.
struct Rules {
    network: Network,
    /// The difficulty of every block, if it does not follow the rule.
    fixed_difficulty: Option<u128>,
    sample: u64,
    /// Random bytes that the node cannot know.
    secret: Hash,
}

impl Rules {
    fn new(args: &NodeArgs, fixed_difficulty: Option<u64>) -> Result<Rules, Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|problem| Error::Randomness(problem.to_string()))?;
        let fixed_difficulty = fixed_difficulty.map(u128::from);
        Ok(Rules { network: args.network, fixed_difficulty, sample: args.sample, secret })
    }

    /// Returns a client's settings. All blocks of a part are accepted together.
    fn config(&self) -> Config {
        let Rules { network, fixed_difficulty, sample, secret } = *self;
        Config { fixed_difficulty, sample, ..Config::new(network, secret) }
    }

    fn part(&self) -> u64 {
        if self.sample == 1 { PART } else { SAMPLED_PART }
    }
}

struct Walk<'a> {
    rules: Rules,
    /// The chain up to the last block that is trusted.
    checkpoint: Checkpoint,
    /// Whether the checkpoint at the start was complete and plausible.
    complete_start: bool,
    /// The work from the start to the checkpoint, if the checkpoint has none.
    unknown_work: u128,
    last: u64,
    hasher: Hasher<'a>,
    file: Option<CheckpointFile<'a>>,
}

impl Walk<'_> {
    /// Verifies up to the last block or the first invalid one. Returns whether all are valid.
    fn run(&mut self, node: &Node) -> Result<bool, Error> {
        let network = self.rules.network;
        let mut part = Part::fetch(node, self.heights(self.checkpoint.height + 1), network);
        loop {
            let next = part.next_height();
            let more = part.failure.is_none() && next <= self.last;
            let wanted = self.heights(next);
            let fetch = || Part::fetch(node, wanted.clone(), network);
            let (valid, fetched) = thread::scope(|scope| {
                let spawn = || thread::Builder::new().spawn_scoped(scope, fetch).ok();
                let thread = more.then(spawn).flatten();
                (self.judge(node, &part), thread.map(|thread| thread.join()))
            });
            if !valid? {
                return Ok(false);
            }
            if let Some(failure) = part.failure {
                return Err(Error::Node(failure));
            }
            if !more {
                return Ok(true);
            }
            part = result_or_else(fetched, fetch);
        }
    }

    fn heights(&self, first: u64) -> RangeInclusive<u64> {
        first..=self.last.min(first.saturating_add(self.rules.part() - 1))
    }

    /// Verifies the blocks of a part, prints the verdicts and writes the checkpoint. Returns whether
    /// all are valid.
    ///
    /// # Errors
    ///
    /// Also if a block is not valid for a reason that may be no fault of the node.
    fn judge(&mut self, node: &Node, part: &Part) -> Result<bool, Error> {
        if part.blocks.is_empty() {
            return Ok(true);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let mut hashes = Hashes::new(&mut self.hasher);
        let Some(trusted) =
            trust::follow(self.rules.config(), &self.checkpoint, part, now, &mut hashes)?
        else {
            let mut lines = explain::judge(&self.rules, &self.checkpoint, part, now, &mut hashes)?;
            for line in &mut lines {
                if !line.valid {
                    explain::check_blame(node, &self.checkpoint, part, line)?;
                }
                self.complete(line);
                line.print()?;
            }
            return Ok(lines.last().is_some_and(|line| line.valid));
        };
        let hash_of = |given: &Given| given.hashing_blob().and_then(|blob| hashes.known(blob));
        let hashes: Vec<Option<Hash>> = part.blocks.iter().map(hash_of).collect();
        for (block, hash) in trusted.blocks.iter().zip(hashes) {
            let mut line = Line::of(block, hash);
            self.complete(&mut line);
            line.print()?;
        }
        if self.checkpoint.work == 0 {
            self.unknown_work += trusted.blocks.last().map_or(0, |block| block.work);
        }
        self.checkpoint = trusted.checkpoint;
        if let Some(file) = &self.file {
            file.write(&self.checkpoint)?;
        }
        Ok(true)
    }

    /// Adds to a line what concerns the whole run.
    fn complete(&self, line: &mut Line) {
        line.work += self.unknown_work;
        line.complete_start = self.complete_start;
    }
}

/// Returns the result of a thread, or does its work if the system has refused the thread.
///
/// # Panics
///
/// If the thread panicked.
fn result_or_else<T>(thread: Option<thread::Result<T>>, work: impl FnOnce() -> T) -> T {
    match thread {
        Some(result) => result.unwrap_or_else(|cause| panic::resume_unwind(cause)),
        None => work(),
    }
}

impl From<NodeError> for Error {
    fn from(problem: NodeError) -> Error {
        Error::Node(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_thread_is_replaced_and_a_panic_is_no_result() {
        assert_eq!(result_or_else(Some(Ok(1)), || 2), 1);
        assert_eq!(result_or_else(None, || 2), 2);
        let panicked = || result_or_else(Some(Err(Box::new("a panic"))), || 2);
        assert!(panic::catch_unwind(panicked).is_err());
    }
}
