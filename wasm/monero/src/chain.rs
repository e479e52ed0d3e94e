//! Checks of a chain, block after block.

use js_sys::{Array, Float64Array, Uint8Array};
use randomx_monero::{Candidate, ChainError, Link, TIMESTAMP_FUTURE_LIMIT};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument::{self, InvalidArgument, MAX_SAFE_INTEGER};
use crate::chain_argument;
use crate::verdict::{self, PlainCheckpoint, PlainVerdict, PlainWork};

/// A chain of blocks under verification. `push` blocks, then `settle` them in the same order.
#[wasm_bindgen]
pub struct Chain(randomx_monero::Chain);

#[wasm_bindgen]
impl Chain {
    /// Continues after a checkpoint, given in its parts. Unless `allowIncomplete` is set, it must be
    /// complete and plausible.
    ///
    /// # Errors
    ///
    /// If the parts form no checkpoint, or one that is not allowed.
    #[allow(clippy::too_many_arguments, reason = "JavaScript has no cheaper way to pass a struct")]
    pub fn resume(
        height: f64,
        id: &Uint8Array,
        work: &str,
        timestamps: &Float64Array,
        difficulties: &Array,
        seed_heights: &Float64Array,
        seed_ids: &Array,
        network: &str,
        allow_incomplete: bool,
    ) -> Result<Chain, InvalidArgument> {
        let network = argument::network("network", network)?;
        let recent = (timestamps, difficulties);
        let seeds = (seed_heights, seed_ids);
        let checkpoint = chain_argument::checkpoint(height, id, work, recent, seeds)?;
        let chain = if allow_incomplete {
            randomx_monero::Chain::resume_unchecked(checkpoint, network)
        } else {
            randomx_monero::Chain::resume(checkpoint, network)
        };
        chain.map(Chain).map_err(|error| InvalidArgument::new("checkpoint", error))
    }

    /// Begins at a height. The claims that only earlier blocks could confirm are trusted.
    ///
    /// # Errors
    ///
    /// If no block can have this height.
    #[wasm_bindgen(js_name = beginAt)]
    pub fn begin_at(height: f64, network: &str) -> Result<Chain, InvalidArgument> {
        let network = argument::network("network", network)?;
        let height = argument::whole("from", height)?;
        let chain = randomx_monero::Chain::begin_at(height, network);
        chain.map(Chain).map_err(|error| InvalidArgument::new("from", error))
    }

    /// Demands this difficulty (decimal digits, 1 to 2^128 - 1) of every block.
    ///
    /// # Errors
    ///
    /// If the difficulty is invalid.
    #[wasm_bindgen(js_name = withFixedDifficulty)]
    pub fn with_fixed_difficulty(self, difficulty: &str) -> Result<Chain, InvalidArgument> {
        Ok(Chain(self.0.with_fixed_difficulty(chain_argument::fixed_difficulty(difficulty)?)))
    }

    /// Returns the height of the next block to push.
    #[wasm_bindgen(getter, js_name = nextHeight)]
    pub fn next_height(&self) -> f64 {
        self.0.next_height() as f64
    }

    /// Checks the next block. Returns the work to hash, or `null` if the block is invalid whatever its
    /// hash.
    ///
    /// # Errors
    ///
    /// If an argument has the wrong size or form, if the seed hash or the difficulty is needed and
    /// missing, and after an invalid block.
    #[allow(clippy::too_many_arguments, reason = "JavaScript has no cheaper way to pass a struct")]
    pub fn push(
        &mut self,
        block: Option<Uint8Array>,
        hashing_blob: Option<Uint8Array>,
        id: Option<Uint8Array>,
        height: Option<f64>,
        seed_hash: Option<Uint8Array>,
        difficulty: Option<String>,
        now: f64,
    ) -> Result<PlainWork, InvalidArgument> {
        let block = argument::optional("block", block.as_ref(), argument::bytes)?;
        let hashing_blob =
            argument::optional("hashingBlob", hashing_blob.as_ref(), argument::bytes)?;
        let link = Link {
            block: Candidate {
                block: block.as_deref(),
                hashing_blob: hashing_blob.as_deref(),
                id: argument::optional("id", id.as_ref(), argument::hash)?,
                height: argument::optional("height", height, argument::whole)?,
            },
            seed_hash: argument::optional("seedHash", seed_hash.as_ref(), argument::hash)?,
            difficulty: argument::optional(
                "difficulty",
                difficulty.as_deref(),
                argument::difficulty,
            )?,
        };
        let now = time(now)?;
        let work = self.0.push(&link, now).map_err(refused)?;
        Ok(verdict::work(work.as_ref()))
    }

    /// Returns the verdict on the first pushed block, by its hash. Without a hash the proof of work is
    /// not checked.
    ///
    /// # Errors
    ///
    /// If no block waits, or the hash has another length.
    pub fn settle(&mut self, hash: Option<Uint8Array>) -> Result<PlainVerdict, InvalidArgument> {
        let hash = argument::optional("hash", hash.as_ref(), argument::hash)?;
        let verdict = self.0.settle(hash).map_err(refused)?;
        Ok(verdict::verdict(&verdict))
    }

    /// Returns the chain up to the last block whose own proof of work was checked. After a refused block this is the
    /// checkpoint with which the chain began.
    pub fn checkpoint(&self) -> PlainCheckpoint {
        verdict::checkpoint(self.0.checkpoint().as_ref())
    }
}

/// Returns the error of a call that the chain refuses. It names the argument that would change that, or else the chain.
fn refused(error: ChainError) -> InvalidArgument {
    let name = match error {
        ChainError::SeedHashNeeded { .. } => "seedHash",
        ChainError::DifficultyNeeded => "difficulty",
        ChainError::TooHigh => "height",
        _ => "chain",
    };
    InvalidArgument::new(name, error)
}

/// Returns the current time, at most 2^53 - 7201 seconds. So JavaScript holds the timestamps exactly that are
/// accepted at that time.
fn time(now: f64) -> Result<u64, InvalidArgument> {
    match argument::whole("now", now)? {
        now if now <= MAX_SAFE_INTEGER - TIMESTAMP_FUTURE_LIMIT => Ok(now),
        now => Err(InvalidArgument::new(
            "now",
            format_args!("expected at most 2^53 - 7201, got {now}"),
        )),
    }
}
