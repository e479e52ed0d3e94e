//! All targets.

#[cfg(feature = "epochs")]
mod audits;
mod blocks;
mod chains;
mod checkpoints;
mod difficulties;
mod events;
mod guard;
mod histories;
mod json;
mod messages;
mod node_answers;
// `wasm_programs` has the same seeds.
#[cfg(any(all(target_arch = "x86_64", target_os = "linux"), feature = "wasmi"))]
mod programs;
mod relays;
mod requests;
mod stores;
#[cfg(feature = "wasmi")]
mod wasm_programs;

use crate::Target;

/// Every target that this system and the features allow, in the order in which `cargo xtask fuzz` runs them.
pub const TARGETS: &[Target] = &[
    blocks::BLOCKS,
    blocks::MINER_TRANSACTIONS,
    blocks::VARINTS,
    blocks::TREES,
    difficulties::DIFFICULTIES,
    checkpoints::CHECKPOINTS,
    stores::STORES,
    stores::EVIDENCE,
    chains::CHAINS,
    events::EVENTS,
    histories::HISTORIES,
    node_answers::NODE_ANSWERS,
    relays::RELAYS,
    guard::GUARD,
    requests::JSON_LINES,
    requests::REQUESTS,
    #[cfg(feature = "epochs")]
    audits::AUDIT_TABLES,
    #[cfg(feature = "epochs")]
    audits::AUDIT_LINES,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    programs::PROGRAMS,
    #[cfg(feature = "wasmi")]
    wasm_programs::WASM_PROGRAMS,
];
