//! Measures the light client against a simulated node and a relay on loopback.
//!
//! `cargo bench -p randomx-client` prints a table. Every block has difficulty 1, so that any hash is a
//! proof of work. The rows "without proofs of work" skip the hashes, and nothing else.

#[path = "follow/chain.rs"]
mod chain;
#[path = "follow/wire.rs"]
mod wire;

use std::error::Error;
use std::path::Path;
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use randomx_client::node::Node;
use randomx_client::{
    Follower, HashError, Hasher, LightHasher, Relay, Route, Source, Store, Update, node,
};
use randomx_monero::client::{Config, Start};
use randomx_monero::{Hash, Network};
use url::Url;

use chain::Chain;
use wire::Counter;

/// The heights of two anchors, as far apart as the main network's last two, and of the tip a day
/// later.
const FROM: u64 = 2_000;
const TO: u64 = 47_100;
const TIP: u64 = TO + 720;

/// Runs of each row without hashes, whose median counts.
const RUNS: usize = 5;

const TIMEOUT: Duration = Duration::from_secs(60);

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Takes every block as worked.
struct NoWork;

impl Hasher for NoWork {
    fn hash(&mut self, _: &Hash, inputs: &[Vec<u8>]) -> Result<Vec<Hash>, HashError> {
        Ok(vec![[0; 32]; inputs.len()])
    }

    fn forget(&mut self) {}
}

fn main() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let chain = Chain::new(TIP);
    let node_server = chain.serve()?;
    let node_address = node::address(&format!("http://{}", node_server.address()))?;
    let relay = Relay::open(
        Node::new(&Route::direct(TIMEOUT), &node_address, 0),
        &folder.path().join("relay"),
        1,
    )?;
    let begin = Instant::now();
    while relay.update()? == Update::Late {}
    row("a relay reads a node", TIP, begin.elapsed());
    let relay_server = relay.listen("127.0.0.1:0".parse()?)?;
    let counter = Counter::before(relay_server.address())?;
    let address = Url::parse(&format!("http://{}", counter.address()))?;

    let start = || Start::Between(chain.anchor(FROM), chain.anchor(TO));
    let relayed = || Source::relay(&Route::direct(TIMEOUT), &address);
    let median = |measure: &dyn Fn() -> Outcome<Duration>| -> Outcome<Duration> {
        let mut times = (0..RUNS).map(|_| measure()).collect::<Outcome<Vec<_>>>()?;
        times.sort_unstable();
        Ok(times[RUNS / 2])
    };

    let headers = 735 + TIP - FROM;
    let cold = median(&|| follow(start(), relayed(), NoWork, None))?;
    row("cold start from an anchor, relay, without proofs of work", headers, cold);
    let forward = median(&|| follow(Start::Anchors, relayed(), NoWork, None))?;
    row("every block accepted, relay, without proofs of work", TIP, forward);
    let before = counter.received();
    follow(start(), relayed(), NoWork, None)?;
    let bytes = (counter.received() - before) as f64 / headers as f64;
    println!("bytes on the wire for each block, relay: {bytes:.1}");

    let threads = available_parallelism()?.get();
    let light = || LightHasher::new(threads);
    let store = folder.path().join("store");
    let worked = follow(start(), relayed(), light(), Some(&store))?;
    row(
        &format!("cold start from an anchor, {threads} threads, 720 proofs of work"),
        headers,
        worked,
    );
    let again = median(&|| follow(start(), relayed(), light(), Some(&store)))?;
    row("restart from the store", 720, again);
    let ratio = |time: Duration| time.as_secs_f64() / again.as_secs_f64();
    println!(
        "cold start / restart: {:.0}, without proofs of work {:.0}",
        ratio(worked),
        ratio(cold)
    );
    let day = follow(Start::Checkpoint(chain.checkpoint(TO)), relayed(), light(), None)?;
    row(&format!("a day after a checkpoint, {threads} threads, 720 proofs of work"), 720, day);
    drop((relay_server, node_server));
    Ok(())
}

/// Follows a source to its end, and returns the time that it took.
fn follow(
    start: Start,
    source: Source,
    hasher: impl Hasher + 'static,
    store: Option<&Path>,
) -> Outcome<Duration> {
    let begin = Instant::now();
    let store = store.map(Store::open).transpose()?;
    let config = Config::new(Network::Regtest, [7; 32]);
    let mut follower = Follower::new(config, start, vec![source], hasher, store)?;
    while !(follower.client().is_settled() && follower.client().tip().is_some()) {
        follower.step().1?;
        if let Some(problem) = follower.hash_failure() {
            return Err(problem.to_string().into());
        }
    }
    let took = begin.elapsed();
    let tip = follower.client().tip().map(|tip| tip.height);
    if tip != Some(TIP) {
        return Err(format!("the tip is {tip:?}, expected {TIP}").into());
    }
    // Its threads end by themselves.
    drop(follower);
    thread::sleep(Duration::from_millis(10));
    Ok(took)
}

fn row(name: &str, headers: u64, took: Duration) {
    let seconds = took.as_secs_f64();
    println!("{name}: {seconds:.3} s, {:.0} headers a second", headers as f64 / seconds);
}
