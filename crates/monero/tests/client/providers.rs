//! The source that a first start reads from.

use randomx_monero::client::{Config, Query, SourceState, Start};
use randomx_monero::{Anchor, DIFFICULTY_BLOCKS, Network};

use crate::script::{Script, grow};
use crate::world::World;

/// The time of a source's turn.
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

/// Lets a source send so many blocks in its turn. The next question is open when the turn is over.
fn stint(script: &mut Script, world: &World, source: usize, count: usize) {
    send(script, world, source, count);
    script.pass(STINT);
}

/// Lets the sources that are asked for their tips answer.
fn repeat_tips(script: &mut Script, world: &World) {
    for source in 0..script.client.sources().count() {
        if script.asked(source) == Some(Query::Tip) {
            script.tip_at(source, world, BLOCKS as usize);
        }
    }
}

/// Checks that the client asks a source for the blocks from one on.
#[track_caller]
fn goes_on_with(script: &mut Script, world: &World, source: usize, first: u64) {
    repeat_tips(script, world);
    assert_eq!(script.asked(source), asks_from(first), "source {source}");
}

/// Checks that the client begins anew with a source.
#[track_caller]
fn begins_with(script: &mut Script, world: &World, source: usize) {
    goes_on_with(script, world, source, 1);
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

/// A user can let sources take an hour for an answer.
#[test]
fn answers_that_come_after_their_turns_count() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    script.pass(60);
    for (source, first) in [(0, 1), (1, 1), (0, 1001)] {
        goes_on_with(&mut script, &world, source, first);
        assert_eq!(script.client.progress(), Some((first - 1, BLOCKS)));
        script.pass(STINT);
        repeat_tips(&mut script, &world);
        assert!(matches!(script.asked(1 - source), Some(Query::Headers { .. })));
        send(&mut script, &world, source, 1000);
        assert_eq!(script.state(source), SourceState::Connecting);
    }
    assert_eq!(script.height(), Some(BLOCKS));
    // The other source's answer belongs to nothing. A pause would follow a failure.
    assert_eq!(script.asked(1), asks_from(1001));
    script.blocks(1, &world, &[5]);
    assert_eq!(script.asked(1), Some(Query::Tip));
}

#[test]
fn an_answer_may_take_longer_than_all_turns() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    for source in [1, 0, 1, 0] {
        script.pass(STINT);
        goes_on_with(&mut script, &world, source, 1);
    }
    send(&mut script, &world, 0, 1000);
    assert_eq!(script.asked(0), asks_from(1001));
    send(&mut script, &world, 1, 500);
    // The next turn is the fastest one's.
    script.pass(2 * STINT);
    goes_on_with(&mut script, &world, 1, 501);
}

#[test]
fn a_late_answer_of_another_chain_costs_the_present_source_no_progress() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    stint(&mut script, &world, 0, 500);
    begins_with(&mut script, &world, 1);
    send(&mut script, &world, 1, 20);
    script.blocks(0, &world, &[5]);
    // Its chain may have changed meanwhile.
    assert_eq!((script.asked(0), script.state(0)), (None, SourceState::Connecting));
    assert_eq!(script.client.progress(), Some((20, BLOCKS)));
    script.wait(2);
    goes_on_with(&mut script, &world, 1, 21);
    stint(&mut script, &world, 1, 20);
    begins_with(&mut script, &world, 0);
    send(&mut script, &world, 0, 1000);
    script.blocks(0, &world, &[5]);
    assert_eq!(script.reason(0), "a block does not follow the one before it");
    goes_on_with(&mut script, &world, 1, 41);
}

#[test]
fn late_difficulties_count() {
    let mut world = World::new(None);
    let mut script = begun_at(&mut world, 800, 2);
    send(&mut script, &world, 0, DIFFICULTY_BLOCKS);
    script.pass(STINT);
    assert!(matches!(script.asked(0), Some(Query::Difficulties { .. })));
    script.difficulties(0, vec![1; DIFFICULTY_BLOCKS]);
    // A pause would follow a failure.
    assert_eq!(script.asked(0), Some(Query::Tip));
    script.pass(STINT);
    goes_on_with(&mut script, &world, 0, 801);
}

#[test]
fn a_source_that_is_alone_goes_on() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 1);
    for turn in 0..5 {
        assert_eq!(script.asked(0), asks_from(turn + 1));
        assert_eq!(script.client.progress(), Some((turn, BLOCKS)));
        send(&mut script, &world, 0, 1);
        script.pass(STINT);
    }
}

/// What a source has sent is kept for its next turn.
#[test]
fn sources_take_turns_and_every_other_turn_is_the_fastest_ones() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 3);
    let turns = [(0, 1, 20), (1, 1, 30), (2, 1, 10), (1, 31, 31), (0, 21, 20), (1, 62, 5)];
    let later = [(2, 11, 40), (2, 51, 10), (0, 41, 50), (0, 91, 1), (1, 67, 1)];
    for (source, first, count) in turns.into_iter().chain(later) {
        goes_on_with(&mut script, &world, source, first);
        stint(&mut script, &world, source, count);
    }
}

/// It is fast enough to be read for hours, and could keep back the last block.
#[test]
fn the_first_source_to_answer_does_not_hold_up_the_others() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    let turns = [(0, 1, 600), (1, 1, 700), (0, 601, 600), (1, 701, 700), (0, 1201, 600)];
    for (source, first, count) in turns {
        goes_on_with(&mut script, &world, source, first);
        stint(&mut script, &world, source, count);
    }
    goes_on_with(&mut script, &world, 1, 1401);
    send(&mut script, &world, 1, 600);
    assert_eq!(script.height(), Some(BLOCKS));
}

/// It claims the anchor again and again.
#[test]
fn a_fast_source_that_falls_silent_costs_a_slow_one_no_progress() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    send(&mut script, &world, 0, 1000);
    send(&mut script, &world, 0, 999);
    outage(&mut script, 0);
    for first in (1..BLOCKS).step_by(250) {
        goes_on_with(&mut script, &world, 1, first);
        send(&mut script, &world, 1, 250);
        if first + 250 < BLOCKS {
            script.pass(STINT / 2);
            repeat_tips(&mut script, &world);
            script.pass(STINT / 2);
            goes_on_with(&mut script, &world, 0, BLOCKS);
            script.fail(0);
        }
    }
    assert_eq!(script.height(), Some(BLOCKS));
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
fn a_source_that_answers_again_goes_on() {
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
    outage(&mut script, 1);
    goes_on_with(&mut script, &world, 0, 1001);
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
fn a_source_of_another_network_costs_a_slow_one_no_progress() {
    let mut world = World::new(None);
    let mut script = begun(&mut world, 2);
    script.blocks(0, &world, &[5]);
    script.wait(60);
    script.tip_at(0, &world, BLOCKS as usize);
    begins_with(&mut script, &world, 1);
    stint(&mut script, &world, 1, 20);
    begins_with(&mut script, &world, 0);
    script.blocks(0, &world, &[5]);
    assert_eq!(script.state(0), SourceState::OtherNetwork);
    goes_on_with(&mut script, &world, 1, 21);
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
