//! The first start between two anchors.

use randomx_monero::client::{Client, Config, Report, SourceState, Start};
use randomx_monero::{Anchor, Network};

use crate::drive::drive;
use crate::sources::{Mode, Source};
use crate::world::{Fault, START, World};

/// The heights of the anchors and of the tip. The second anchor is the last block with the first key.
const FROM: usize = 800;
const TO: usize = 2112;
const TIP: usize = 2122;

fn world() -> World {
    let mut world = World::new(None);
    for height in 0..TIP {
        world.child(height, if height % 7 == 0 { 200 } else { 90 }, Fault::None);
    }
    world
}

fn anchor(world: &World, height: usize) -> Anchor {
    let block = &world.blocks[height];
    Anchor { height: block.height, id: block.id, work: block.work }
}

/// Runs a client with sources of these manners, and returns it with what it reported.
fn run(world: &World, from: Anchor, to: Anchor, modes: &[Mode]) -> (Client, Vec<Report>) {
    let config = Config::new(Network::Regtest, [1; 32]);
    let mut client = Client::new(config, Start::Between(from, to)).expect("anchors in order");
    let mut sources: Vec<Source> = Vec::new();
    for &mode in modes {
        client.add_source().expect("few sources");
        let mut source = Source::new();
        (source.tip, source.mode) = (TIP, mode);
        sources.push(source);
    }
    let mut reports = Vec::new();
    for round in 1..=40 {
        reports.extend(drive(&mut client, &mut sources, world, START + 1_000_000 + 20 * round));
    }
    (client, reports)
}

fn states(client: &Client) -> Vec<&'static str> {
    client.sources().map(|(_, state)| state.as_str()).collect()
}

#[test]
fn a_first_start_trusts_no_source() {
    let world = world();
    let (from, to) = (anchor(&world, FROM), anchor(&world, TO));
    let modes = [Mode::Stall, Mode::Divide, Mode::Honest, Mode::Garbage];
    let (client, reports) = run(&world, from, to, &modes);
    assert_eq!(client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
    assert_eq!(client.tip().map(|tip| tip.work), Some(world.blocks[TIP].work));
    assert_eq!(states(&client)[..3], ["unresponsive", "invalid", "following"]);
    let invalid = |report: &&Report| {
        matches!(report, Report::Source { state: SourceState::Invalid { .. }, .. })
    };
    assert_eq!(reports.iter().filter(invalid).count(), 1);
    assert_eq!(client.confirmations(TIP as u64), 1);
    assert_eq!(client.block_id(TIP as u64 - 1), Some(world.blocks[TIP - 1].id));
    assert!(client.has_stated_difficulties());
    let checkpoint = client.checkpoint().expect("a chain");
    assert!(checkpoint.is_complete());
    let base = client.base();
    assert_eq!((base.height, base.seeds.len(), base.seeds[0].height), (TO as u64, 1, 2048));
}

/// A slow node sends what it has when its time is up.
#[test]
fn a_first_start_takes_what_a_slow_source_sends() {
    let world = world();
    let (from, to) = (anchor(&world, FROM), anchor(&world, TO));
    let (client, _) = run(&world, from, to, &[Mode::Truncate]);
    assert_eq!(client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
    assert_eq!(states(&client), ["following"]);
}

#[test]
fn nothing_is_trusted_before_the_anchor_is_reached() {
    let world = world();
    let (from, to) = (anchor(&world, FROM), anchor(&world, TO));
    let (client, _) = run(&world, from, to, &[Mode::Divide]);
    assert_eq!((client.tip(), client.save(), client.confirmations(1)), (None, None, 0));
    let elsewhere = Anchor { id: [7; 32], ..to };
    let (client, _) = run(&world, from, elsewhere, &[Mode::Honest, Mode::Honest]);
    assert_eq!(client.tip(), None);
    assert_eq!(states(&client), ["other-network", "other-network"]);
    let unreached = Anchor { height: 5000, ..to };
    let (client, _) = run(&world, from, unreached, &[Mode::Honest]);
    assert_eq!(states(&client), ["behind"]);
}

/// Fewer blocks than a difficulty depends on have theirs from the genesis block.
#[test]
fn a_first_start_reads_all_blocks_up_to_a_low_anchor() {
    let world = world();
    for (from, is_stated) in [(1, false), (100, false), (734, false), (735, true)] {
        let (from, to) = (anchor(&world, from), anchor(&world, TO));
        let (client, _) = run(&world, from, to, &[Mode::Honest]);
        assert_eq!(client.has_stated_difficulties(), is_stated);
        assert_eq!(client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
        assert_eq!(states(&client), ["following"]);
    }
}

#[test]
fn anchors_must_be_in_order() {
    let world = world();
    let (from, to) = (anchor(&world, FROM), anchor(&world, TO));
    let config = Config::new(Network::Regtest, [1; 32]);
    let (near, highest) = (Anchor { height: 2500, ..to }, Anchor { height: u64::MAX, ..to });
    for (from, to) in [(to, from), (to, to), (anchor(&world, 2060), near), (from, highest)] {
        assert!(Client::new(config.clone(), Start::Between(from, to)).is_err());
    }
}
