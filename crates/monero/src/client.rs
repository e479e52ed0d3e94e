//! A light client's decisions, without input or output.
//!
//! A [`Client`] follows Monero's chain through sources that it does not trust. It reads their
//! headers, checks them by the rules, has proofs of work computed, and follows the chain with the
//! most work. The caller does the rest: it passes what happened as an [`Event`] to
//! [`Client::handle`], and carries out each [`Action`] that [`Client::next_action`] returns. The
//! client has no threads, no sockets and no clock.
//!
//! # What the client trusts
//!
//! It trusts, stores and reports a tip only after it has checked that block's own proof of work,
//! and while it has refused nothing after it on the chain of a source that has it. It never trusts
//! what a source says about itself: a source can only show blocks.
//!
//! With [`Config::sample`] = `n`, the client accepts blocks in batches of at most
//! [`Config::batch`]. It chooses the blocks to hash after a batch has arrived: the newest one first,
//! then the other [`Config::newest`] ones, and each older one with a probability of `1/n`, by a
//! number that only the caller's secret determines. So a batch with `k` forged blocks passes only if
//! its newest ones have real proofs of work, and then with a probability of `(1 - 1/n)^k`: below 1%
//! for `n = 10` and `k = 44`. A side that would replace a part of the chain is hashed completely,
//! whatever `n` is.
//!
//! # Forks
//!
//! Headers form a tree, in which each source has its newest block. The client keeps
//! [`Config::kept`] blocks before its tip and the sources' forks from these; a fork further back
//! cannot be followed, nor a side of more than twice as many blocks that still has less work. Only a
//! branch with more work replaces another. A replacement of at least [`Config::deep`] blocks is
//! announced before its proofs of work are checked. A side of a source that has no more work is reported once its
//! newest block has been hashed.
//!
//! The client keeps more blocks while it waits for a source that has not shown its chain. So a quick
//! source cannot hide the chain of a slow one that has more work. A source delays the client's chain
//! for ten minutes in all, and a second more for each new block that it shows.
//!
//! # Accusations
//!
//! A source that has shown a block without its proof of work is invalid, also if it shows another
//! chain by then. The client notes for each block which sources have shown it. So that memory with a
//! wrong bit accuses nobody, the block is hashed twice, with a cache filled anew for the second time.
//! If the hashes differ, the client computes others later. If they miss by no more than a lie at the
//! first start explains, it reads the difficulties anew.
//!
//! # Limits
//!
//! Memory is bounded by [`Client::max_blocks`] blocks of about 300 bytes with their bookkeeping, and by the evidence
//! against 64 blocks that were dropped before their hashes came. During a first start it is bounded by the last 735
//! blocks of each source.

mod anchoring;
mod answers;
mod base;
mod batch;
mod clock;
mod codec;
mod event;
mod evidence;
mod forks;
mod growth;
mod hold;
mod kept;
mod proofs;
mod provider;
mod senders;
mod settled;
mod source;
mod start;
mod statement;
mod store;
mod sync;
mod tree;
mod work;

use std::collections::{HashMap, VecDeque};

use crate::checkpoint::Checkpoint;
use crate::hash::Hash;
use crate::network::Network;

pub use event::{
    Action, Alarm, Branch, Event, Fork, JobId, MAX_HEADERS, Query, Report, RequestId, SourceId,
    SourceState, Tip, TrustedBlock,
};
pub use evidence::{Evidence, EvidenceError, SideVerdict};
pub use kept::KeptBlock;
pub use start::{Start, StartError};
pub use statement::least_difficulty;
pub use store::StoreError;

use anchoring::Anchoring;
use batch::Batch;
use proofs::{Doubt, Proof};
use provider::Provider;
use source::Source;
use statement::Miss;
use tree::Tree;

/// The settings of a client.
#[derive(Clone, Debug)]
pub struct Config {
    /// The network.
    pub network: Network,
    /// The difficulty of every block, for a chain of `monerod --fixed-difficulty`.
    pub fixed_difficulty: Option<u128>,
    /// One block in this many is hashed besides the newest of each batch; 1 hashes all.
    pub sample: u64,
    /// The number of newest blocks of each batch that are always hashed, at least 1.
    pub newest: usize,
    /// The number of reverted blocks from which a reorganisation is announced.
    pub deep: u64,
    /// The pause between questions for a source's tip, in seconds.
    pub poll: u64,
    /// The number of blocks kept before the tip. A state has some 80 bytes for each.
    pub kept: u64,
    /// The most blocks that are accepted together.
    pub batch: usize,
    /// Random bytes that the sources cannot know, from which the sample is drawn.
    pub secret: Hash,
}

impl Config {
    /// Returns the default settings for a network: all blocks are hashed, ten reverted blocks are
    /// announced, sources are asked every 30 seconds, and three days of blocks are kept.
    pub fn new(network: Network, secret: Hash) -> Self {
        Self {
            network,
            fixed_difficulty: None,
            sample: 1,
            newest: 16,
            deep: 10,
            poll: 30,
            kept: 2160,
            batch: 1024,
            secret,
        }
    }

    /// The most blocks of a source that are not accepted yet. A side that replaces all kept blocks
    /// fits, and as many again.
    fn ahead(&self) -> usize {
        usize::try_from(self.kept.saturating_mul(2)).unwrap_or(usize::MAX)
    }

    /// The number of blocks by which the base lags before it moves.
    fn slack(&self) -> u64 {
        self.kept / 4
    }
}

/// A light client's state. See the [module](self).
#[derive(Clone, Debug)]
pub struct Client {
    config: Config,
    tree: Tree,
    /// The newest trusted block.
    trusted: Hash,
    /// The first start's work, and the source that it reads from.
    anchoring: Option<(Anchoring, Option<Provider>)>,
    sources: Vec<Source>,
    batch: Option<Batch>,
    /// The hashes in work of batches that were not accepted.
    late: HashMap<JobId, Proof>,
    /// A proof of work that one hash has refuted.
    doubt: Option<Doubt>,
    /// Others, with the hashes that refuted them, for which other sources have to answer.
    doubts: VecDeque<(Proof, Hash)>,
    /// The time before which no new batch begins, after a hash could not be computed.
    retry: u64,
    /// Blocks whose proof of work failed, the newest last.
    refused: VecDeque<Hash>,
    /// See [`Client::dropped_from`].
    dropped_from: Option<u64>,
    alarm: Alarm,
    /// The last time at which the sources' chains were read to their ends; at first, that of the
    /// first event.
    current: Option<u64>,
    /// The time of the last event.
    clock: u64,
    /// The seconds between the events so far, without jumps of the clock.
    elapsed: u64,
    /// Whether a tip changed since the sources were last compared.
    changed: bool,
    actions: VecDeque<Action>,
    next_request: u64,
    next_job: u64,
    /// Blocks whose hashes miss narrowly.
    misses: VecDeque<Miss>,
    /// The value of `elapsed` from which on the anchors' chain may be read anew, or at which this ends.
    restate_after: u64,
}

impl Client {
    /// The most sources.
    pub const MAX_SOURCES: usize = 16;

    /// The lag from which a source is behind.
    const BEHIND: u64 = 3;

    /// The most refused blocks that are remembered.
    const MAX_REFUSED: usize = 256;

    /// Creates a client without sources.
    ///
    /// # Errors
    ///
    /// If the checkpoint or the stored bytes are refused.
    pub fn new(config: Config, start: Start) -> Result<Self, StartError> {
        let Config { network, fixed_difficulty, .. } = config;
        let mut anchoring = None;
        let (mut refused, mut dropped_from) = (VecDeque::new(), None);
        let (tree, trusted) = match start {
            Start::Anchors => {
                anchoring = Anchoring::new(network).map(|anchoring| (anchoring, None));
                let genesis = Checkpoint::genesis(network);
                (Tree::new(network, fixed_difficulty, genesis), network.genesis_id())
            }
            Start::Between(from, to) => {
                if !Anchoring::is_wide(from, to) {
                    return Err(StartError::Anchors);
                }
                anchoring = Some((Anchoring::between(network, from, to), None));
                let genesis = Checkpoint::genesis(network);
                (Tree::new(network, fixed_difficulty, genesis), network.genesis_id())
            }
            Start::Checkpoint(checkpoint) => {
                checkpoint.check(network).map_err(StartError::Checkpoint)?;
                let id = checkpoint.id;
                let stated = Anchoring::stated_before(network, fixed_difficulty, &checkpoint);
                (Tree::new(network, fixed_difficulty, checkpoint).with_stated(stated), id)
            }
            Start::Unchecked(checkpoint) => {
                checkpoint.check_complete().map_err(StartError::Checkpoint)?;
                let id = checkpoint.id;
                (Tree::new(network, fixed_difficulty, checkpoint), id)
            }
            Start::Stored(bytes) => {
                let state = store::restore(&bytes, network, fixed_difficulty);
                let state = state.map_err(StartError::Store)?;
                (refused, dropped_from) = (state.refused, state.dropped_from);
                (state.tree, state.trusted)
            }
        };
        Ok(Self {
            config,
            tree,
            trusted,
            anchoring,
            sources: Vec::new(),
            batch: None,
            late: HashMap::new(),
            doubt: None,
            doubts: VecDeque::new(),
            retry: 0,
            refused,
            dropped_from,
            alarm: Alarm::Cleared,
            current: None,
            clock: 0,
            elapsed: 0,
            changed: false,
            actions: VecDeque::new(),
            next_request: 0,
            next_job: 0,
            misses: VecDeque::new(),
            restate_after: 0,
        })
    }

    /// Adds a source, unless there are [`Client::MAX_SOURCES`] already. The next event starts its
    /// first request.
    pub fn add_source(&mut self) -> Option<SourceId> {
        if self.sources.len() == Self::MAX_SOURCES {
            return None;
        }
        let id = SourceId(self.sources.len() as u32);
        self.sources.push(Source::new(self.tree.base().id));
        Some(id)
    }

    /// Takes an event at the time `now`, in seconds since 1970. Answers to requests that are not
    /// open, and hashes that were not requested, are ignored.
    pub fn handle(&mut self, event: Event, now: u64) {
        self.note_time(now);
        match event {
            Event::Tick => {}
            Event::Tip { request, height, id } => self.on_tip(request, height, &id, now),
            Event::Headers { request, blobs } => self.on_headers(request, &blobs, now),
            Event::Difficulties { request, difficulties } => {
                self.on_difficulties(request, &difficulties, now);
            }
            Event::Failed { request } => {
                if let Some((source, _)) = self.take_request(request) {
                    self.fail(source, now);
                }
            }
            Event::Hashed { job, hash } => {
                self.on_hash(job, &hash, now);
                // One hash of many changes nothing else, and what follows walks the sources' chains.
                if self.batch.as_ref().is_some_and(Batch::is_open) && !self.changed {
                    return;
                }
            }
            Event::HashFailed { job } => self.on_hash_failed(job, now),
        }
        self.advance(now);
    }

    /// Returns the next thing to do, if there is one.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Returns the newest trusted block, or `None` before a first start has reached its anchor.
    pub fn tip(&self) -> Option<Tip> {
        self.has_tip().then(|| self.describe(&self.trusted))
    }

    /// Returns the number of blocks from a height to the tip, both included, or 0 above the tip.
    pub fn confirmations(&self, height: u64) -> u64 {
        self.tip().map_or(0, |tip| (tip.height + 1).saturating_sub(height))
    }

    /// Returns the sources with their states, in the order in which they were added.
    pub fn sources(&self) -> impl Iterator<Item = (SourceId, &SourceState)> {
        let states = self.sources.iter().map(|source| &source.state);
        states.enumerate().map(|(index, state)| (SourceId(index as u32), state))
    }

    /// Returns the bytes to store now, as the last [`Action::Store`] had them, or `None` before a
    /// first start has reached its anchor.
    pub fn save(&self) -> Option<Vec<u8>> {
        let Config { network, fixed_difficulty, .. } = self.config;
        let Self { tree, trusted, refused, .. } = self;
        let save = || store::save(tree, network, fixed_difficulty, trusted, refused);
        self.has_tip().then(save)
    }

    /// Returns the number of blocks in memory.
    pub fn blocks(&self) -> usize {
        self.tree.len()
    }

    /// Returns the most that [`Client::blocks`] returns, unless the state was stored with a larger [`Config::kept`].
    pub fn max_blocks(&self) -> usize {
        let own = usize::try_from(self.config.longest()).unwrap_or(usize::MAX);
        // The client's own chain, the batch in work, and each source's chain.
        let chains = self.sources.len() + 2;
        own.saturating_add(self.config.ahead()).saturating_mul(chains)
    }

    /// Returns a complete checkpoint at the tip, or `None` before a first start has reached its
    /// anchor.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.has_tip().then(|| self.tree.checkpoint(&self.trusted))
    }

    fn describe(&self, id: &Hash) -> Tip {
        let (tree, id) = (&self.tree, *id);
        let (height, work) = (tree.height(&id), tree.work(&id));
        Tip { height, id, timestamp: tree.timestamp(&id), work }
    }

    fn report(&mut self, report: Report) {
        self.actions.push_back(Action::Report(report));
    }
}
