//! Searches for the last block that a source shares with the client.

use randomx_monero::client::{Query, SourceState};

use crate::script::{Script, grow};
use crate::world::World;

/// A client that follows a chain of eight blocks, whose source then has another one of eight that
/// leaves it after the third; the ends of both.
fn forked(world: &mut World) -> (Script, usize, usize) {
    let ours = grow(world, 0, 8);
    let theirs = grow(world, 3, 5);
    let mut script = Script::new(1);
    script.following(world, ours);
    script.wait(30);
    script.tip_at(0, world, theirs);
    (script, ours, theirs)
}

fn one(height: u64) -> Option<Query> {
    Some(Query::Headers { first: height, count: 1 })
}

#[test]
fn the_last_common_block_is_found_and_read_on_from() {
    let mut world = World::new(None);
    let (mut script, _, theirs) = forked(&mut world);
    for height in [7, 5, 1, 3, 4] {
        assert_eq!(script.asked(0), one(height));
        let block = world.at(theirs, height).expect("a block");
        script.blocks(0, &world, &[block]);
    }
    assert_eq!(script.asked(0), Some(Query::Headers { first: 4, count: 5 }));
}

#[test]
fn a_block_of_another_height_is_not_common() {
    let mut world = World::new(None);
    let (mut script, ours, _) = forked(&mut world);
    let second = world.at(ours, 2).expect("a block");
    script.blocks(0, &world, &[second]);
    assert_eq!(script.asked(0), one(5));
}

#[test]
fn unknown_versions_are_named_and_malformed_blocks_are_failures() {
    let mut world = World::new(None);
    let (mut script, ..) = forked(&mut world);
    script.headers(0, vec![vec![17, 0, 0]]);
    assert_eq!(script.state(0), SourceState::UpdateNeeded { height: 7, version: 17 });
    let (mut script, ..) = forked(&mut World::new(None));
    script.headers(0, vec![vec![16, 16, 0]]);
    assert_eq!((script.state(0), script.asked(0)), (SourceState::Following, None));
}

/// It answers each search with its newest block, and each question above that with a block that does not follow.
#[test]
fn a_source_cannot_be_searched_for_ever() {
    let mut world = World::new(None);
    let ours = grow(&mut world, 0, 8);
    let other = grow(&mut world, 0, 1);
    let mut script = Script::new(1);
    script.following(&world, ours);
    script.wait(30);
    script.tip(0, 9, [7; 32]);
    let mut answers = 0;
    while let Some(Query::Headers { first, .. }) = script.asked(0) {
        script.blocks(0, &world, &[if first == 9 { other } else { ours }]);
        answers += 1;
        assert!(answers < 100, "the search ends");
    }
    // No block of it follows the first one.
    assert_eq!((script.state(0), script.asked(0)), (SourceState::OtherNetwork, None));
}

#[test]
fn a_source_may_change_its_chain_often_if_it_is_read() {
    let mut world = World::new(None);
    let mut script = Script::new(1);
    for _ in 0..10 {
        let tip = grow(&mut world, 0, 3);
        script.show(0, &world, tip);
        script.hash_all(&world);
        assert_eq!(script.state(0), SourceState::Following);
        script.wait(30);
    }
}

#[test]
fn a_source_is_not_compared_while_its_chain_is_searched() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.show(1, &world, tip);
    assert_eq!(script.state(1), SourceState::Following);
    script.wait(30);
    script.tip(1, 5, [7; 32]);
    assert_eq!(script.asked(1), one(4));
    let tip = grow(&mut world, tip, 3);
    script.following(&world, tip);
    // Where its chain leaves the client's is unknown.
    assert_eq!(script.state(1), SourceState::Following);
}
