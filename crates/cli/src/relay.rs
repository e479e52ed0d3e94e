//! `randomx relay`.

use std::{convert::Infallible, process::ExitCode, thread, time::Duration};

use randomx_client::{Relay, RelayError, Route, Update, node::Node};
use randomx_monero::{Anchor, DIFFICULTY_BLOCKS, Network};

use crate::{
    args::RelayArgs,
    error::{Error, note_line},
    service_output::ServiceOutput,
};

/// Serves headers until the process is ended.
pub(crate) fn run(args: &RelayArgs) -> Result<ExitCode, Error> {
    let output = ServiceOutput::start()?;
    let Err(problem) = relay(args, &output);
    Ok(output.end(&problem))
}

/// Serves headers until an error.
fn relay(args: &RelayArgs, output: &ServiceOutput) -> Result<Infallible, Error> {
    let node = Node::new(&Route::of_environment(Duration::from_secs(args.timeout))?, &args.node, 2);
    let log = output.log();
    let relay = Relay::open(node, &args.store, first(args.network))?
        .with_final_blocks(args.network == Network::Mainnet)
        .with_log(move |line| log(&note_line(line)));
    // Before the chain is read, which takes hours: the address may be in use.
    let server = relay.listen(args.listen)?;
    let (poll, note) = (Duration::from_secs(args.poll), output.noter());
    let mut pause = update(&relay, poll, &note)?;
    while !relay.is_ready() {
        thread::sleep(pause);
        pause = update(&relay, poll, &note)?;
    }
    output.print(format!("listening on http://{}", server.address()));
    loop {
        thread::sleep(pause);
        pause = update(&relay, poll, &note)?;
    }
}

/// Reads the new blocks of the node's chain. Returns the time to wait for more: that between two looks at the node,
/// `poll`, or none if blocks are left.
///
/// # Errors
///
/// Also if the node has another chain, unless it has shown the stored one: then its address may lead to another node for
/// a while.
fn update(relay: &Relay, poll: Duration, note: impl Fn(&Error)) -> Result<Duration, Error> {
    match relay.update() {
        Ok(Update::Late) => return Ok(Duration::ZERO),
        Ok(Update::Whole | Update::Changed) => {}
        // The node may be restarting, or too new; the relay goes on when it is back.
        Err(
            problem @ (RelayError::Node(_)
            | RelayError::TooHigh(_)
            | RelayError::Block(_)
            | RelayError::UpdateNeeded(_)),
        ) => note(&Error::Relay(problem)),
        Err(problem @ RelayError::OtherChain { .. }) if relay.is_known() => {
            note(&Error::Relay(problem));
        }
        Err(problem) => return Err(problem.into()),
    }
    Ok(poll)
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
