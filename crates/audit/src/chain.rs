//! Blocks in the state that `randomx follow` and `randomx guard` keep.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;

use randomx_client::{read_state, state_file};
use randomx_monero::client::{Client, Config, Start};
use randomx_monero::{Hash, Network, seed_height};

use crate::error::Error;
use crate::heights::heights;
use crate::remote::parse;
use crate::table::Row;

/// The blocks that a client has stored, without the one that it began with.
pub(crate) struct Chain {
    network: Network,
    rows: Vec<Row>,
    is_stated: bool,
}

impl Chain {
    /// Reads a client's state. The client may be running: it replaces the file as a whole.
    pub(crate) fn open(
        folder: &Path,
        network: Network,
        fixed_difficulty: Option<u64>,
    ) -> Result<Chain, Error> {
        let path = state_file(folder);
        let bytes =
            read_state(&path).map_err(|problem| Error::Read { path: path.clone(), problem })?;
        // The secret chooses which blocks are hashed, and none are.
        let config = Config {
            fixed_difficulty: fixed_difficulty.map(u128::from),
            ..Config::new(network, [0; 32])
        };
        let client = Client::new(config, Start::Stored(bytes))
            .map_err(|problem| Error::Store { path: path.clone(), problem })?;
        if let Some(height) = client.dropped_from() {
            return Err(Error::BrokenRule { path, height });
        }
        let seeds = client.base().seeds.iter().map(|seed| (seed.height, seed.id));
        let mut ids: HashMap<u64, Hash> = seeds.collect();
        ids.insert(client.base().height, client.base().id);
        ids.extend(client.kept().map(|block| (block.height, block.id)));
        let mut rows: Vec<Row> = client
            .kept()
            .map(|block| Row {
                height: block.height,
                seed_hash: ids.get(&seed_height(block.height)).copied(),
                hashing_blob: block.blob.to_vec(),
                difficulty: block.difficulty,
            })
            .collect();
        rows.reverse();
        Ok(Chain { network, rows, is_stated: client.has_stated_difficulties() })
    }

    pub(crate) fn network(&self) -> Network {
        self.network
    }

    /// Whether a source stated the first difficulties, perhaps too high.
    pub(crate) fn is_stated(&self) -> bool {
        self.is_stated
    }

    /// Returns the height of the oldest block.
    pub(crate) fn first(&self) -> Option<u64> {
        self.rows.first().map(|row| row.height)
    }

    /// Returns the heights of the blocks to audit.
    pub(crate) fn range(
        &self,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<RangeInclusive<u64>, Error> {
        let (Some(oldest), Some(newest)) = (self.rows.first(), self.rows.last()) else {
            return Err(Error::NoBlocks);
        };
        for (option, given) in [("--from", from), ("--to", to)] {
            if let Some(given) = given.filter(|given| *given < oldest.height) {
                return Err(Error::StoreBegins { option, first: oldest.height, given });
            }
        }
        let (first, last) = (from.unwrap_or(oldest.height), to.unwrap_or(newest.height));
        heights(first, last, newest.height)
    }

    /// Returns the id of the block at a height.
    pub(crate) fn id(&self, height: u64) -> Result<Hash, Error> {
        let row = self.blocks(&(height..=height)).first().ok_or(Error::NoBlocks)?;
        Ok(parse(height, &row.hashing_blob)?.id())
    }

    /// Returns the blocks of these heights.
    pub(crate) fn blocks(&self, heights: &RangeInclusive<u64>) -> &[Row] {
        let first = self.rows.partition_point(|row| row.height < *heights.start());
        let end = self.rows.partition_point(|row| row.height <= *heights.end());
        self.rows.get(first..end).unwrap_or_default()
    }
}
