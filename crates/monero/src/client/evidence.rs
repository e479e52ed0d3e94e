//! Evidence: blocks of one or two sides of a fork that anybody can check without a network.

use std::{error, fmt};

use super::codec::{Parser, Writer};
use crate::candidate::Candidate;
use crate::chain::{Chain, Link};
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::checks::{Check, Outcome, Status};
use crate::hash::Hash;
use crate::history::{Demand, History};
use crate::network::Network;

const MAGIC: &[u8; 8] = b"RXMevid1";

/// The most sides.
const MAX_SIDES: usize = 2;

/// The hashing blobs of one or two sides of a fork, from the last common block on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The network of the chain.
    pub network: Network,
    /// The difficulty of every block, if it does not follow the rule. The evidence's author chose it.
    pub fixed_difficulty: Option<u128>,
    /// The chain up to the last common block, as the client that wrote the evidence knew it.
    pub start: Checkpoint,
    /// The blobs of each side, the oldest first.
    pub sides: Vec<Vec<Vec<u8>>>,
}

/// The result of checking one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideVerdict {
    /// The number of blocks that follow all rules and have their proof of work.
    pub valid: usize,
    /// The id of the last of these, or of the last common block.
    pub tip: Hash,
    /// Their work.
    pub work: u128,
    /// The height and the failed checks of the first other block, if there is one.
    pub refused: Option<(u64, Vec<Check>)>,
}

impl Evidence {
    /// Returns the evidence as bytes for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(MAGIC);
        writer.network(self.network);
        writer.u128(self.fixed_difficulty.unwrap_or(0));
        writer.checkpoint(&self.start);
        writer.u8(self.sides.len() as u8);
        for side in &self.sides {
            writer.u32(side.len() as u32);
            side.iter().for_each(|blob| writer.blob(blob));
        }
        writer.finish()
    }

    /// Parses what [`Evidence::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// If the bytes are incomplete, damaged or something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EvidenceError> {
        let mut parser = Parser::new(MAGIC, bytes).ok_or(EvidenceError::NotEvidence)?;
        Self::parse(&mut parser).ok_or(EvidenceError::NotEvidence)
    }

    fn parse(parser: &mut Parser<'_>) -> Option<Self> {
        let network = parser.network()?;
        let fixed_difficulty = Some(parser.u128()?).filter(|&difficulty| difficulty != 0);
        let start = parser.checkpoint()?;
        let sides = usize::from(parser.u8()?);
        if sides == 0 || sides > MAX_SIDES {
            return None;
        }
        let blobs = |parser: &mut Parser<'_>| {
            let count = parser.count(1)?;
            (0..count).map(|_| parser.blob().map(<[u8]>::to_vec)).collect()
        };
        let sides = (0..sides).map(|_| blobs(parser)).collect::<Option<_>>()?;
        parser.end()?;
        Some(Self { network, fixed_difficulty, start, sides })
    }

    /// Checks each side by Monero's rules. `hash` computes a RandomX hash of a blob (second) with
    /// a key (first), or returns `None` to stop. `now` is the time in seconds since 1970.
    ///
    /// The common past is taken from the evidence: compare [`Evidence::start`] with a chain that
    /// you trust.
    ///
    /// Only the difficulty rule ties proofs of work to the network. So evidence of a chain with a fixed
    /// difficulty is checked if it is one of regtest, or if the same difficulty is `stated`.
    ///
    /// # Errors
    ///
    /// If the evidence's fixed difficulty is refused or not the stated one, the common past is incomplete or
    /// implausible, or `hash` stops.
    pub fn verify(
        &self,
        stated: Option<u128>,
        now: u64,
        hash: &mut dyn FnMut(&Hash, &[u8]) -> Option<Hash>,
    ) -> Result<Vec<SideVerdict>, EvidenceError> {
        let given = self.fixed_difficulty;
        let is_permitted = match stated {
            Some(_) => stated == given,
            None => given.is_none() || self.network == Network::Regtest,
        };
        if !is_permitted {
            return Err(EvidenceError::FixedDifficulty { expected: stated, given });
        }
        self.sides.iter().map(|side| self.verify_side(side, now, hash)).collect()
    }

    /// Returns the difficulty that the first block of each side needs. `None` if the common past yields none.
    ///
    /// Like the common past, the difficulties from which it is computed are taken from the evidence.
    pub fn difficulty(&self) -> Option<u128> {
        let Checkpoint { height, ref recent, .. } = self.start;
        let ruled = || match History::new(recent.clone()).difficulty(height.saturating_add(1)) {
            Demand::Ruled(difficulty) => Some(difficulty),
            Demand::Nothing | Demand::Unknown => None,
        };
        self.fixed_difficulty.or_else(ruled)
    }

    fn verify_side(
        &self,
        blobs: &[Vec<u8>],
        now: u64,
        hash: &mut dyn FnMut(&Hash, &[u8]) -> Option<Hash>,
    ) -> Result<SideVerdict, EvidenceError> {
        let start = self.start.clone();
        let before = start.work;
        let mut verdict = SideVerdict { valid: 0, tip: start.id, work: 0, refused: None };
        let chain = Chain::resume(start, self.network).map_err(EvidenceError::Start)?;
        let mut chain = match self.fixed_difficulty {
            Some(difficulty) => chain.with_fixed_difficulty(difficulty),
            None => chain,
        };
        for blob in blobs {
            let block = Candidate { hashing_blob: Some(blob), ..Candidate::default() };
            let link = Link { block, ..Link::default() };
            // A complete start leaves nothing that would have to be given.
            let Ok(work) = chain.push(&link, now) else { return Err(EvidenceError::TooLong) };
            let hash = match work {
                Some(work) => {
                    let computed = hash(&work.seed_hash, &work.hashing_blob);
                    Some(computed.ok_or(EvidenceError::Stopped)?)
                }
                None => None,
            };
            let Ok(settled) = chain.settle(hash) else { return Err(EvidenceError::TooLong) };
            if settled.status != Status::Valid {
                let failed = |check: &Check| {
                    matches!(check.outcome, Outcome::Failed | Outcome::UpdateNeeded)
                };
                let checks = settled.checks.into_iter().filter(failed).collect();
                verdict.refused = Some((settled.height, checks));
                return Ok(verdict);
            }
            verdict.valid += 1;
            verdict.tip = settled.id.unwrap_or(verdict.tip);
            verdict.work = settled.work - before;
        }
        Ok(verdict)
    }
}

/// The reason why evidence cannot be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvidenceError {
    /// The bytes are incomplete, damaged or something else.
    NotEvidence,
    /// The evidence has a fixed difficulty that its network does not have, or another one than the caller
    /// stated.
    FixedDifficulty {
        /// The one that the caller stated.
        expected: Option<u128>,
        /// The one in the evidence.
        given: Option<u128>,
    },
    /// The common past cannot be judged from.
    Start(CheckpointError),
    /// The chain would exceed the greatest height.
    TooLong,
    /// The caller stopped hashing.
    Stopped,
}

impl fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEvidence => f.write_str("expected evidence, got other or damaged bytes"),
            Self::FixedDifficulty { expected, given } => {
                let text = |fixed: &Option<u128>| fixed.map_or("none".into(), |n| n.to_string());
                let (expected, given) = (text(expected), text(given));
                write!(f, "fixed difficulty: expected {expected}, got {given}")
            }
            Self::Start(error) => write!(f, "the common past: {error}"),
            Self::TooLong => f.write_str("the chain exceeds the greatest height"),
            Self::Stopped => f.write_str("hashing was stopped"),
        }
    }
}

impl error::Error for EvidenceError {}
