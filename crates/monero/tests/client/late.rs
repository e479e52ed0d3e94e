//! Answers to questions that something else has settled since they were asked.

use randomx_monero::Network;
use randomx_monero::client::{Config, Query, SourceState, Start};

use crate::script::{Script, grow};
use crate::world::{Fault, World};

fn config() -> Config {
    Config { fixed_difficulty: Some(5), ..Config::new(Network::Regtest, [1; 32]) }
}

/// Returns a client that waits for the hash of a forged block, and for its source's answer to another
/// question: for more headers if the source claims more, and for its tip otherwise.
fn forged(world: &mut World, claims_more: bool) -> Script {
    let forged = world.child(0, 100, Fault::Forged);
    let mut script = Script::with(config(), Start::Anchors, 1);
    script.tip(0, if claims_more { 1000 } else { 1 }, world.blocks[forged].id);
    script.blocks(0, world, &[forged]);
    script.wait(30);
    let expected = if claims_more { Query::Headers { first: 2, count: 999 } } else { Query::Tip };
    assert_eq!((script.asked(0), script.jobs.len()), (Some(expected), 1));
    script
}

/// Answers the first source's open question.
type Answer = fn(&mut Script, &mut World);

#[test]
fn no_answer_acquits_a_convicted_source() {
    let answers: [(bool, Answer); 5] = [
        // A block that does not follow the base, one of an unknown version, and a valid one.
        (true, |script, world| {
            let other = grow(world, 0, 2);
            script.blocks(0, world, &[other]);
        }),
        (true, |script, world| {
            let unknown = world.child(0, 100, Fault::UnknownVersion);
            script.blocks(0, world, &[unknown]);
        }),
        (true, |script, world| {
            let block = grow(world, 0, 1);
            script.blocks(0, world, &[block]);
        }),
        // A tip at the base's height, and the base itself.
        (false, |script, _| script.tip(0, 0, [7; 32])),
        (false, |script, world| script.tip(0, 0, world.blocks[0].id)),
    ];
    for (claims_more, answer) in answers {
        let mut world = World::new(Some(5));
        let mut script = forged(&mut world, claims_more);
        script.refute(0);
        let is_invalid = |script: &Script| matches!(script.state(0), SourceState::Invalid { .. });
        assert!(is_invalid(&script));
        answer(&mut script, &mut world);
        assert!(is_invalid(&script), "{}", script.state(0));
        script.wait(1000);
        assert_eq!(script.asked(0), None, "the client asks it no more");
    }
}

/// Returns a client with two sources of the same chain. Both have shown its first blocks.
fn shared(world: &World, blocks: usize) -> Script {
    let mut script = Script::with(Config { kept: 8, ..config() }, Start::Anchors, 2);
    script.following(world, blocks);
    script.show(1, world, blocks);
    script.wait(30);
    script
}

#[test]
fn a_slow_source_keeps_its_state_when_the_base_moves() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 17);
    let mut script = shared(&world, 1);
    script.tip_at(1, &world, tip);
    assert_eq!(script.asked(1), Some(Query::Headers { first: 2, count: 16 }));
    script.following(&world, tip);
    assert_eq!(script.client.base_height(), 9);
    script.blocks(1, &world, &(2..=17).collect::<Vec<_>>());
    assert_eq!(script.state(1), SourceState::Following);
    script.show(1, &world, tip);
    assert_eq!((script.state(1), script.asked(1)), (SourceState::Following, None));
}

#[test]
fn an_answer_to_a_search_is_no_failure_when_the_base_moves() {
    let mut world = World::new(Some(5));
    let common = grow(&mut world, 0, 9);
    let (tip, side) = (grow(&mut world, common, 1), grow(&mut world, common, 1));
    let mut script = shared(&world, tip);
    script.tip_at(1, &world, side);
    assert_eq!(script.asked(1), Some(Query::Headers { first: 9, count: 1 }));
    let longer = grow(&mut world, tip, 1);
    script.following(&world, longer);
    assert_eq!(script.client.base_height(), 3);
    script.blocks(1, &world, &[common]);
    // A failure would have begun a pause.
    script.show(1, &world, side);
    assert_eq!(script.state(1), SourceState::Following);
    assert_eq!(script.client.blocks(), 9);
}
