//! The arguments of the commands that follow a chain.

use std::path::PathBuf;

use clap::Args;
use randomx_monero::Network;

/// Which chain is followed, where it begins, and how it is checked.
#[derive(Args)]
pub(crate) struct ChainArgs {
    /// Begin at the trusted checkpoint in this file instead of the network's anchor. If --store has a
    /// state, the run goes on from there instead, and fails if that chain has another block at the
    /// checkpoint's height
    #[arg(long, value_name = "FILE")]
    pub(crate) start: Option<PathBuf>,

    /// The network: mainnet, stagenet, testnet or regtest
    #[arg(long, value_name = "NAME", default_value_t = Network::Mainnet)]
    pub(crate) network: Network,

    /// Compute the proof of work of one block in N besides the newest 16 of each batch
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sample: u64,

    /// The difficulty of every block, for nodes that run with this option too
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) fixed_difficulty: Option<u64>,
}
