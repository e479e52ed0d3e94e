//! The source that a first start reads from.

use randomx_monero::client::{Config, Query, SourceState, Start};
use randomx_monero::{Anchor, DIFFICULTY_BLOCKS, Network};

use crate::script::{Script, grow};
use crate::world::World;

/// The time over which a source's pace is measured.
const STINT: u64 = 600;

/// The number of blocks up to the anchor.
const BLOCKS: u64 = 2000;

/// A first start from the genesis block whose sources all claim the anchor. The client asks the first
/// one.
fn begun(world: &mut World, sources: usize) -> Script {
    let script = begun_at(world, 0, sources);
    assert_eq!(script.asked(0), asks_from(1));
    script
}

/// A first start from an anchor at a height.
fn begun_at(world: &mut World, from: usize, sources: usize) -> Script {
    let tip = grow(world, 0, BLOCKS as usize);
    let anchor = |block: usize| {
        let block = &world.blocks[block];
        Anchor { height: block.height, id: block.id, work: block.work }
    };
    let start = Start::Between(anchor(from), anchor(tip));
    let mut script = Script::with(Config::new(Network::Regtest, [1; 32]), start, sources);
    for source in 0..sources {
        script.tip_at(source, world, tip);
    }
    script
}

/// Lets three requests to the second source fail, with a usable tip after each.
#[test]
fn a_source_that_answers_between_failures_is_not_unresponsive() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    script.wait(30);
    for _ in 0..3 {
        script.fail(1);
        script.wait(60);
        script.tip_at(1, &world, BLOCKS as usize);
        script.wait(30);
        assert_eq!(script.state(1), SourceState::Connecting);
    }
    // Three failures in a row.
    outage(&mut script, 1);
}

fn asks_from(first: u64) -> Option<Query> {
    Some(Query::Headers { first, count: 1000.min(BLOCKS + 1 - first) })
}

/// Answers with the first so many of the blocks that the client asks for. Block n of this world has
/// the height n.
fn send(script: &mut Script, world: &World, source: usize, count: usize) {
    let Some(Query::Headers { first, .. }) = script.asked(source) else { panic!("no question") };
    let first = first as usize;
    script.blocks(source, world, &(first..first + count).collect::<Vec<_>>());
}

/// Lets a source send so many blocks in the time of one measurement. Its next answer is outstanding.
fn stint(script: &mut Script, world: &World, source: usize, count: usize) {
    send(script, world, source, count);
    script.pass(STINT);
}

/// Checks that the client begins anew with a source, after that one has repeated its tip.
#[track_caller]
fn begins_with(script: &mut Script, world: &World, source: usize) {
    if script.asked(source) == Some(Query::Tip) {
        script.tip_at(source, world, BLOCKS as usize);
    }
    assert_eq!(script.asked(source), asks_from(1), "source {source}");
}

#[test]
fn a_source_that_sends_few_blocks_gives_way_to_another() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    script.pass(STINT - 1);
    send(&mut script, &world, 0, 599);
    assert_eq!(script.asked(0), asks_from(600));
    script.wait(1);
    begins_with(&mut script, &world, 1);
    // The late answer belongs to nothing.
    send(&mut script, &world, 0, 1000);
    assert_eq!(script.client.progress(), Some((0, BLOCKS)));
    send(&mut script, &world, 1, 1000);
    send(&mut script, &world, 1, 1000);
    assert_eq!(script.height(), Some(BLOCKS));
}

/// No source can send anything meanwhile.
#[test]
fn a_sleep_does_not_make_a_source_slow() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    send(&mut script, &world, 0, 500);
    script.wait(900);
    assert_eq!((script.asked(0), script.asked(1)), (asks_from(501), Some(Query::Tip)));
    script.pass(STINT - 1);
    script.tip_at(1, &world, BLOCKS as usize);
    assert_eq!(script.asked(0), asks_from(501));
    script.wait(1);
    begins_with(&mut script, &world, 1);
}

#[test]
fn late_difficulties_are_no_failure() {
    let mut world = World::new(None);
    let mut script = begun_at(&mut world, 800, 2);
    stint(&mut script, &world, 0, DIFFICULTY_BLOCKS);
    assert!(matches!(script.asked(0), Some(Query::Difficulties { .. })));
    script.pass(STINT);
    script.difficulties(0, vec![1; DIFFICULTY_BLOCKS]);
    // A pause would follow a failure.
    assert_eq!(script.asked(0), Some(Query::Tip));
}

#[test]
fn a_source_that_is_fast_enough_or_alone_goes_on() {
    for (sources, count) in [(2, 600), (1, 1)] {
        let mut world = World::new(None);
        let mut script = begun(&mut world, sources);
        stint(&mut script, &world, 0, count);
        assert_eq!(script.asked(0), asks_from(count as u64 + 1));
        assert_eq!(script.client.progress(), Some((count as u64, BLOCKS)));
    }
}

#[test]
fn of_slow_sources_the_fastest_provides() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 3);
    for (source, count) in [(0, 20), (1, 30), (2, 10)] {
        begins_with(&mut script, &world, source);
        stint(&mut script, &world, source, count);
        // A late answer ends the question that it belongs to.
        script.blocks(source, &world, &[1]);
    }
    begins_with(&mut script, &world, 1);
    stint(&mut script, &world, 1, 21);
    stint(&mut script, &world, 1, 21);
    assert_eq!(script.asked(1), asks_from(43), "no other one is faster");
    stint(&mut script, &world, 1, 19);
    begins_with(&mut script, &world, 0);
}

/// It may claim the anchor again and again.
#[test]
fn a_source_that_fails_does_not_interrupt_a_slow_one() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    stint(&mut script, &world, 0, 300);
    script.blocks(0, &world, &[1]);
    begins_with(&mut script, &world, 1);
    for _ in 0..3 {
        script.fail(1);
        script.wait(10);
    }
    begins_with(&mut script, &world, 0);
    for first in [301, 601] {
        if script.asked(1) == Some(Query::Tip) {
            script.tip_at(1, &world, BLOCKS as usize);
        }
        stint(&mut script, &world, 0, 300);
        assert_eq!(script.asked(0), asks_from(first));
    }
}

/// Lets three requests to a source fail, and lets the pauses after them pass.
fn outage(script: &mut Script, source: usize) {
    for pause in [2, 4, 8] {
        script.fail(source);
        script.wait(pause);
    }
    assert_eq!(script.state(source), SourceState::Unresponsive);
}

#[test]
fn a_source_that_answers_again_goes_on_and_another_one_begins_anew() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 1);
    send(&mut script, &world, 0, 1000);
    outage(&mut script, 0);
    script.tip_at(0, &world, BLOCKS as usize);
    assert_eq!(script.asked(0), asks_from(1001));
    assert_eq!(script.client.progress(), Some((1000, BLOCKS)));
    // A claim is no usable answer.
    assert_eq!(script.state(0), SourceState::Unresponsive);
    send(&mut script, &world, 0, 500);
    assert_eq!(script.state(0), SourceState::Connecting);
    outage(&mut script, 0);
    script.tip_at(0, &world, BLOCKS as usize);
    send(&mut script, &world, 0, 500);
    assert_eq!(script.height(), Some(BLOCKS));
    assert_eq!(script.state(0), SourceState::Connecting);

    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    send(&mut script, &world, 0, 1000);
    outage(&mut script, 0);
    begins_with(&mut script, &world, 1);
    send(&mut script, &world, 1, 1000);
    script.tip_at(0, &world, BLOCKS as usize);
    outage(&mut script, 1);
    begins_with(&mut script, &world, 0);
}

/// The node behind an address may be replaced.
#[test]
fn a_source_of_another_network_is_asked_again() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 1);
    script.blocks(0, &world, &[5]);
    assert_eq!(script.state(0), SourceState::OtherNetwork);
    script.wait(59);
    assert_eq!(script.asked(0), None);
    script.wait(1);
    begins_with(&mut script, &world, 0);
    assert_eq!(script.state(0), SourceState::Connecting);
    send(&mut script, &world, 0, 1000);
    send(&mut script, &world, 0, 1000);
    assert_eq!(script.height(), Some(BLOCKS));
}

#[test]
fn a_source_of_another_network_does_not_interrupt_a_slow_one() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    script.blocks(0, &world, &[5]);
    script.wait(60);
    script.tip_at(0, &world, BLOCKS as usize);
    begins_with(&mut script, &world, 1);
    stint(&mut script, &world, 1, 20);
    assert_eq!((script.asked(0), script.asked(1)), (Some(Query::Tip), asks_from(21)));
}

/// The client accuses a source only of answers that no outage interrupted.
#[test]
fn a_source_whose_chain_changed_during_an_outage_begins_anew() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 1);
    send(&mut script, &world, 0, 1000);
    outage(&mut script, 0);
    script.tip_at(0, &world, BLOCKS as usize);
    script.blocks(0, &world, &[5]);
    assert_eq!(script.state(0), SourceState::Unresponsive);
    script.wait(16);
    begins_with(&mut script, &world, 0);
    send(&mut script, &world, 0, 1000);
    script.blocks(0, &world, &[5]);
    assert_eq!(script.reason(0), "a block does not follow the one before it");
}
