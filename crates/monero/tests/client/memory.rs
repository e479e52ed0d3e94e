//! The blocks that a client holds.

use randomx_monero::Network;
use randomx_monero::client::{Config, Query, Start, TrustedBlock};

use crate::script::{Script, grow};
use crate::world::World;

#[test]
fn a_side_that_its_source_leaves_is_dropped() {
    let mut world = World::new(None);
    let (tip, side) = (grow(&mut world, 0, 3), grow(&mut world, 0, 2));
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.show(1, &world, side);
    assert_eq!(script.client.blocks(), 5);
    script.wait(30);
    script.tip_at(1, &world, tip);
    assert_eq!(script.client.blocks(), 3);
}

/// A side may replace all kept blocks with as many more.
#[test]
fn a_source_sends_twice_the_kept_blocks_before_they_are_accepted() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 100);
    let config = Config { kept: 8, batch: 4, fixed_difficulty: Some(5), ..config() };
    let mut script = Script::with(config, Start::Anchors, 1);
    assert_eq!(script.client.max_blocks(), (8 + 2 + 4 + 16) * 3);
    script.tip_at(0, &world, tip);
    assert_eq!(script.asked(0), Some(Query::Headers { first: 1, count: 16 }));
    script.blocks(0, &world, &(1..=16).collect::<Vec<_>>());
    assert_eq!((script.asked(0), script.client.blocks()), (None, 16));
    script.hash_all(&world);
    assert_eq!(script.height(), Some(16));
    assert_eq!(script.asked(0), Some(Query::Headers { first: 17, count: 4 }));
}

fn config() -> Config {
    Config::new(Network::Regtest, [1; 32])
}

#[test]
fn trusted_blocks_are_those_of_the_chain_from_a_height_on() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 6);
    let mut script = Script::new(1);
    script.following(&world, tip);
    let expected = |block: usize| {
        let block = &world.blocks[block];
        let (height, id) = (block.height, block.id);
        TrustedBlock { height, id, difficulty: block.difficulty, work: block.work, hashed: true }
    };
    assert_eq!(script.client.trusted_blocks(4), [4, 5, 6].map(expected));
    assert_eq!(script.client.trusted_blocks(0), [1, 2, 3, 4, 5, 6].map(expected));
    assert_eq!(script.client.trusted_blocks(7), []);
}
