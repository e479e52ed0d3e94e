//! `randomx relay`.

use std::{process::ExitCode, thread, time::Duration};

use randomx_client::{Relay, RelayError, Route, node::Node};
use randomx_monero::{Anchor, DIFFICULTY_BLOCKS, Network};

use crate::{
    args::RelayArgs,
    error::{self, Error},
    output,
};

/// Serves headers until the process is ended.
pub(crate) fn run(args: &RelayArgs) -> Result<ExitCode, Error> {
    let node = Node::new(&Route::of_environment(Duration::from_secs(args.timeout))?, &args.node, 2);
    let relay = Relay::open(node, &args.store, first(args.network))?
        .with_final_blocks(args.network == Network::Mainnet);
    let is_kept = relay.has_blocks();
    // A new relay gives no answers rather than half of the chain. An earlier one's blocks are worth more than none.
    while !update(&relay)? && !is_kept {
        thread::sleep(Duration::from_secs(args.poll));
    }
    let server = relay.listen(args.listen)?;
    output::write(|out| writeln!(out, "listening on http://{}", server.address()))?;
    loop {
        thread::sleep(Duration::from_secs(args.poll));
        update(&relay)?;
    }
}

/// Reads what is new on the node's chain. Returns whether everything was read that this release can read.
fn update(relay: &Relay) -> Result<bool, Error> {
    match relay.update() {
        Ok(_) => Ok(true),
        // The node may be restarting, or too new; the relay goes on when it is back.
        Err(
            problem @ (RelayError::Node(_) | RelayError::Block(_) | RelayError::UpdateNeeded(_)),
        ) => {
            let is_read = !matches!(problem, RelayError::Node(_));
            error::note(&Error::Relay(problem));
            Ok(is_read)
        }
        Err(problem) => Err(problem.into()),
    }
}

/// Returns the height of the first block that clients ask for.
fn first(network: Network) -> u64 {
    let anchors = Anchor::all(network);
    let from = match network {
        Network::Mainnet => anchors.len().checked_sub(2).and_then(|index| anchors.get(index)),
        Network::Stagenet | Network::Testnet | Network::Regtest => anchors.first(),
    };
    let height = from.map_or(0, |anchor| anchor.height);
    (height + 1).saturating_sub(DIFFICULTY_BLOCKS as u64).max(1)
}
