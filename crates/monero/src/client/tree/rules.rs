//! The rules that need no hash, which a block of the tree follows.

use super::{Entry, Tree};
use crate::anchor::Anchor;
use crate::candidate::check_version;
use crate::checkpoint::{MAX_HEIGHT, RecentBlock};
use crate::checks::Outcome;
use crate::client::senders::Senders;
use crate::hash::{Hash, Hex};
use crate::header::{HashingBlob, unknown_version};
use crate::history::{Demand, History};
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::timestamp::TIMESTAMP_FUTURE_LIMIT;

/// Why a block is not in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::client) enum Refusal {
    /// It breaks a rule, whatever its hash.
    Invalid(String),
    /// Its version is newer than this release expects at the height.
    UpdateNeeded(u8),
    /// Its timestamp, which this has, is too far ahead of the clock. Time may mend that.
    TooEarly(u64),
    /// It does not follow the block that it should.
    Unlinked,
    /// It is no hashing blob of a known version.
    Malformed,
}

/// A blob that cannot be parsed may have a format of the future.
pub(in crate::client) fn unparsed(blob: &[u8]) -> Refusal {
    unknown_version(blob).map_or(Refusal::Malformed, Refusal::UpdateNeeded)
}

impl Tree {
    /// Adds a block after `parent` if it follows all rules that need no hash, and returns its id.
    pub(in crate::client) fn insert(
        &mut self,
        parent: &Hash,
        blob: &[u8],
        now: u64,
    ) -> Result<Hash, Refusal> {
        let parsed = match HashingBlob::parse(blob) {
            Ok(parsed) if blob.len() <= HashingBlob::MAX_BYTES => parsed,
            _ => return Err(unparsed(blob)),
        };
        let header = &parsed.header;
        if header.previous_id != *parent {
            return Err(Refusal::Unlinked);
        }
        let id = parsed.id();
        if self.contains(&id) {
            return Ok(id);
        }
        let height = self.height(parent) + 1;
        if height > MAX_HEIGHT {
            return Err(Refusal::Invalid(format!("the height exceeds {MAX_HEIGHT}")));
        }
        let version = check_version(header.major_version, Some(height), self.network);
        match version.outcome {
            Outcome::UpdateNeeded => return Err(Refusal::UpdateNeeded(header.major_version)),
            Outcome::Failed => return Err(Refusal::Invalid(version.detail)),
            Outcome::Passed | Outcome::NotChecked => {}
        }
        if header.minor_version < header.major_version {
            return Err(Refusal::Invalid("the vote is below the block's version".to_owned()));
        }
        let anchor = Anchor::all(self.network).iter().find(|anchor| anchor.height == height);
        if let Some(anchor) = anchor.filter(|anchor| anchor.id != id) {
            let expected = Hex(&anchor.id);
            return Err(Refusal::Invalid(format!("expected block {expected} at this height")));
        }
        let mut history = match self.cursor.take() {
            Some((tip, history)) if tip == *parent => history,
            _ => self.history(parent),
        };
        let timestamp = header.timestamp;
        let difficulty = self.demanded(&mut history, height, timestamp, now)?;
        let Some(work) = history.work_with(self.work(parent), difficulty) else {
            return Err(Refusal::Invalid("the chain's work is 2^127 or more".to_owned()));
        };
        history.push(RecentBlock { timestamp, difficulty }, DIFFICULTY_BLOCKS);
        self.cursor = Some((id, history));
        let entry = Entry {
            height,
            parent: *parent,
            timestamp,
            difficulty,
            work,
            hashed: false,
            doubted: false,
            accepted: false,
            senders: Senders::default(),
            blob: blob.to_vec(),
        };
        self.entries.insert(id, entry);
        Ok(id)
    }

    /// Checks a timestamp, and returns the difficulty.
    fn demanded(
        &self,
        history: &mut History,
        height: u64,
        timestamp: u64,
        now: u64,
    ) -> Result<u128, Refusal> {
        if let Demand::Ruled(median) = history.median(height)
            && timestamp < median
        {
            let problem = format!("the timestamp {timestamp} is before the median {median}");
            return Err(Refusal::Invalid(problem));
        }
        if timestamp > now.saturating_add(TIMESTAMP_FUTURE_LIMIT) {
            return Err(Refusal::TooEarly(timestamp));
        }
        let demand = match self.fixed_difficulty {
            Some(fixed) => Demand::Ruled(fixed),
            None => history.difficulty(height),
        };
        match demand {
            Demand::Ruled(difficulty) if difficulty > 0 => Ok(difficulty),
            _ => Err(Refusal::Invalid("the rule yields no difficulty".to_owned())),
        }
    }
}
