//! Sources that keep a client from coming to rest.

use randomx_monero::client::{Config, Query, SourceState, Start};
use randomx_monero::{Hash, Network};

use crate::script::{NOW, Script, grow};
use crate::world::{Fault, World};

/// The time after which a source no longer holds up the others.
const HOUR: u64 = 3600;

/// An id that no block has.
const NO_BLOCK: Hash = [7; 32];

/// Promises one block more than the chain has, and sends the last one in its place.
#[test]
fn a_source_that_is_searched_again_and_again_is_unresponsive() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let mut script = Script::new(2);
    script.following(&world, tip);
    assert!(!script.client.is_settled());
    script.tip(1, 6, NO_BLOCK);
    for _ in 0..100 {
        match script.asked(1) {
            Some(Query::Headers { first, .. }) => {
                let block = world.at(tip, first).unwrap_or(tip);
                script.blocks(1, &world, &[block]);
            }
            Some(Query::Tip) => script.tip(1, 6, NO_BLOCK),
            _ => break,
        }
    }
    assert_eq!(script.state(1), SourceState::Unresponsive);
    assert!(script.client.is_settled());
    // An honest chain mends that, also where the client has to search once more.
    script.wait(30);
    let tip = grow(&mut world, 3, 4);
    script.show(1, &world, tip);
    assert_eq!(script.state(1), SourceState::Following);
}

/// Sends a block of the future after the chain's, which is neither a failure nor a proof of a lie.
#[test]
fn a_source_that_is_never_read_holds_up_the_others_for_an_hour() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let early = world.child(tip, 100, Fault::Early);
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.tip(1, 6, NO_BLOCK);
    script.blocks(1, &world, &[1, 2, 3, 4, 5, early]);
    while script.now <= NOW + HOUR {
        assert!(!script.client.is_settled());
        script.wait(30);
        script.tip(1, 6, NO_BLOCK);
        script.blocks(1, &world, &[early]);
    }
    assert_eq!(script.state(1), SourceState::Connecting);
    assert!(script.client.is_settled());
}

/// Each promises a block before the other one's turns out to be of the future.
#[test]
fn two_sources_in_turn_hold_up_the_others_for_an_hour_each() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let early = world.child(tip, 100, Fault::Early);
    let mut script = Script::new(3);
    script.following(&world, tip);
    script.show(1, &world, tip);
    script.show(2, &world, tip);
    assert!(script.client.is_settled());
    script.wait(30);
    let (start, mut awaited, mut other) = (script.now, 1, 2);
    script.tip(awaited, 6, NO_BLOCK);
    while script.now < start + 2 * HOUR {
        script.wait(30);
        script.tip(other, 6, NO_BLOCK);
        script.blocks(awaited, &world, &[early]);
        assert!(!script.client.is_settled());
        (awaited, other) = (other, awaited);
    }
    script.wait(60);
    assert!(script.client.is_settled());
}

/// Sends each block as soon as the network has it, and claims a thousand more.
#[test]
fn a_source_with_the_newest_blocks_holds_up_the_others_for_an_hour() {
    let mut world = World::new(None);
    let mut tip = world.child_at(0, NOW, Fault::None);
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.tip(1, 1000, NO_BLOCK);
    script.blocks(1, &world, &[tip]);
    while script.now <= NOW + HOUR {
        assert!(!script.client.is_settled());
        script.wait(120);
        tip = world.child_at(tip, script.now, Fault::None);
        script.blocks(1, &world, &[tip]);
        script.hash_all(&world);
    }
    assert_eq!(script.height(), Some(world.blocks[tip].height));
    assert!(script.client.is_settled());
}

#[test]
fn a_slow_source_is_awaited_while_it_adds_to_an_old_chain() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 12);
    let mut script = Script::new(1);
    script.tip_at(0, &world, tip);
    for block in 1..=12 {
        assert!(!script.client.is_settled());
        script.pass(HOUR / 2);
        script.blocks(0, &world, &[block]);
        script.hash_all(&world);
    }
    assert!(script.client.is_settled());
}

/// Such a chain may be of another network.
#[test]
fn a_chain_that_ends_before_the_base_was_not_read() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 10);
    let mut script = Script::new(1);
    script.following(&world, tip);
    let start = Start::Checkpoint(script.client.checkpoint().expect("a tip"));
    let mut script = Script::with(Config::new(Network::Regtest, [1; 32]), start, 1);
    let (source, _) = script.client.sources().next().expect("a source");
    assert!(!script.client.has_read(source));
    for shorter in [9, 3] {
        script.tip(0, shorter, NO_BLOCK);
        assert_eq!(script.state(0), SourceState::Behind);
        assert!(script.client.is_settled() && !script.client.has_read(source));
        script.wait(30);
        let next = grow(&mut world, tip, 2);
        script.following(&world, next);
        assert!(script.client.is_settled() && script.client.has_read(source));
        // A request that fails leaves what was read.
        script.wait(30);
        script.fail(0);
        assert!(script.client.has_read(source));
        script.wait(30);
    }
    script.tip_at(0, &world, tip);
    assert!(script.client.has_read(source), "the base's own block");
}
