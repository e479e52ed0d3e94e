//! The arguments of `randomx guard`.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::{
    Args,
    builder::{PathBufValueParser, TypedValueParser},
};
use randomx_client::{Authorities, Proxy, node, parse_proxy, relay};
use randomx_files::read_up_to;
use url::Url;

use super::{WorkArgs, chain::ChainArgs};

pub(crate) const AFTER_HELP: &str = "\
Examples:
  randomx guard --node http://node-a.example:18089 --node https://node-b.example:18089 --store guard
  randomx guard --node http://NAME.onion:18081 --proxy socks5://127.0.0.1:9050 --store guard
Then the wallet's node is 127.0.0.1:18081:
  monero-wallet-cli --daemon-address 127.0.0.1:18081 --untrusted-daemon
Without --untrusted-daemon the wallet trusts an address on this computer, and so the node behind the guard
where the guard cannot check it: `rescan_spent` could show an empty wallet.

The guard follows the chain as `randomx follow` does, and speaks a node's interface to wallets. Blocks
and confirmed transactions reach a wallet only if they belong to the verified chain. Heights and headers
come from that chain. Fee estimates are limited to 10, 40, 160 and 2000 times what recent blocks paid, or
the network's minimum fee if that is larger, for the four priorities. If no node sends estimates within
these limits, the guard sends its own. The guard drops a node that sends false data and keeps the evidence
in the store. It forwards data that blocks do not commit to (decoys, output indices, the transaction pool,
spent status) and counts it as not verified. See GET /guard/status.

Wallets get the status BUSY until the guard has read the chain. They get it again after ten minutes in
which the guard could follow no source or the computer slept. GET /guard/status names the cause. A wallet
that scans from an older height waits until the guard has the headers from there on; a relay gives them
fastest. Use nodes that are not pruned: a pruned node lacks most older transactions, so scans of older
blocks fail. The address is loopback by default: anyone who can reach it can
use the nodes. Without --proxy, ALL_PROXY, HTTPS_PROXY and HTTP_PROXY name a proxy, and NO_PROXY names
the hosts to reach without it.

Exit codes:
  2  unusable arguments, the address is not available, the state could not be stored, or hashing
     failed, for example for lack of memory";

/// The largest file of certificates that is read. All public authorities together have some 220 KB.
const MAX_CERTIFICATES: u64 = 1 << 20;

/// `randomx guard`.
#[derive(Args)]
pub(crate) struct GuardArgs {
    /// A Monero node, such as http://127.0.0.1:18081; may be repeated, up to 16 nodes and relays
    #[arg(long = "node", value_name = "URL", value_parser = node::address, required = true)]
    pub(crate) nodes: Vec<Url>,

    /// A relay of headers, such as http://127.0.0.1:18090; may be repeated
    #[arg(long = "relay", value_name = "URL", value_parser = relay::address)]
    pub(crate) relays: Vec<Url>,

    /// The folder in which the chain's state, older headers and evidence are kept
    #[arg(long, value_name = "DIR")]
    pub(crate) store: PathBuf,

    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:18081")]
    pub(crate) listen: SocketAddr,

    /// Reach nodes and relays through this proxy, which also resolves their names; Tor's is
    /// socks5://127.0.0.1:9050
    #[arg(long, value_name = "URL", value_parser = proxy)]
    pub(crate) proxy: Option<Proxy>,

    /// For https, trust only the certificates in this PEM file, not the public CAs: your own
    /// CA's, or a node's own certificate, which may be self-signed, expired and without a name
    #[arg(long = "ca", value_name = "FILE")]
    #[arg(value_parser = PathBufValueParser::new().try_map(|file| authorities(&file)))]
    pub(crate) authorities: Option<Authorities>,

    #[command(flatten)]
    pub(crate) chain: ChainArgs,

    /// Seconds that a node may take for an answer, 1 to 3600. For large answers, such as blocks, it
    /// limits the time without a byte. All nodes together have at most 180 seconds for a request
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    /// Seconds between polls for new blocks, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) poll: u64,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// Parses the address of a proxy that can reach .onion names.
fn proxy(text: &str) -> Result<Proxy, &'static str> {
    let is_socks5 = text.starts_with("socks5://") || text.starts_with("socks5h://");
    let proxy = parse_proxy(text).filter(|_| is_socks5);
    proxy.ok_or("expected something like socks5://127.0.0.1:9050")
}

/// Reads a file of certificates.
fn authorities(file: &Path) -> Result<Authorities, String> {
    let pem = read_up_to(file, MAX_CERTIFICATES)
        .map_err(|problem| problem.to_string())?
        .ok_or_else(|| format!("expected at most {MAX_CERTIFICATES} bytes"))?;
    Authorities::parse(&pem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_resolves_the_names() {
        for text in ["socks5://127.0.0.1:9050", "socks5h://localhost:1"] {
            let proxy = proxy(text).expect(text);
            assert!(!proxy.resolve_target(), "{text}");
        }
        for text in ["", "127.0.0.1:9050", "http://127.0.0.1:9050", "socks4://127.0.0.1:1"] {
            assert!(proxy(text).is_err(), "{text}");
        }
    }
}
