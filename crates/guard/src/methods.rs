//! The methods that wallets may call: what answers each, and how long the answer of a node may be.

use std::time::Instant;

use crate::answer::Form;
use crate::forward::{Known, Plausible, known};
use crate::nodes::LARGE;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{blocks, local, transactions};

/// A method with a path of its own.
pub(crate) struct Method {
    /// Its name, and another one that wallets use.
    names: [&'static str; 2],
    pub(crate) form: Form,
    /// The longest answer of a node in bytes.
    pub(crate) limit: u64,
    pub(crate) source: Source,
}

/// Answers a request, given the time at which it began and its body.
type Checked = fn(&Service, Instant, &[u8]) -> Result<Vec<u8>, Refusal>;

/// Where the answer to a method comes from.
pub(crate) enum Source {
    /// The verified chain, by the method of JSON-RPC with this name.
    Chain(&'static str),
    /// Nodes, whose answers are checked.
    Checked(Checked),
    /// All nodes, which receive the request.
    Sent,
    /// Nodes, whose answers are passed on.
    Forwarded(Known),
}

/// A method of JSON-RPC.
#[derive(Clone, Copy)]
pub(crate) enum JsonRpc {
    /// The fee estimate.
    Estimate,
    /// Passed on.
    Forwarded(Known),
    /// Answered from the verified chain, or unknown.
    Chain,
}

const MIB: u64 = 1 << 20;

const METHODS: &[Method] = &[
    checked("getblocks.bin", "get_blocks.bin", Form::Binary, blocks::MAX_ANSWER, blocks::blocks),
    checked(
        "getblocks_by_height.bin",
        "get_blocks_by_height.bin",
        Form::Binary,
        blocks::MAX_ANSWER,
        blocks::by_height,
    ),
    checked("gethashes.bin", "get_hashes.bin", Form::Binary, blocks::MAX_HASHES, blocks::hashes),
    checked(
        "gettransactions",
        "get_transactions",
        Form::Json,
        transactions::MAX_ANSWER,
        transactions::get,
    ),
    Method {
        names: ["sendrawtransaction", "send_raw_transaction"],
        form: Form::Json,
        limit: transactions::MAX_SENT,
        source: Source::Sent,
    },
    here("getheight", "get_height"),
    here("getinfo", "get_info"),
    forwarded(known("get_outs.bin", Form::Binary, 8 * MIB, Plausible::Outputs)),
    forwarded(known("get_outs", Form::Json, 16 * MIB, Plausible::Any)),
    forwarded(known("get_o_indexes.bin", Form::Binary, MIB, Plausible::Indexes)),
    forwarded(known(
        "get_output_distribution.bin",
        Form::Binary,
        64 * MIB,
        Plausible::Distribution,
    )),
    forwarded(known("is_key_image_spent", Form::Json, 4 * MIB, Plausible::Spent)),
    forwarded(known("get_transaction_pool_hashes.bin", Form::Json, 16 * MIB, Plausible::Any)),
    forwarded(known("get_transaction_pool_hashes", Form::Json, 16 * MIB, Plausible::Any)),
    forwarded(known("get_transaction_pool", Form::Json, 64 * MIB, Plausible::Any)),
    forwarded(known("get_transaction_pool_stats", Form::Json, MIB, Plausible::Any)),
];

/// Methods of JSON-RPC that are not answered from the verified chain.
const JSON_RPC: &[(&str, JsonRpc)] = &[
    ("get_fee_estimate", JsonRpc::Estimate),
    json_rpc("get_output_histogram", 16 * MIB),
    json_rpc("get_output_distribution", 128 * MIB),
    json_rpc("get_txpool_backlog", 16 * MIB),
];

const fn checked(
    name: &'static str,
    other: &'static str,
    form: Form,
    limit: u64,
    answer: Checked,
) -> Method {
    Method { names: [name, other], form, limit, source: Source::Checked(answer) }
}

/// A method for which no node is asked. Its second name is that of JSON-RPC.
const fn here(other: &'static str, name: &'static str) -> Method {
    Method { names: [name, other], form: Form::Json, limit: 0, source: Source::Chain(name) }
}

const fn forwarded(known: Known) -> Method {
    let Known { name, form, limit, .. } = known;
    Method { names: [name, name], form, limit, source: Source::Forwarded(known) }
}

const fn json_rpc(name: &'static str, limit: u64) -> (&'static str, JsonRpc) {
    (name, JsonRpc::Forwarded(known(name, Form::Json, limit, Plausible::Any)))
}

/// Returns the method with a path, given without its slash.
pub(crate) fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.names.contains(&name))
}

/// Returns what answers a method of JSON-RPC.
pub(crate) fn find_json_rpc(name: &str) -> JsonRpc {
    JSON_RPC.iter().find(|(known, _)| *known == name).map_or(JsonRpc::Chain, |(_, found)| *found)
}

impl JsonRpc {
    /// Returns the longest answer of a node in bytes.
    pub(crate) fn limit(self) -> u64 {
        match self {
            // The guard reads the fees of recent blocks from these.
            JsonRpc::Estimate => LARGE,
            JsonRpc::Forwarded(known) => known.limit,
            JsonRpc::Chain => local::MAX_BLOCK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_belongs_to_one_method() {
        for method in METHODS {
            for name in method.names {
                let others = METHODS.iter().filter(|other| other.names.contains(&name));
                assert_eq!(others.count(), 1, "{name}");
            }
        }
    }
}
