//! Blocks of a node or a relay.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use randomx_client::{Answer, Source, SourceError};
use randomx_epochs::Links;
use randomx_monero::client::Query;
use randomx_monero::{Hash, HashingBlob, Network, seed_height, unknown_version};

use crate::error::Error;
use crate::heights::heights;
use crate::table::Row;

/// Attempts to get an answer.
const ATTEMPTS: u32 = 5;

/// The pause after the first attempt. Each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(250);

/// Blocks in one question.
const CHUNK: u64 = 512;

/// The newest blocks that are left out unless they are asked for: the chain may still drop them.
const UNSETTLED: u64 = 10;

/// A node or a relay.
pub(crate) struct Remote {
    source: Source,
    network: Network,
    /// Why blocks could not be read in turn. It is locked while a thread reads.
    failure: Mutex<Option<Error>>,
}

/// The blocks of an epoch, with the ids that link it to its neighbours.
pub(crate) struct Blocks {
    pub(crate) rows: Vec<Row>,
    pub(crate) links: Links,
}

impl Remote {
    pub(crate) fn new(source: Source, network: Network) -> Remote {
        Remote { source, network, failure: Mutex::default() }
    }

    pub(crate) fn network(&self) -> Network {
        self.network
    }

    /// Returns the height of the last block.
    pub(crate) fn tip(&self) -> Result<u64, Error> {
        match self.ask(Query::Tip)? {
            Answer::Tip(tip, _) => Ok(tip),
            _ => Err(Error::NoTip),
        }
    }

    /// Returns the blocks to read.
    pub(crate) fn range(
        &self,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<RangeInclusive<u64>, Error> {
        let first = from.filter(|&from| from > 0).ok_or(Error::Genesis)?;
        let tip = self.tip()?;
        let settled = tip.saturating_sub(UNSETTLED);
        if to.is_none() && first > settled {
            return Err(Error::Unsettled { first, last: settled });
        }
        heights(first, to.unwrap_or(settled), tip)
    }

    /// Reads blocks as [`Remote::blocks`] does, while no other thread does so: a node gets few requests at once, and
    /// reading takes far less time than hashing. After a failure, which [`Remote::take_failure`] returns, no thread reads
    /// further blocks.
    pub(crate) fn blocks_in_turn(&self, heights: RangeInclusive<u64>) -> Result<Blocks, Error> {
        let mut failure = self.failure();
        if failure.is_none() {
            match self.blocks(heights) {
                Ok(blocks) => return Ok(blocks),
                Err(problem) => *failure = Some(problem),
            }
        }
        Err(randomx_epochs::Error::Stopped.into())
    }

    /// Returns why blocks could not be read in turn, once.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.failure().take()
    }

    fn failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads blocks of one epoch, which must follow each other.
    pub(crate) fn blocks(&self, heights: RangeInclusive<u64>) -> Result<Blocks, Error> {
        let (first, last) = heights.into_inner();
        let seed_hash = Some(self.seed_hash(first)?);
        let links = Links { previous: [0; 32], last: [0; 32] };
        let mut blocks = Blocks { rows: Vec::new(), links };
        let mut next = first;
        while next <= last {
            let count = CHUNK.min(last - next + 1);
            let blobs = self.headers(next, count)?;
            let difficulties = self.difficulties(next, blobs.len() as u64)?;
            for (hashing_blob, difficulty) in blobs.into_iter().zip(difficulties) {
                let parsed = parse(next, &hashing_blob)?;
                if next == first {
                    blocks.links.previous = parsed.header.previous_id;
                } else if parsed.header.previous_id != blocks.links.last {
                    return Err(Error::Unlinked {
                        height: next,
                        expected: hex::encode(blocks.links.last),
                        got: hex::encode(parsed.header.previous_id),
                        advice: "run the command again".to_owned(),
                    });
                }
                blocks.links.last = parsed.id();
                blocks.rows.push(Row { height: next, seed_hash, hashing_blob, difficulty });
                next += 1;
            }
        }
        // Headers and difficulties are two answers. The last block is still there, so all blocks before it were
        // there for both, unless the chain changed twice in between. Then only difficulties after the first 16
        // blocks of a side can be those of the other one.
        let now = self.id(last)?;
        if now != blocks.links.last {
            return Err(Error::Replaced {
                height: last,
                read: hex::encode(blocks.links.last),
                now: hex::encode(now),
            });
        }
        Ok(blocks)
    }

    /// Reads the difficulties of blocks.
    pub(crate) fn difficulties_of(
        &self,
        heights: &RangeInclusive<u64>,
    ) -> Result<Vec<u128>, Error> {
        let (mut next, last) = (*heights.start(), *heights.end());
        let mut difficulties = Vec::new();
        while next <= last {
            let count = CHUNK.min(last - next + 1);
            difficulties.extend(self.difficulties(next, count)?);
            next += count;
        }
        Ok(difficulties)
    }

    /// Returns the key at a height.
    fn seed_hash(&self, height: u64) -> Result<Hash, Error> {
        let seed = seed_height(height);
        // Relays have no genesis block.
        if seed == 0 {
            return Ok(self.network.genesis_id());
        }
        self.id(seed)
    }

    /// Returns the id of the block at a height.
    pub(crate) fn id(&self, height: u64) -> Result<Hash, Error> {
        let blobs = self.headers(height, 1)?;
        let blob = blobs.first().ok_or_else(|| unexpected(height))?;
        Ok(parse(height, blob)?.id())
    }

    /// Asks for up to `count` hashing blobs; the answer has at least one.
    fn headers(&self, first: u64, count: u64) -> Result<Vec<Vec<u8>>, Error> {
        match self.ask(Query::Headers { first, count })? {
            Answer::Headers(blobs) if (1..=count).contains(&(blobs.len() as u64)) => Ok(blobs),
            _ => Err(unexpected(first)),
        }
    }

    fn difficulties(&self, first: u64, count: u64) -> Result<Vec<u128>, Error> {
        match self.ask(Query::Difficulties { first, count })? {
            Answer::Difficulties(found) if found.len() as u64 == count => Ok(found),
            _ => Err(unexpected(first)),
        }
    }

    /// Asks a question, several times if need be.
    fn ask(&self, query: Query) -> Result<Answer, SourceError> {
        let mut pause = PAUSE;
        for _ in 1..ATTEMPTS {
            if let Ok(answer) = self.source.ask(query) {
                return Ok(answer);
            }
            thread::sleep(pause);
            pause *= 2;
        }
        self.source.ask(query)
    }
}

/// Parses the hashing blob of a block. Of a block in a format of the future, there may be only the beginning.
pub(crate) fn parse(height: u64, blob: &[u8]) -> Result<HashingBlob, Error> {
    HashingBlob::parse(blob).map_err(|problem| match unknown_version(blob) {
        Some(version) => Error::Version { height, version },
        None => Error::Block { height, problem: format!("hashing blob: {problem}") },
    })
}

/// The error for an answer that has no block at a height.
fn unexpected(height: u64) -> Error {
    Error::Block { height, problem: "expected a header and a difficulty, got none".to_owned() }
}
