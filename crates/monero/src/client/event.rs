//! The inputs and outputs of a [`Client`](super::Client).

use std::fmt;

use super::evidence::Evidence;
use crate::hash::Hash;

/// The most headers in one request. Public nodes answer no more.
pub const MAX_HEADERS: u64 = 1000;

/// A source of headers: a node or a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(super) u32);

impl SourceId {
    /// Returns the source's number: 0 for the first one added, and so on.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A request to a source. Each has one answer: an event with its result, or
/// [`Event::Failed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(super) u64);

impl RequestId {
    /// Returns the request with a number.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the request's number, for callers in other languages.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A hash to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub(super) u64);

impl JobId {
    /// Returns the job with a number.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the job's number, for callers in other languages.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A question to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// The height and id of the newest block of the source's chain.
    Tip,
    /// The hashing blobs of consecutive blocks of the source's chain, at most [`MAX_HEADERS`].
    Headers {
        /// The height of the first block.
        first: u64,
        /// The number of blocks, at least 1.
        count: u64,
    },
    /// The difficulties of consecutive blocks of the source's chain, at most [`MAX_HEADERS`].
    Difficulties {
        /// The height of the first block.
        first: u64,
        /// The number of blocks, at least 1.
        count: u64,
    },
}

/// Something that happened outside. Its values are not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Time has passed. Without this event no request is repeated and no alarm raised; once a
    /// second is enough.
    Tick,
    /// A source answered [`Query::Tip`].
    Tip {
        /// The answered request.
        request: RequestId,
        /// The height of its newest block.
        height: u64,
        /// The id of that block.
        id: Hash,
    },
    /// A source answered [`Query::Headers`].
    Headers {
        /// The answered request.
        request: RequestId,
        /// The hashing blobs, in the order of the chain. There may be fewer than requested.
        blobs: Vec<Vec<u8>>,
    },
    /// A source answered [`Query::Difficulties`].
    Difficulties {
        /// The answered request.
        request: RequestId,
        /// The difficulties, in the order of the chain.
        difficulties: Vec<u128>,
    },
    /// A source gave no usable answer in time.
    Failed {
        /// The request.
        request: RequestId,
    },
    /// A hash was computed.
    Hashed {
        /// The job.
        job: JobId,
        /// The RandomX hash.
        hash: Hash,
    },
    /// A hash could not be computed, for want of memory for example.
    HashFailed {
        /// The job.
        job: JobId,
    },
}

/// Something to do outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a request to a source.
    Request {
        /// The source.
        source: SourceId,
        /// The request's number, for the answer.
        request: RequestId,
        /// The question.
        query: Query,
    },
    /// Compute a RandomX hash (version 1).
    Hash {
        /// The job's number, for the answer.
        job: JobId,
        /// The key.
        seed_hash: Hash,
        /// The input.
        blob: Vec<u8>,
        /// Whether the cache is to be filled anew, because the hash accuses a source: it was computed
        /// before, and does not meet the difficulty.
        fresh: bool,
    },
    /// Replace the stored state. [`Start::Stored`](super::Start::Stored) takes it back.
    Store(Vec<u8>),
    /// Report to the user.
    Report(Report),
}

/// A block of the client's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Its height.
    pub height: u64,
    /// Its id.
    pub id: Hash,
    /// Its timestamp, in seconds since 1970.
    pub timestamp: u64,
    /// The chain's work up to it.
    pub work: u128,
}

/// A block of the chain up to a client's tip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedBlock {
    /// Its height.
    pub height: u64,
    /// Its id.
    pub id: Hash,
    /// Its difficulty, by the rule.
    pub difficulty: u128,
    /// The chain's work up to it.
    pub work: u128,
    /// Whether its own proof of work was checked. With a sample, that of some is not.
    pub hashed: bool,
}

/// One side of a fork, from the block after the last common one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The ids of its blocks, the oldest first.
    pub ids: Vec<Hash>,
    /// The work of these blocks.
    pub work: u128,
}

/// A fork: the last common block, and both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The height of the last common block.
    pub height: u64,
    /// Its id.
    pub id: Hash,
    /// The side of the client's chain.
    pub ours: Branch,
    /// The other side.
    pub theirs: Branch,
}

/// News for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The chain grew. The new tip's own proof of work was checked.
    Tip(Tip),
    /// A side with more work replaced the end of the chain. `ours` was reverted. `theirs` was adopted after
    /// a check of all its proofs of work. If `theirs` is empty, nothing replaced `ours`: the client read the
    /// difficulties of the first start anew, and hashes of `ours` may miss them.
    Reorganised {
        /// The fork.
        fork: Box<Fork>,
        /// The new tip.
        tip: Tip,
    },
    /// A source has a side with more work that would revert many blocks. It is adopted if all of
    /// its proofs of work hold.
    DeepReorganisation {
        /// The source.
        source: SourceId,
        /// The fork.
        fork: Box<Fork>,
    },
    /// A source's chain differs from the client's, and the proof of work of its newest block was checked. Short forks are
    /// normal. A source's fork at the same block is reported once, unless 64 others were reported since.
    Disagreement {
        /// The source.
        source: SourceId,
        /// The fork.
        fork: Box<Fork>,
        /// Both sides, for others to check.
        evidence: Box<Evidence>,
    },
    /// The state of a source changed.
    Source {
        /// The source.
        source: SourceId,
        /// Its state.
        state: SourceState,
    },
    /// The chain no longer grows as it should, or does so again. Either the network is in trouble,
    /// or the sources cut the client off.
    Alarm(Alarm),
}

/// The state of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// It has not answered yet, or the client still reads its chain.
    Connecting,
    /// The client has read its chain up to its tip.
    Following,
    /// Its chain is an earlier part of the client's, ends before the oldest kept block, or has a side
    /// that is too long to be read while it has less work.
    Behind,
    /// Several requests in a row had no usable answer, or its chain changed several times before the
    /// client had read it. Or its blocks are too far ahead of the clock, and so are those of all other
    /// sources: see [`Client::early`](super::Client::early). The client keeps trying.
    Unresponsive,
    /// Its chain lacks a block that the client's chain is known to have: it is on another network,
    /// or forked off further back than the client keeps blocks.
    OtherNetwork,
    /// It has a block whose version is newer than this release knows, or than it expects at the height.
    UpdateNeeded {
        /// The block's height.
        height: u64,
        /// Its major version.
        version: u8,
    },
    /// It sent something that is proven false. The client asks it no more.
    Invalid {
        /// The rule that was broken.
        reason: String,
        /// The proof. There is none of lies about the chain up to the newest anchor during a first start.
        evidence: Option<Box<Evidence>>,
    },
}

impl SourceState {
    /// The name in lower case, such as `other-network`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Following => "following",
            Self::Behind => "behind",
            Self::Unresponsive => "unresponsive",
            Self::OtherNetwork => "other-network",
            Self::UpdateNeeded { .. } => "update-needed",
            Self::Invalid { .. } => "invalid",
        }
    }
}

/// Writes a predicate for people, to follow the name of the source.
impl fmt::Display for SourceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Connecting => "is being read",
            Self::Following => "was read to its end",
            Self::Behind => "is behind",
            Self::Unresponsive => "gives no usable answer",
            Self::OtherNetwork => "has another chain",
            Self::UpdateNeeded { height, version } => {
                return write!(
                    f,
                    "has block {height}, whose version {version} needs a newer release"
                );
            }
            Self::Invalid { .. } => "sent false data",
        };
        f.write_str(words)
    }
}

/// The health of the chain's growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// The chain grows as it should.
    Cleared,
    /// The tip is too old.
    Stale {
        /// The time since the tip's timestamp, in seconds.
        age: u64,
    },
    /// The last blocks took far longer than their difficulties predict.
    SlowWork {
        /// The time that the blocks took, in seconds.
        took: u64,
        /// The time that they should have taken.
        expected: u64,
    },
}
