//! A simulated chain, and a node that serves it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::post;
use axum::{Json, Router};
use randomx_http::{Server, Settings};
use randomx_monero::{
    Anchor, Block, Checkpoint, DIFFICULTY_BLOCKS, Hash, MAINNET_GENESIS_ID, RecentBlock,
    SEED_EPOCH_BLOCKS, Seed, seed_height,
};
use randomx_testing::blocks::block;
use serde_json::{Value, json};

/// The timestamp of the first block. Blocks come on time, so all have difficulty 1.
const START: u64 = 1_700_000_000;

/// The blocks after the genesis block.
pub struct Chain {
    blocks: Arc<[(Vec<u8>, Hash)]>,
}

impl Chain {
    pub fn new(tip: u64) -> Chain {
        let mut previous = MAINNET_GENESIS_ID;
        let block = |height| {
            let blob = block(height, timestamp(height), &previous, 0);
            previous = Block::parse(&blob).expect("a block").id();
            (blob, previous)
        };
        Chain { blocks: (1..=tip).map(block).collect() }
    }

    pub fn anchor(&self, height: u64) -> Anchor {
        Anchor { height, id: id(&self.blocks, height), work: 1 + u128::from(height) }
    }

    pub fn checkpoint(&self, height: u64) -> Checkpoint {
        let Anchor { id, work, .. } = self.anchor(height);
        let recent = (height + 1 - DIFFICULTY_BLOCKS as u64..=height)
            .map(|height| RecentBlock { timestamp: timestamp(height), difficulty: 1 })
            .collect();
        let mut heights = vec![seed_height(height + 1), height - height % SEED_EPOCH_BLOCKS];
        heights.dedup();
        let seed = |height| Seed { height, id: self::id(&self.blocks, height) };
        Checkpoint { height, id, work, recent, seeds: heights.into_iter().map(seed).collect() }
    }

    /// Serves the blocks like a node.
    pub fn serve(&self) -> io::Result<Server> {
        let blocks = Arc::clone(&self.blocks);
        let answer = move |Json(request): Json<Value>| {
            let result = result(&blocks, &request);
            async move { Json(json!({ "id": "0", "jsonrpc": "2.0", "result": result })) }
        };
        let router = Router::new().route("/json_rpc", post(answer));
        let longest = Duration::from_secs(60);
        let settings = Settings { headers: [].into_iter().collect(), busy: String::new(), longest };
        Server::start("127.0.0.1:0".parse().expect("an address"), router, settings)
    }
}

fn id(blocks: &[(Vec<u8>, Hash)], height: u64) -> Hash {
    height.checked_sub(1).map_or(MAINNET_GENESIS_ID, |before| blocks[before as usize].1)
}

fn timestamp(height: u64) -> u64 {
    START + 120 * height
}

fn result(blocks: &[(Vec<u8>, Hash)], request: &Value) -> Value {
    let header = |height: u64| {
        json!({
            "height": height,
            "hash": hex::encode(id(blocks, height)),
            "timestamp": timestamp(height),
            "wide_difficulty": "0x1",
            "orphan_status": false,
        })
    };
    let height = |name: &str| request["params"][name].as_u64().unwrap_or_default();
    match request["method"].as_str().unwrap_or_default() {
        "get_info" => json!({ "status": "OK", "height": blocks.len() + 1 }),
        "get_block" => {
            let height = height("height");
            let blob = &blocks[height as usize - 1].0;
            json!({ "status": "OK", "block_header": header(height), "blob": hex::encode(blob) })
        }
        "get_block_header_by_height" => {
            json!({ "status": "OK", "block_header": header(height("height")) })
        }
        _ => {
            let heights = height("start_height")..=height("end_height");
            json!({ "status": "OK", "headers": heights.map(header).collect::<Vec<_>>() })
        }
    }
}
