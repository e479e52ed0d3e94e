//! Chains: pushes of good, changed and arbitrary blocks, and hashes that do or do not suffice.

use std::collections::VecDeque;

use randomx_monero::{
    Candidate, Chain, ChainError, Checkpoint, Difficulty, Hash, HashingBlob, Link, Network, Status,
    Verdict, Work,
};
use randomx_testing::blocks::varint;

use super::checkpoints::checkpoint;
use crate::Target;
use crate::input::Input;

pub(super) const CHAINS: Target = Target { name: "chains", longest: 512, quick: 2000, run, seeds };

/// The last timestamp of a chain, and the id of its last block.
struct Model {
    network: Network,
    previous_id: Hash,
    timestamp: u64,
    /// Blocks that wait for their hashes, as the chain should know them.
    waiting: VecDeque<(u64, Option<Work>)>,
    /// Whether a block was refused, when it was pushed or settled.
    ended: bool,
}

fn run(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let network = input.pick(&Network::ALL);
    let mut chain = start(&mut input, network);
    let mut model = Model {
        network,
        previous_id: chain.checkpoint().map_or([3; 32], |checkpoint| checkpoint.id),
        timestamp: chain
            .checkpoint()
            .and_then(|checkpoint| checkpoint.recent.last().map(|block| block.timestamp))
            .unwrap_or(1_700_000_000),
        waiting: VecDeque::new(),
        ended: false,
    };
    let mut is_accepted = false;
    while !input.is_empty() {
        match input.below(3) {
            0 => settle(&mut chain, &mut model, &mut input),
            _ => is_accepted |= push(&mut chain, &mut model, &mut input),
        }
        assert_eq!(chain.pending(), model.waiting.len());
        check_checkpoint(&chain, network);
    }
    is_accepted
}

fn seeds() -> Vec<Vec<u8>> {
    let regtest = |rest: &[u8]| [&[3, 0], rest].concat();
    vec![
        regtest(&[1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1]),
        regtest(&[1, 0, 9, 1, 0, 9, 1, 0, 9, 0, 0, 0, 1, 0, 2]),
    ]
}

fn start(input: &mut Input<'_>, network: Network) -> Chain {
    let genesis = || Chain::resume(Checkpoint::genesis(network), network).expect("a start");
    match input.below(5) {
        0 => genesis(),
        1 => genesis().with_fixed_difficulty(input.wide_number()),
        2 => Chain::begin_at(input.number(), network).unwrap_or_else(|_| genesis()),
        3 => Chain::resume_unchecked(checkpoint(input, network), network)
            .unwrap_or_else(|_| genesis()),
        _ => Chain::resume(checkpoint(input, network), network).unwrap_or_else(|_| genesis()),
    }
}

/// Pushes a block. Returns whether it waits for its hash.
fn push(chain: &mut Chain, model: &mut Model, input: &mut Input<'_>) -> bool {
    let kind = input.byte();
    let blob = match kind & 7 {
        0..=4 => model.next(chain.next_height(), input),
        5 => {
            let mut blob = model.next(chain.next_height(), input);
            let at = input.below(blob.len());
            blob[at] ^= input.byte();
            blob
        }
        _ => input.bytes().to_vec(),
    };
    let whole = kind & 8 != 0;
    let link = Link {
        block: Candidate {
            block: whole.then_some(&blob[..]),
            hashing_blob: (!whole || kind & 16 != 0).then_some(&blob[..]),
            id: (kind & 32 != 0).then(|| input.array()),
            height: (kind & 64 != 0).then(|| input.number()),
        },
        seed_hash: (kind & 128 != 0).then_some([8; 32]),
        difficulty: Difficulty::try_from(input.wide_number()).ok(),
    };
    let (height, before) = (chain.next_height(), chain.clone());
    let now = if input.byte() & 1 == 0 { u64::MAX } else { model.timestamp };
    let pushed = chain.push(&link, now);
    let again = before.clone().push(&link, now);
    assert_eq!(again, pushed, "a push depends on nothing else");
    match pushed {
        Ok(work) => {
            assert!(!model.ended, "no block follows a refused one");
            match &work {
                Some(work) => {
                    let parsed = HashingBlob::parse(&work.hashing_blob).expect("it was parsed");
                    assert_eq!(chain.next_height(), height + 1);
                    model.previous_id = parsed.id();
                    model.timestamp = parsed.header.timestamp;
                }
                None => model.ended = true,
            }
            let is_accepted = work.is_some();
            model.waiting.push_back((height, work));
            is_accepted
        }
        Err(error) => {
            assert_eq!(chain.next_height(), height, "{error}");
            assert_eq!(model.ended, matches!(error, ChainError::Refused { .. }), "{error}");
            false
        }
    }
}

impl Model {
    /// Returns the hashing blob of a block that most rules allow.
    fn next(&self, height: u64, input: &mut Input<'_>) -> Vec<u8> {
        let version = self.network.version_at(height);
        let mut blob = Vec::new();
        varint(&mut blob, version.into());
        varint(&mut blob, version.into());
        varint(&mut blob, self.timestamp.wrapping_add(input.number()));
        blob.extend(self.previous_id);
        blob.extend([1, 2, 3, 4]);
        blob.extend([5; 32]);
        blob.push(1);
        blob
    }
}

fn settle(chain: &mut Chain, model: &mut Model, input: &mut Input<'_>) {
    let hash = match input.below(4) {
        0 => Some([0; 32]),
        1 => None,
        2 => Some([0xff; 32]),
        _ => Some(input.array()),
    };
    let Some((height, work)) = model.waiting.pop_front() else {
        assert_eq!(chain.settle(hash), Err(ChainError::NothingPending));
        return;
    };
    let verdict = chain.settle(hash).expect("a block waits");
    assert_eq!(verdict.height, height);
    assert_eq!(verdict.difficulty, work.as_ref().map(|work| work.difficulty));
    check_verdict(&verdict, work.as_ref(), hash);
    if !verdict.status.is_accepted() {
        model.ended = true;
        model.waiting.clear();
    }
}

fn check_verdict(verdict: &Verdict, work: Option<&Work>, hash: Option<Hash>) {
    assert_eq!(Status::of(&verdict.checks), verdict.status);
    let met = work.zip(hash).map(|(work, hash)| work.difficulty.is_met_by(&hash));
    match met {
        Some(true) => assert_eq!(verdict.status, Status::Valid),
        Some(false) => assert_eq!(verdict.status, Status::Invalid),
        None if work.is_some() => assert_eq!(verdict.status, Status::Unproven),
        None => assert!(!verdict.status.is_accepted()),
    }
}

/// A chain goes on from its checkpoint.
fn check_checkpoint(chain: &Chain, network: Network) {
    let Some(checkpoint) = chain.checkpoint() else { return };
    let height = checkpoint.height;
    let resumed = Chain::resume_unchecked(checkpoint, network);
    let resumed = resumed.expect("a chain's own checkpoint has the right form");
    assert_eq!(resumed.next_height(), height + 1);
}
