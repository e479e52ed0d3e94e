//! The arguments that name a node and its blocks.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use randomx_client::{ProxyError, Route};
use randomx_monero::Network;
use url::Url;

use crate::node::{self, Node};

/// The ids of the options in [`NodeArgs`]. Each needs `--node`, and excludes other sources of blocks.
pub(super) const OPTIONS: [&str; 9] = [
    "node",
    "from",
    "to",
    "checkpoint",
    "allow_incomplete",
    "network",
    "sample",
    "timeout",
    "retries",
];

/// A node whose chain to verify.
#[derive(Args)]
#[command(next_help_heading = "A node's chain")]
pub(crate) struct NodeArgs {
    /// Verify the chain of a Monero node, such as http://127.0.0.1:18081
    #[arg(long = "node", id = "node", value_name = "URL", value_parser = node::address)]
    url: Url,

    /// The first block to verify; the node is trusted about the blocks before it. If the file of --checkpoint exists,
    /// the run begins after its block, so leave this out
    #[arg(long, value_name = "HEIGHT", requires = "node")]
    pub(crate) from: Option<u64>,

    /// The last block to verify; the node's last if its chain ends before [default: the node's last]
    #[arg(long, value_name = "HEIGHT", requires = "node")]
    pub(crate) to: Option<u64>,

    /// Continue after the checkpoint in this file, if it exists, and write the new one to it
    #[arg(long, value_name = "FILE", requires = "node")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Accept a checkpoint that is implausible or incomplete; the node is trusted for what is missing.
    /// The verdicts report both cases
    #[arg(long, requires = "checkpoint")]
    pub(crate) allow_incomplete: bool,

    /// The node's network: mainnet, stagenet, testnet or regtest
    #[arg(long, value_name = "NAME", default_value_t = Network::Mainnet, requires = "node")]
    pub(crate) network: Network,

    /// Check the proof of work of one block in N, chosen at random, and of the newest 16 of each 1024
    #[arg(long, value_name = "N", default_value_t = 1, requires = "node")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sample: u64,

    /// Seconds to wait for an answer of the node, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "node")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,

    /// Further attempts after a failed request, 0 to 10
    #[arg(long, value_name = "N", default_value_t = 2, requires = "node")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=10))]
    retries: u32,
}

impl NodeArgs {
    /// The node. Nothing is sent yet.
    pub(crate) fn node(&self) -> Result<Node, ProxyError> {
        let route = Route::of_environment(Duration::from_secs(self.timeout))?;
        Ok(Node::new(&route, &self.url, self.retries))
    }
}
