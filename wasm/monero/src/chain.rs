//! Block after block.

use js_sys::{Array, Float64Array, Uint8Array};
use randomx_monero::{Candidate, ChainError, Link};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument::{self, InvalidArgument};
use crate::object::{self, PlainCheckpoint, PlainVerdict, PlainWork};

/// A chain that is judged block by block: `push` them, then `settle` them in the same order.
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
    #[allow(clippy::too_many_arguments, reason = "JavaScript has no other cheap way")]
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
        let checkpoint = argument::checkpoint(height, id, work, recent, seeds)?;
        let chain = if allow_incomplete {
            randomx_monero::Chain::resume_unchecked(checkpoint, network)
        } else {
            randomx_monero::Chain::resume(checkpoint, network)
        };
        chain.map(Chain).map_err(|error| InvalidArgument::new("checkpoint", error))
    }

    /// Begins at a height, and believes about its block what only blocks before it could tell.
    ///
    /// # Errors
    ///
    /// For a height that no block can have.
    #[wasm_bindgen(js_name = beginAt)]
    pub fn begin_at(height: f64, network: &str) -> Result<Chain, InvalidArgument> {
        let network = argument::network("network", network)?;
        let height = argument::whole("from", height)?;
        let chain = randomx_monero::Chain::begin_at(height, network);
        chain.map(Chain).map_err(|error| InvalidArgument::new("from", error))
    }

    /// Demands this difficulty (decimal digits, below 2^128) of every block.
    ///
    /// # Errors
    ///
    /// For another difficulty.
    #[wasm_bindgen(js_name = withFixedDifficulty)]
    pub fn with_fixed_difficulty(self, difficulty: &str) -> Result<Chain, InvalidArgument> {
        let name = "fixedDifficulty";
        let fixed = argument::difficulty(name, difficulty)?.as_u128();
        let fixed = fixed.ok_or_else(|| InvalidArgument::new(name, "expected less than 2^128"))?;
        Ok(Chain(self.0.with_fixed_difficulty(fixed)))
    }

    /// The height of the block that is pushed next.
    #[wasm_bindgen(getter, js_name = nextHeight)]
    pub fn next_height(&self) -> f64 {
        self.0.next_height() as f64
    }

    /// Looks at the next block; returned is the proof of work that is wanted, `null` if the block is
    /// not valid whatever that is.
    ///
    /// # Errors
    ///
    /// For arguments of the wrong size or form, a seed hash or difficulty that must be told and was
    /// not, and after a block that was not valid.
    #[allow(clippy::too_many_arguments, reason = "JavaScript has no other cheap way")]
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
        let now = argument::whole("now", now)?;
        let work = self.0.push(&link, now).map_err(|error| match error {
            ChainError::SeedHashNeeded { seed_height } => InvalidArgument::new(
                "seedHash",
                format_args!("expected the id of block {seed_height}, which is not known"),
            ),
            ChainError::DifficultyNeeded => {
                InvalidArgument::new("difficulty", "expected one: too few blocks before are known")
            }
            _ => InvalidArgument::new("blocks", error),
        })?;
        Ok(object::work(work.as_ref()))
    }

    /// Gives the verdict on the first block that waits, by its hash, or without having looked at it.
    ///
    /// # Errors
    ///
    /// When no block waits, or the hash has another length.
    pub fn settle(&mut self, hash: Option<Uint8Array>) -> Result<PlainVerdict, InvalidArgument> {
        let hash = argument::optional("hash", hash.as_ref(), argument::hash)?;
        let verdict = self.0.settle(hash).map_err(|error| InvalidArgument::new("hash", error))?;
        Ok(object::verdict(&verdict))
    }

    /// The chain up to the last block that was settled and valid.
    pub fn checkpoint(&self) -> PlainCheckpoint {
        object::checkpoint(self.0.checkpoint().as_ref())
    }
}
