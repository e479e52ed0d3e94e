//! Blocks that the client cannot take are not downloaded again and again.

use randomx_monero::Network;
use randomx_monero::client::{Config, Query, SourceState, Start};

use crate::script::{Script, grow};
use crate::world::{Fault, World};

fn asks(first: u64, count: u64) -> Option<Query> {
    Some(Query::Headers { first, count })
}

/// Checks that after `refused`, which follows the block at `height`, a source is asked for one block
/// until the client takes one.
#[track_caller]
fn is_asked_for_one(script: &mut Script, world: &mut World, height: usize, refused: usize) {
    let claim = height as u64 + 500;
    let first = height as u64 + 1;
    script.tip(0, claim, [7; 32]);
    assert_eq!(script.asked(0), asks(first, 500));
    script.blocks(0, world, &[refused]);
    let state = script.state(0);
    for _ in 0..3 {
        script.wait(30);
        script.tip(0, claim, [7; 32]);
        assert_eq!(script.asked(0), asks(first, 1));
        script.blocks(0, world, &[refused]);
        assert_eq!(script.state(0), state);
    }
    script.wait(30);
    script.tip(0, claim, [7; 32]);
    let next = grow(world, height, 1);
    script.blocks(0, world, &[next]);
    assert_eq!(script.asked(0), asks(first + 1, 499));
}

#[test]
fn blocks_that_are_too_early_or_of_an_unknown_version_are_asked_for_one_by_one() {
    for fault in [Fault::Early, Fault::UnknownVersion] {
        let mut world = World::new(None);
        let tip = grow(&mut world, 0, 5);
        let refused = world.child(tip, 100, fault);
        let mut script = Script::new(1);
        script.following(&world, tip - 1);
        script.wait(30);
        script.tip(0, 1000, [7; 32]);
        script.blocks(0, &world, &[tip, refused]);
        script.wait(30);
        script.tip(0, 1000, [7; 32]);
        assert_eq!(script.asked(0), asks(tip as u64 + 1, 1));
        let mut script = Script::new(1);
        script.following(&world, tip);
        script.wait(30);
        is_asked_for_one(&mut script, &mut world, tip, refused);
    }
}

#[test]
fn another_networks_blocks_are_asked_for_one_by_one() {
    let mut world = World::new(None);
    let base = grow(&mut world, 0, 10);
    let other = grow(&mut world, 0, 11);
    let mut before = Script::new(1);
    before.following(&world, base);
    let start = Start::Checkpoint(before.client.checkpoint().expect("a chain"));
    let mut script = Script::with(Config::new(Network::Regtest, [1; 32]), start, 1);
    is_asked_for_one(&mut script, &mut world, base, other);
    assert_ne!(script.state(0), SourceState::OtherNetwork);
}
