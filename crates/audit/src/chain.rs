//! Blocks in the state that `randomx follow` and `randomx guard` keep.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::Path;

use randomx_monero::client::{Client, Config, Start};
use randomx_monero::{Hash, Network, seed_height};

use crate::error::Error;
use crate::table::Row;

/// The name of the state's file in its folder.
const STATE: &str = "chain";

/// The longest state that is read; see [`randomx_client::Store`].
const MAX_BYTES: u64 = 16 << 20;

/// The blocks that a client has stored, without the one that it began with.
pub(crate) struct Chain {
    network: Network,
    rows: Vec<Row>,
}

impl Chain {
    /// Reads a client's state. The client may be running: it replaces the file as a whole.
    pub(crate) fn open(
        folder: &Path,
        network: Network,
        fixed_difficulty: Option<u64>,
    ) -> Result<Chain, Error> {
        let path = folder.join(STATE);
        let bytes = read(&path).map_err(|problem| Error::Read { path: path.clone(), problem })?;
        // The secret chooses which blocks are hashed, and none are.
        let config = Config {
            fixed_difficulty: fixed_difficulty.map(u128::from),
            ..Config::new(network, [0; 32])
        };
        let client = Client::new(config, Start::Stored(bytes))
            .map_err(|problem| Error::Store { path, problem })?;
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
        Ok(Chain { network, rows })
    }

    pub(crate) fn network(&self) -> Network {
        self.network
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
        let (first, last) = (from.unwrap_or(oldest.height), to.unwrap_or(newest.height));
        if first < oldest.height {
            return Err(Error::StoreBegins { first: oldest.height, from: first });
        }
        if last > newest.height {
            return Err(Error::ChainEnds { tip: newest.height, to: last });
        }
        if first > last {
            return Err(Error::Range { first, last });
        }
        Ok(first..=last)
    }

    /// Returns the blocks of these heights.
    pub(crate) fn blocks(&self, heights: &RangeInclusive<u64>) -> &[Row] {
        let first = self.rows.partition_point(|row| row.height < *heights.start());
        let end = self.rows.partition_point(|row| row.height <= *heights.end());
        self.rows.get(first..end).unwrap_or_default()
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("more than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}
