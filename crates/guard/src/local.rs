//! Methods that are answered from the verified chain alone.

mod header;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use randomx_monero::{Block, DIFFICULTY_TARGET, Hash, Network, TIMESTAMP_WINDOW, median_timestamp};
use serde_json::{Value, json};

use crate::chain::{View, off_chain};
use crate::nodes::{Call, Fault};
use crate::refusal::Refusal;
use crate::service::Service;

/// The version of the nodes' interface that this one resembles: 3.15.
const RPC_VERSION: u32 = 3 << 16 | 15;

/// The most headers in an answer, as restricted nodes send.
const MAX_HEADERS: u64 = 1000;

/// The weight of blocks up to which miners lose nothing, and its double, the least limit. Blocks do not
/// commit to the present ones.
const FREE_WEIGHT: u64 = 300_000;

/// The longest answer of a node about one block.
pub(crate) const MAX_BLOCK: u64 = 8 << 20;

/// Answers a method, for a request that began at `begun`.
pub(crate) fn answer(
    service: &Service,
    begun: Instant,
    method: &str,
    params: &Value,
) -> Result<Value, Refusal> {
    let view = service.chain.view()?;
    let (tip, _) = view.tip();
    let height = |name: &str| {
        let height = params[name].as_u64();
        height.ok_or_else(|| Refusal::Request(format!("{name}: expected a height")))
    };
    let result = match method {
        "get_height" => json!({ "height": tip + 1, "hash": hex::encode(view.tip().1) }),
        "get_info" => info(&view),
        "get_block_count" | "getblockcount" => json!({ "count": tip + 1 }),
        "on_get_block_hash" | "on_getblockhash" => {
            let height = params[0].as_u64();
            let height = height.ok_or_else(|| Refusal::Request("expected [height]".to_owned()))?;
            // The only result that is not an object.
            return Ok(json!(hex::encode(service.chain.id(&view, begun, height)?)));
        }
        "get_version" => version(&view),
        "hard_fork_info" => fork_info(&view, params["version"].as_u64().unwrap_or(0)),
        "get_last_block_header" | "getlastblockheader" => {
            json!({ "block_header": header(service, &view, begun, tip)? })
        }
        "get_block_header_by_height" | "getblockheaderbyheight" => {
            json!({ "block_header": header(service, &view, begun, height("height")?)? })
        }
        "get_block_header_by_hash" | "getblockheaderbyhash" => {
            let found = height_of(service, &view, begun, params["hash"].as_str())?;
            json!({ "block_header": header(service, &view, begun, found)?, "block_headers": [] })
        }
        "get_block_headers_range" | "getblockheadersrange" => {
            let (first, last) = (height("start_height")?, height("end_height")?);
            if first > last || last > tip || last - first >= MAX_HEADERS {
                let problem = format!(
                    "expected start_height <= end_height <= {tip}, at most {MAX_HEADERS} headers"
                );
                return Err(Refusal::Request(problem));
            }
            let headers = (first..=last).map(|height| header(service, &view, begun, height));
            json!({ "headers": headers.collect::<Result<Vec<_>, _>>()? })
        }
        "get_block" | "getblock" => {
            let found = match params["hash"].as_str().filter(|hash| !hash.is_empty()) {
                Some(hash) => height_of(service, &view, begun, Some(hash))?,
                None => height("height")?,
            };
            block(service, &view, begun, found)?
        }
        other => return Err(Refusal::Unknown(other.chars().take(60).collect())),
    };
    Ok(ok(result))
}

/// Adds the fields that every result has.
fn ok(mut result: Value) -> Value {
    result["status"] = json!("OK");
    result["untrusted"] = json!(false);
    result
}

/// Returns the header of a block, for a request that began at `begun`.
fn header(service: &Service, view: &View, begun: Instant, height: u64) -> Result<Value, Refusal> {
    let block = service.chain.block(view, begun, height)?;
    Ok(header::describe(&block, height, view.tip().0))
}

/// Returns the height of a block, for a request that began at `begun`.
fn height_of(
    service: &Service,
    view: &View,
    begun: Instant,
    id: Option<&str>,
) -> Result<u64, Refusal> {
    let malformed = || Refusal::Request("hash: expected 64 hex digits".to_owned());
    let mut hash: Hash = [0; 32];
    hex::decode_to_slice(id.ok_or_else(malformed)?, &mut hash).map_err(|_| malformed())?;
    if let Some(height) = service.chain.height_of(view, &hash) {
        return Ok(height);
    }
    // A node may say where a block is whose header was not read yet, which is checked then.
    let call = Call::json_rpc("get_block_header_by_hash", &json!({ "hash": id }), 16 << 10);
    service.nodes.ask(begun, &call, |answer| {
        let answer: Value = serde_json::from_slice(answer)
            .map_err(|_| Fault::Unusable("expected JSON".to_owned()))?;
        let height = answer["result"]["block_header"]["height"].as_u64();
        let height =
            height.ok_or_else(|| Fault::Unusable("the node does not have the block".to_owned()))?;
        if service.chain.id(view, begun, height)? == hash {
            return Ok(height);
        }
        let problem = format!("hash: the block is not block {height} of the verified chain");
        Err(Fault::Unusable(problem))
    })
}

/// Returns a block, which a node sends and whose id is compared, for a request that began at `begun`.
fn block(service: &Service, view: &View, begun: Instant, height: u64) -> Result<Value, Refusal> {
    let verified = service.chain.block(view, begun, height)?;
    let (blob, block) = fetch_block(service, view, begun, height, &verified.id)?;
    let mut header = header::describe(&verified, height, view.tip().0);
    let hash = hex::encode(block.miner_transaction.hash);
    header["miner_tx_hash"] = json!(hash);
    header["reward"] = json!(block.miner_transaction.sum);
    Ok(json!({
        "blob": hex::encode(&blob),
        "block_header": header,
        "miner_tx_hash": hash,
        "tx_hashes": block.transaction_hashes.iter().map(hex::encode).collect::<Vec<_>>(),
    }))
}

/// Asks nodes for a block without its transactions, and compares its id.
fn fetch_block(
    service: &Service,
    view: &View,
    begun: Instant,
    height: u64,
    id: &Hash,
) -> Result<(Vec<u8>, Block), Refusal> {
    let call = Call::json_rpc("get_block", &json!({ "height": height }), MAX_BLOCK);
    service.nodes.ask(begun, &call, |answer| {
        let (blob, block) = header::read_block(answer)
            .map_err(|problem| Fault::Unusable(format!("block {height}: {problem}")))?;
        if block.id() == *id {
            Ok((blob, block))
        } else {
            Err(off_chain(view, height, id, block.id(), ("block", &blob)))
        }
    })
}

fn info(view: &View) -> Value {
    let (tip, id) = view.tip();
    let last = view.block(tip).and_then(|block| block.work);
    let mut info = json!({
        "height": tip + 1,
        "height_without_bootstrap": tip + 1,
        "target_height": 0,
        "target": DIFFICULTY_TARGET,
        "top_block_hash": hex::encode(id),
        "nettype": net_type(view.network),
        "mainnet": view.network == Network::Mainnet,
        "testnet": view.network == Network::Testnet,
        "stagenet": view.network == Network::Stagenet,
        "block_size_limit": 2 * FREE_WEIGHT,
        "block_weight_limit": 2 * FREE_WEIGHT,
        "block_size_median": FREE_WEIGHT,
        "block_weight_median": FREE_WEIGHT,
        "adjusted_time": adjusted_time(view),
        "synchronized": true,
        "busy_syncing": false,
        "offline": false,
        "restricted": true,
        "update_available": false,
        "was_bootstrap_ever_used": false,
        "bootstrap_daemon_address": "",
        "version": "",
    });
    header::put_difficulty(&mut info, "difficulty", last.map(|(difficulty, _)| difficulty));
    header::put_difficulty(&mut info, "cumulative_difficulty", Some(view.work));
    for unknown in [
        "alt_blocks_count",
        "database_size",
        "free_space",
        "grey_peerlist_size",
        "incoming_connections_count",
        "outgoing_connections_count",
        "rpc_connections_count",
        "start_time",
        "tx_count",
        "tx_pool_size",
        "white_peerlist_size",
    ] {
        info[unknown] = json!(0);
    }
    info
}

/// Returns the time by which nodes judge whether outputs are unlocked.
fn adjusted_time(view: &View) -> u64 {
    let timestamps = view.timestamps(TIMESTAMP_WINDOW);
    let Some(window) = timestamps.last_chunk::<TIMESTAMP_WINDOW>() else {
        return SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    };
    let ahead = (TIMESTAMP_WINDOW as u64 + 1) * DIFFICULTY_TARGET / 2;
    let median = median_timestamp(window).saturating_add(ahead);
    median.min(view.timestamp.saturating_add(DIFFICULTY_TARGET))
}

fn net_type(network: Network) -> &'static str {
    match network {
        Network::Regtest => "fakechain",
        other => other.as_str(),
    }
}

/// Returns each version with its first height, as nodes list them.
fn versions(network: Network) -> impl Iterator<Item = (u8, u64)> {
    let first = (1, u64::from(network != Network::Regtest));
    std::iter::once(first).chain(network.forks().iter().copied())
}

fn version(view: &View) -> Value {
    let forks = versions(view.network);
    let forks: Vec<Value> =
        forks.map(|(version, height)| json!({ "hf_version": version, "height": height })).collect();
    json!({
        "version": RPC_VERSION,
        "release": true,
        "current_height": view.tip().0 + 1,
        "target_height": 0,
        "hard_forks": forks,
    })
}

fn fork_info(view: &View, version: u64) -> Value {
    let next = view.tip().0 + 1;
    let current = view.network.version_at(next);
    let asked = if version == 0 { u64::from(current) } else { version };
    // A chain may skip versions.
    let earliest = versions(view.network).find(|(version, _)| u64::from(*version) >= asked);
    json!({
        "version": current,
        "enabled": u64::from(current) >= asked,
        "earliest_height": earliest.map_or(u64::MAX, |(_, height)| height),
        // Ready: nodes call it 2.
        "state": 2,
        "threshold": 0,
        "votes": 0,
        "voting": current,
        "window": 0,
    })
}
