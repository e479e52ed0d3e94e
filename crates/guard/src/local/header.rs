//! Headers in the form that nodes give them.

use std::borrow::Cow;

use randomx_monero::{Block, unknown_version};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocks::MAX_BLOB;
use crate::verified::Verified;

/// Describes a verified block. Fields that its hash does not prove are zero or empty: weights, and for
/// older blocks the difficulty.
pub(super) fn describe(block: &Verified, height: u64, tip: u64) -> Value {
    let header = &block.blob.header;
    let mut described = json!({
        "major_version": header.major_version,
        "minor_version": header.minor_version,
        "timestamp": header.timestamp,
        "prev_hash": hex::encode(header.previous_id),
        "nonce": header.nonce,
        "orphan_status": false,
        "height": height,
        "depth": tip - height,
        "hash": hex::encode(block.id),
        "num_txes": block.blob.transactions.saturating_sub(1),
        "reward": 0,
        "block_size": 0,
        "block_weight": 0,
        "long_term_weight": 0,
        "pow_hash": "",
        "miner_tx_hash": "",
    });
    let work = block.work;
    put_difficulty(&mut described, "difficulty", work.map(|(difficulty, _)| difficulty));
    put_difficulty(&mut described, "cumulative_difficulty", work.map(|(_, work)| work));
    described
}

/// Adds a number of 128 bits in the three forms that nodes use.
pub(super) fn put_difficulty(object: &mut Value, name: &str, value: Option<u128>) {
    let value = value.unwrap_or(0);
    object[name] = json!(value as u64);
    object[format!("{name}_top64")] = json!((value >> 64) as u64);
    object[format!("wide_{name}")] = json!(format!("{value:#x}"));
}

#[derive(Deserialize)]
struct BlockAnswer<'a> {
    #[serde(borrow)]
    result: BlockResult<'a>,
}

#[derive(Deserialize)]
struct BlockResult<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow, default)]
    blob: Cow<'a, str>,
}

/// Returns the block in a node's answer to `get_block`, and its blob.
pub(super) fn read_block(answer: &[u8]) -> Result<(Vec<u8>, Block), String> {
    let answer: BlockAnswer<'_> =
        serde_json::from_slice(answer).map_err(|problem| problem.to_string())?;
    let BlockResult { status, blob } = answer.result;
    if status != "OK" {
        return Err(format!("the node answered {status:?}"));
    }
    if blob.len() > 2 * MAX_BLOB {
        return Err(format!("blob: expected at most {MAX_BLOB} bytes"));
    }
    let blob = hex::decode(&*blob).map_err(|problem| format!("blob: {problem}"))?;
    // An honest node may follow rules that this release does not know.
    if let Some(version) = unknown_version(&blob) {
        return Err(format!("its version {version} needs a newer release"));
    }
    let block = Block::parse(&blob).map_err(|problem| format!("blob: {problem}"))?;
    Ok((blob, block))
}

#[cfg(test)]
mod tests {
    use randomx_testing::blocks::block_with;

    use super::*;

    #[test]
    fn a_block_is_no_longer_than_evidence_may_be() {
        let read = |transactions: usize| {
            let blob = block_with(1, 1, &[0; 32], 0, 1, &vec![[7; 32]; transactions]);
            let answer = json!({ "result": { "status": "OK", "blob": hex::encode(&blob) } });
            (
                blob.len() > MAX_BLOB,
                read_block(answer.to_string().as_bytes()).map(|(blob, _)| blob.len()),
            )
        };
        let most = MAX_BLOB / 32;
        let (is_long, outcome) = read(most);
        assert_eq!(
            (is_long, outcome),
            (true, Err("blob: expected at most 1048576 bytes".to_owned()))
        );
        // The header and the miner's transaction take less than 320 bytes.
        let (is_long, outcome) = read(most - 10);
        assert!(!is_long && outcome.is_ok(), "{outcome:?}");
    }
}
