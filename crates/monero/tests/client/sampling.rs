//! The guarantee of a sample: how often forged blocks are missed.

use randomx_monero::client::{Client, Config, SourceState, Start};
use randomx_monero::{Hash, Network};

use crate::drive::drive;
use crate::sources::Source;
use crate::world::{Fault, START, World};

/// Blocks of the chain, which are accepted together.
const BLOCKS: usize = 120;

/// Returns the number of clients that are tried, each with another secret.
fn trials() -> u32 {
    let full = std::env::var("RANDOMX_TESTS").is_ok_and(|tier| tier == "full");
    if full { 2000 } else { 250 }
}

/// Returns the number of clients that accept a chain with `forged` forged blocks, spread over it from
/// the height `first` on.
fn missed(sample: u64, first: usize, forged: usize) -> u32 {
    let mut world = World::new(Some(5));
    let (mut tip, mut left) = (0, forged);
    for height in 1..=BLOCKS {
        let is_forged = height >= first && left > 0 && (height - first).is_multiple_of(2);
        left -= usize::from(is_forged);
        let fault = if is_forged { Fault::Forged } else { Fault::None };
        tip = world.child(tip, 100, fault);
    }
    assert_eq!(left, 0, "all fit");
    let mut source = Source::new();
    source.tip = tip;
    let accepts = |trial: &u32| {
        let mut secret: Hash = [0; 32];
        secret[..4].copy_from_slice(&trial.to_le_bytes());
        let config =
            Config { fixed_difficulty: Some(5), sample, ..Config::new(Network::Regtest, secret) };
        let mut client = Client::new(config, Start::Anchors).expect("a start");
        client.add_source().expect("few sources");
        drive(&mut client, &mut [source.clone()], &world, START + 20_000);
        let (_, state) = client.sources().next().expect("a source");
        match client.tip().expect("regtest needs no anchor").height {
            0 => assert!(matches!(state, SourceState::Invalid { .. }), "{state}"),
            height => assert_eq!((height, state.as_str()), (BLOCKS as u64, "following")),
        }
        client.tip().is_some_and(|tip| tip.height > 0)
    };
    (0..trials()).filter(accepts).count() as u32
}

/// Expects a number that has this probability in each trial, within five standard deviations.
#[track_caller]
fn expect(found: u32, probability: f64) {
    let trials = f64::from(trials());
    let deviation = (trials * probability * (1.0 - probability)).sqrt();
    let distance = (f64::from(found) - trials * probability).abs();
    assert!(distance <= 5.0 * deviation + 1.0, "{found} of {trials}, expected {probability}");
}

#[test]
fn forged_blocks_are_missed_as_often_as_documented() {
    for (sample, forged) in [(2, 1), (2, 3), (2, 8), (10, 1), (10, 20), (10, 45), (50, 45)] {
        let probability = (1.0 - 1.0 / sample as f64).powi(forged);
        expect(missed(sample, 3, forged as usize), probability);
    }
}

#[test]
fn a_forgery_among_the_newest_blocks_is_never_missed() {
    for first in [BLOCKS, BLOCKS - 1, BLOCKS - 15] {
        assert_eq!(missed(1_000_000, first, 1), 0, "at height {first} of {BLOCKS}");
    }
    expect(missed(1_000_000, BLOCKS - 16, 1), 1.0);
}
