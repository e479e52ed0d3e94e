//! Requests for transactions and the answers, in JSON.

use std::borrow::Cow;

use randomx_monero::Hash;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::blocks::MAX_BLOB;
use crate::chain::View;
use crate::json_list::json_list;

/// A hash in hex.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Hex(#[serde(with = "hex")] pub(super) Hash);

/// A request for transactions.
#[derive(Deserialize)]
pub(super) struct Request {
    #[serde(default)]
    pub(super) txs_hashes: Vec<Hex>,
    #[serde(default)]
    pub(super) prune: bool,
    #[serde(default)]
    pub(super) split: bool,
}

/// A node's answer.
pub(super) struct Answer<'a> {
    pub(super) txs: Vec<Entry<'a>>,
    pub(super) missed_tx: Vec<Hash>,
}

/// The fields of an answer, whose lists may have any length.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow, default)]
    txs: Option<&'a RawValue>,
    #[serde(borrow, default)]
    missed_tx: Option<&'a RawValue>,
}

impl<'a> Answer<'a> {
    /// Parses an answer with at most `most` transactions, and as many that are missing.
    pub(super) fn parse(json: &'a [u8], most: usize) -> Result<Answer<'a>, String> {
        let fields: Fields<'_> =
            serde_json::from_slice(json).map_err(|problem| problem.to_string())?;
        if fields.status != "OK" {
            return Err(format!("the node answered {:?}", fields.status));
        }
        let txs = json_list(fields.txs, most).map_err(|problem| format!("txs: {problem}"))?;
        let missed: Vec<Hex> =
            json_list(fields.missed_tx, most).map_err(|problem| format!("missed_tx: {problem}"))?;
        Ok(Answer { txs, missed_tx: missed.into_iter().map(|hash| hash.0).collect() })
    }
}

/// A transaction in a node's answer.
#[derive(Deserialize)]
pub(super) struct Entry<'a> {
    #[serde(borrow, default)]
    as_hex: Cow<'a, str>,
    #[serde(borrow, default)]
    pruned_as_hex: Cow<'a, str>,
    #[serde(borrow, default)]
    prunable_as_hex: Cow<'a, str>,
    #[serde(default)]
    prunable_hash: Option<Hex>,
    #[serde(default)]
    in_pool: bool,
    #[serde(default)]
    double_spend_seen: bool,
    #[serde(default)]
    block_height: u64,
    #[serde(default)]
    received_timestamp: u64,
    /// A list of any length.
    #[serde(borrow, default)]
    pub(super) output_indices: Option<&'a RawValue>,
}

/// A transaction, decoded.
pub(super) struct Found {
    pub(super) hash: Hash,
    pub(super) blob: Vec<u8>,
    /// The hash of the pruned part, as the node states it. The check removes it if the node has pruned nothing.
    pub(super) prunable_hash: Option<Hash>,
    /// The height of its block, as the node says, unless it is in the pool.
    pub(super) block_height: Option<u64>,
    pub(super) double_spend_seen: bool,
    pub(super) received_timestamp: u64,
    pub(super) output_indices: Vec<u64>,
}

impl Found {
    /// Decodes an entry. Its hash and its outputs are not known yet.
    pub(super) fn from(entry: Entry<'_>) -> Result<Found, String> {
        let text = if entry.as_hex.is_empty() {
            [&*entry.pruned_as_hex, &*entry.prunable_as_hex].concat()
        } else {
            entry.as_hex.into_owned()
        };
        if text.len() > 2 * MAX_BLOB {
            return Err(format!("a transaction: expected at most {MAX_BLOB} bytes"));
        }
        let blob = hex::decode(text).map_err(|problem| format!("a transaction: {problem}"))?;
        Ok(Found {
            hash: [0; 32],
            blob,
            prunable_hash: entry.prunable_hash.map(|hash| hash.0),
            block_height: (!entry.in_pool).then_some(entry.block_height),
            double_spend_seen: entry.double_spend_seen,
            received_timestamp: entry.received_timestamp,
            output_indices: Vec::new(),
        })
    }

    /// Returns the height of its block, unless that comes after the newest verified one.
    pub(super) fn confirmed_at(&self, view: &View) -> Option<u64> {
        self.block_height.filter(|height| *height <= view.tip().0)
    }
}

/// A transaction to send. Other fields, such as the one by which a node recognises a wallet again
/// (`client`), are left out.
#[derive(Deserialize, Serialize)]
pub(super) struct Sent<'a> {
    #[serde(borrow)]
    pub(super) tx_as_hex: Cow<'a, str>,
    #[serde(default)]
    do_not_relay: bool,
    #[serde(default = "yes")]
    do_sanity_checks: bool,
}

fn yes() -> bool {
    true
}
