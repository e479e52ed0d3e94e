//! `randomx verify --node`: verifies a node's chain block by block.

mod checkpoint;
mod start;

use std::{
    io::{self, IsTerminal, Write},
    ops::RangeInclusive,
    process::ExitCode,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use randomx::Version;
use randomx_monero::{Candidate, Chain, Difficulty, Link, Outcome, Status, Verdict, Work};
use serde::Serialize;

use crate::{
    args::{NodeArgs, VerifyArgs},
    backend::Hash,
    error::{self, Error, NOT_VALID},
    hasher::Hasher,
    node::{Node, NodeBlock, NodeError, fetch},
    progress::Progress,
    queue::Job,
};
pub(crate) use checkpoint::CheckpointFile;

/// Blocks that are hashed together while the same number is requested.
const CHUNK: u64 = 64;

/// The last blocks, whose proof of work is always checked: a forged chain shows at its end at the
/// latest.
const ALWAYS: u64 = 16;

/// Verifies a node's blocks and prints the verdicts as they come. Success only when all are valid.
pub(crate) fn run(args: &VerifyArgs, node_args: &NodeArgs) -> Result<ExitCode, Error> {
    let node = node_args.node();
    let file = node_args.checkpoint.as_deref().map(CheckpointFile::new);
    let chain = start::start(&node, node_args, file.as_ref())?;
    let first = chain.next_height();
    let last = match node_args.to {
        Some(to) => to,
        None => node.info()?.height.saturating_sub(1),
    };
    if last < first {
        error::note(&Error::NothingNew { first, last });
        return Ok(ExitCode::SUCCESS);
    }
    // On a terminal the verdicts themselves show the progress.
    let visible = !io::stdout().is_terminal();
    let blocks = last - first + 1;
    let progress = if visible { Progress::on_terminal(Some(blocks)) } else { Progress::hidden() };
    let mut walk = Walk {
        chain,
        last,
        sample: node_args.sample,
        hasher: Hasher::new(args.work.backend(args.mode), args.work.spread(), &progress),
        file,
    };
    let all_valid = walk.run(&node, first)?;
    drop(progress);
    Ok(if all_valid { ExitCode::SUCCESS } else { ExitCode::from(NOT_VALID) })
}

struct Walk<'a> {
    chain: Chain,
    last: u64,
    sample: u64,
    hasher: Hasher<'a>,
    file: Option<CheckpointFile<'a>>,
}

/// One line of output.
#[derive(Serialize)]
struct Line {
    height: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `valid`, `unproven`, `update-needed` or `invalid`.
    status: &'static str,
    /// Whether the status is `valid`.
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difficulty: Option<String>,
    /// The sum of difficulties up to this block.
    work: String,
    /// Whether the chain began with a checkpoint that is complete and plausible.
    complete_start: bool,
    /// Absent if the proof of work was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Failed>,
}

#[derive(Serialize)]
struct Failed {
    check: &'static str,
    detail: String,
}

impl Walk<'_> {
    /// Verifies up to the last block or the first invalid one. Returns whether all are valid.
    fn run(&mut self, node: &Node, first: u64) -> Result<bool, Error> {
        let mut blocks = fetch(node, self.chunk(first), Ok);
        loop {
            let (got, failure) = blocks;
            let next = self.chain.next_height() + got.len() as u64;
            let more = failure.is_none() && next <= self.last;
            let wanted = self.chunk(next);
            let (valid, fetched) = thread::scope(|scope| {
                let fetched = more.then(|| scope.spawn(|| fetch(node, wanted, Ok)));
                let valid = self.judge(&got);
                // A panic has printed its message.
                (valid, fetched.and_then(|thread| thread.join().ok()))
            });
            if !valid? {
                return Ok(false);
            }
            if let Some(failure) = failure {
                return Err(Error::Node(failure));
            }
            match fetched {
                Some(fetched) => blocks = fetched,
                None => return Ok(true),
            }
        }
    }

    fn chunk(&self, first: u64) -> RangeInclusive<u64> {
        first..=self.last.min(first.saturating_add(CHUNK - 1))
    }

    /// Verifies blocks in order, prints the verdicts and writes the checkpoint. Returns whether all
    /// are valid.
    fn judge(&mut self, blocks: &[NodeBlock]) -> Result<bool, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let mut wanted = Vec::with_capacity(blocks.len());
        for block in blocks {
            let height = self.chain.next_height();
            let work = self.chain.push(&link(block), now)?;
            let refused = work.is_none();
            wanted.push(work.filter(|_| self.is_sampled(height)));
            if refused {
                break;
            }
        }
        let hashes = self.hashes(&wanted)?;
        let mut all_valid = true;
        for hash in hashes {
            let verdict = self.chain.settle(hash)?;
            all_valid = verdict.status.is_accepted();
            print(&verdict)?;
            if !all_valid {
                break;
            }
        }
        if let (true, Some(file), Some(checkpoint)) =
            (all_valid, &self.file, self.chain.checkpoint())
        {
            file.write(&checkpoint)?;
        }
        Ok(all_valid)
    }

    fn hashes(&mut self, wanted: &[Option<Work>]) -> Result<Vec<Option<Hash>>, Error> {
        let job = |work: &Work| Job {
            key: work.seed_hash.to_vec(),
            version: Version::V1,
            input: work.hashing_blob.clone(),
            tag: (),
        };
        let mut hashes = self.hasher.hash_all(wanted.iter().flatten().map(job))?.into_iter();
        Ok(wanted.iter().map(|work| work.as_ref().and_then(|_| hashes.next())).collect())
    }

    fn is_sampled(&self, height: u64) -> bool {
        self.sample == 1 || height + ALWAYS > self.last || one_in(self.sample)
    }
}

/// Whether a random number, which the node cannot predict, selects this block. Without random
/// numbers every block is selected.
fn one_in(sample: u64) -> bool {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).is_err() || u64::from_le_bytes(bytes).is_multiple_of(sample)
}

/// A block, with the node's claims about it.
fn link(block: &NodeBlock) -> Link<'_> {
    let NodeBlock { header, blob } = block;
    Link {
        block: Candidate {
            block: Some(blob),
            id: Some(header.id),
            height: Some(header.height),
            ..Candidate::default()
        },
        difficulty: Difficulty::try_from(header.difficulty).ok(),
        ..Link::default()
    }
}

fn print(verdict: &Verdict) -> Result<(), Error> {
    let failed = verdict
        .checks
        .iter()
        .filter(|check| matches!(check.outcome, Outcome::Failed | Outcome::UpdateNeeded));
    let line = Line {
        height: verdict.height,
        id: verdict.id.map(hex::encode),
        status: verdict.status.as_str(),
        valid: verdict.status == Status::Valid,
        difficulty: verdict.difficulty.map(|difficulty| difficulty.to_string()),
        work: verdict.work.to_string(),
        complete_start: verdict.complete_start,
        hash: verdict.hash.map(hex::encode),
        failed: failed
            .map(|check| Failed { check: check.name.as_str(), detail: check.detail.clone() })
            .collect(),
    };
    crate::output::write(|out: &mut dyn Write| crate::output::json_line(out, &line))
}

impl From<NodeError> for Error {
    fn from(problem: NodeError) -> Error {
        Error::Node(problem)
    }
}
