//! The arguments of `randomx follow` and `randomx relay`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{ArgGroup, Args};
use randomx_client::{ProxyError, Route, Source, node, relay};
use randomx_monero::Network;
use url::Url;

use super::{WorkArgs, chain::ChainArgs};

pub(crate) const AFTER_HELP: &str = "\
Examples:
  randomx follow --node http://node-a.example:18089 --node http://node-b.example:18089 --store chain
  randomx follow --relay http://127.0.0.1:18090 --node http://127.0.0.1:18081 --store chain --once

No source is trusted. Anchors are blocks whose ids and work are hard-coded in Monero's source. A first
start reads the headers up to the last anchor, whose id proves them. It begins at the last but one anchor
on mainnet, and at the genesis block on other networks. Each later block is checked by Monero's rules and
its proof of work is computed. The chain with the most work wins; where sources differ, the other side is
written as evidence, which `randomx verify --evidence` checks.

ALL_PROXY, HTTPS_PROXY and HTTP_PROXY name a proxy (Tor's is socks5://127.0.0.1:9050), which also
resolves the names of hosts; NO_PROXY names the hosts to reach without it.

With --json, each line is an object such as {\"event\":\"alarm\",\"alarm\":\"cleared\"}. Times are in seconds, work
is a string of digits, and source is the address that requests go to, such as
http://127.0.0.1:18081/json_rpc. The events and their other fields:
  tip           height, id, timestamp, work
  reorg         common {height, id}, depth, ours and theirs {blocks, ids, work}, tip
  deep-reorg    the same, with source in place of tip: theirs would replace ours; ids has at most the 100
                oldest of each side
  disagreement  the fields of deep-reorg, and evidence: a file, or null without --store and --evidence,
                once the folder has 100 files, or if it cannot be written
  source        source, and a state:
                  connecting     its chain is being read
                  following      its chain was read to its end
                  behind         its chain is an earlier part of this one, or a side with less work
                  unresponsive   it gives no usable answer; reason says why, or is null
                  other-network  its chain is of another network, or forks off before the blocks that
                                 the client keeps
                  update-needed  it has a block whose version needs a newer release: height, version
                  invalid        it sent false data, and is not asked again: reason, evidence
  alarm         alarm: stale with age and height, slow with took and expected, or cleared

Without --once, the run ends with exit code 0 at the first event after the reader of stdout closed the
pipe. With --once it goes on until the exit code is known.

Exit codes, with --once:
  0  the chain of at least one source was followed to its end
  1  a source sent false data
  2  unusable arguments, no source could be followed, the state or the checkpoint could not be stored, or
     hashing failed, such as for lack of memory";

pub(crate) const AFTER_RELAY_HELP: &str = "\
The relay reads each block of the node once, on mainnet from the last anchor but one on, and keeps 109
bytes of each. It serves up to 2,000 headers in one answer: GET /v1/tip, /v1/headers/FIRST/COUNT and
/v1/difficulties/FIRST/COUNT. Clients check everything that it sends, so nobody has to trust it. It listens
on loopback by default.

Until the relay is ready, it answers with status 503. With an empty store it is ready once it has read the
node's whole chain, which takes hours. With headers of an earlier run it is ready after its first attempt to
read new blocks, or after five minutes if a slow node makes that attempt longer. The relay prints its
address once it is ready and no attempt is in progress.

The relay drops blocks that a reorganisation replaces, except final ones. Final are the first block and, on
mainnet, each block that has more than 720 blocks after it and was stored a day ago or by an earlier run.
If the node's chain differs from these final blocks, the run ends. But if the node has already shown a block
of the stored chain in this run, the relay prints a note and goes on serving: the address may lead to
another node for a while.

Exit codes:
  2  unusable arguments, an address in use, a node that has another chain from the start, or a store that
     cannot be used

ALL_PROXY, HTTPS_PROXY and HTTP_PROXY name a proxy for the node, which also resolves its name;
NO_PROXY names the hosts to reach without it.";

/// `randomx follow`.
#[derive(Args)]
#[command(group(ArgGroup::new("source").required(true).multiple(true)))]
pub(crate) struct FollowArgs {
    /// A Monero node, such as http://127.0.0.1:18081; may be repeated, up to 16 nodes and relays
    #[arg(long = "node", value_name = "URL", value_parser = node::address, group = "source")]
    nodes: Vec<Url>,

    /// A relay, such as http://127.0.0.1:18090; may be repeated
    #[arg(long = "relay", value_name = "URL", value_parser = relay::address, group = "source")]
    relays: Vec<Url>,

    /// The folder in which the state is kept; without it each run begins anew
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,

    /// The folder to which evidence is written [default: the one of --store]
    #[arg(long, value_name = "DIR")]
    pub(crate) evidence: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) chain: ChainArgs,

    /// At the end, write the tip as a checkpoint to this file if a source was followed to its end; --start,
    /// `verify --checkpoint` and the npm package read it
    #[arg(long, value_name = "FILE", requires = "once")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// End when the sources' chains have been followed to their ends
    #[arg(long)]
    pub(crate) once: bool,

    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,

    /// Seconds that a source may take for an answer, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,

    /// Seconds between polls for new blocks, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) poll: u64,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

impl FollowArgs {
    /// Returns the sources with their addresses, the nodes first.
    pub(crate) fn sources(&self) -> Result<(Vec<Source>, Vec<String>), ProxyError> {
        let route = Route::of_environment(Duration::from_secs(self.timeout))?;
        let nodes = self.nodes.iter().map(|url| (Source::node(&route, url), url.to_string()));
        let relays = self.relays.iter().map(|url| (Source::relay(&route, url), url.to_string()));
        Ok(nodes.chain(relays).unzip())
    }
}

/// `randomx relay`.
#[derive(Args)]
pub(crate) struct RelayArgs {
    /// The node whose headers are served
    #[arg(long, value_name = "URL", value_parser = node::address)]
    pub(crate) node: Url,

    /// The folder in which the headers are kept
    #[arg(long, value_name = "DIR")]
    pub(crate) store: PathBuf,

    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:18090")]
    pub(crate) listen: SocketAddr,

    /// The node's network: mainnet, stagenet, testnet or regtest
    #[arg(long, value_name = "NAME", default_value_t = Network::Mainnet)]
    pub(crate) network: Network,

    /// Seconds that the node may take for an answer, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    /// Seconds between polls for new blocks, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) poll: u64,
}
