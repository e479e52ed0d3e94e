//! Clocks that are set back, or slow.

use randomx_monero::Hash;
use randomx_monero::client::{Config, Query, Report, SourceState};
use randomx_monero::{Anchor, Network, client::Start};

use crate::script::{NOW, Script, grow};
use crate::world::{Fault, World};

const HOUR: u64 = 3600;
const NO_BLOCK: Hash = [7; 32];

/// The pause between questions for the tip.
const POLL: u64 = 30;

fn set_back(script: &mut Script) {
    script.now -= 100_000;
    script.wait(0);
}

#[test]
fn sources_are_asked_as_often_by_a_clock_that_was_set_back() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let mut script = Script::new(2);
    script.following(&world, tip);
    for _ in 0..10 {
        script.fail(1);
        script.wait(60);
    }
    // The second question is of this time.
    (0..2).for_each(|_| script.tip_at(0, &world, tip));
    script.fail(1);
    set_back(&mut script);
    assert_eq!((script.asked(0), script.asked(1)), (None, None));
    script.wait(POLL - 1);
    assert_eq!(script.asked(0), None);
    script.wait(1);
    assert_eq!((script.asked(0), script.asked(1)), (Some(Query::Tip), None));
    // The longest pause after a failure.
    script.wait(60 - POLL);
    assert_eq!(script.asked(1), Some(Query::Tip));
}

#[test]
fn failed_hashes_are_computed_again_by_a_clock_that_was_set_back() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let mut script = Script::new(1);
    script.show(0, &world, tip);
    script.fail_hash(0);
    set_back(&mut script);
    script.wait(POLL);
    assert_eq!(script.jobs.len(), 2);
}

#[test]
fn a_source_holds_up_the_others_for_an_hour_by_a_clock_that_was_set_back() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.tip(1, 1000, NO_BLOCK);
    set_back(&mut script);
    script.pass(HOUR);
    assert!(!script.client.is_settled());
    script.wait(1);
    assert!(script.client.is_settled());
}

#[test]
fn a_pace_is_measured_by_a_clock_that_was_set_back() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 2000);
    let anchor = |block: usize| {
        let block = &world.blocks[block];
        Anchor { height: block.height, id: block.id, work: block.work }
    };
    let start = Start::Between(anchor(0), anchor(tip));
    let mut script = Script::with(Config::new(Network::Regtest, [1; 32]), start, 2);
    (0..2).for_each(|source| script.tip_at(source, &world, tip));
    let all = Some(Query::Headers { first: 1, count: 1000 });
    assert_eq!((script.asked(0), script.asked(1)), (all, None));
    set_back(&mut script);
    script.pass(600);
    // The second source may repeat its tip before it provides blocks.
    script.wait(POLL);
    if script.asked(1) == Some(Query::Tip) {
        script.tip_at(1, &world, tip);
    }
    assert_eq!(script.asked(1), all);
}

fn alarms(script: &Script) -> usize {
    script.reports.iter().filter(|report| matches!(report, Report::Alarm(_))).count()
}

/// The sources' claims from before a sleep do not show that the chain stands still.
#[test]
fn a_computer_that_slept_raises_no_alarm_before_its_sources_answer() {
    let mut world = World::new(None);
    let tip = world.child_at(0, NOW - 60, Fault::None);
    let next = world.child_at(tip, NOW + 2 * HOUR - 60, Fault::None);
    // With a question that was open, and without.
    for wait in [0, POLL] {
        let mut script = Script::new(1);
        script.following(&world, tip);
        script.wait(wait);
        assert_eq!(script.asked(0), (wait > 0).then_some(Query::Tip));
        script.wait(2 * HOUR);
        assert_eq!(alarms(&script), 0);
        script.following(&world, next);
        assert_eq!(alarms(&script), 0);
        // A chain that stands still is noticed.
        script.wait(2 * HOUR);
        script.tip_at(0, &world, next);
        assert_eq!(alarms(&script), 1);
    }
}

/// It may have had no time to answer.
#[test]
fn a_source_that_is_awaited_during_a_sleep_is_awaited_after_it() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 5);
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.tip(1, 1000, NO_BLOCK);
    script.wait(2 * HOUR);
    assert!(!script.client.is_settled());
    script.pass(HOUR);
    assert!(!script.client.is_settled());
    script.wait(1);
    assert!(script.client.is_settled());
}

#[test]
fn sources_that_stay_silent_after_a_sleep_raise_an_alarm_after_an_hour() {
    let mut world = World::new(None);
    let tip = world.child_at(0, NOW - 60, Fault::None);
    let mut script = Script::new(1);
    script.following(&world, tip);
    script.wait(2 * HOUR);
    (0..60).for_each(|_| script.wait(60));
    assert_eq!(alarms(&script), 0);
    script.wait(60);
    assert_eq!(alarms(&script), 1);
}

#[test]
fn short_sleeps_do_not_put_an_alarm_off() {
    let mut world = World::new(None);
    let tip = world.child_at(0, NOW - 60, Fault::None);
    let mut script = Script::new(1);
    script.following(&world, tip);
    for awake in [0, 20, 40, 59] {
        (0..awake.min(20)).for_each(|_| script.wait(60));
        assert_eq!(alarms(&script), 0, "{awake} minutes");
        script.wait(200);
    }
    (0..2).for_each(|_| script.wait(60));
    assert_eq!(alarms(&script), 1);
}

/// Returns a client of so many sources. Each has a block that the client takes, and then one that is
/// three hours ahead of the clock.
fn slow(world: &mut World, sources: usize) -> (Script, usize) {
    let last = world.child_at(0, NOW, Fault::None);
    let early = world.child_at(last, NOW + 3 * HOUR, Fault::None);
    let mut script = Script::new(sources);
    for source in 0..sources {
        script.tip_at(source, world, early);
        script.blocks(source, world, &[last, early]);
    }
    script.hash_all(world);
    assert_eq!(script.height(), Some(1));
    (script, early)
}

fn ahead(script: &Script) -> Vec<Option<u64>> {
    script.client.sources().map(|(source, _)| script.client.early(source)).collect()
}

#[test]
fn a_slow_clock_is_named_and_nothing_waits_for_it() {
    let mut world = World::new(None);
    let (mut script, early) = slow(&mut world, 2);
    assert_eq!(ahead(&script), [Some(3 * HOUR); 2]);
    assert_eq!([0, 1].map(|source| script.state(source)), [const { SourceState::Unresponsive }; 2]);
    assert!(script.client.is_settled());
    // Once the clock is right, the sources are followed.
    script.wait(HOUR + POLL);
    for source in 0..2 {
        script.show(source, &world, early);
    }
    script.hash_all(&world);
    assert_eq!(script.height(), Some(2));
    assert_eq!([0, 1].map(|source| script.state(source)), [const { SourceState::Following }; 2]);
    assert_eq!(ahead(&script), [None; 2]);
}

/// Each block becomes acceptable at its own time.
#[test]
fn a_slow_clock_is_reported_once() {
    let mut world = World::new(None);
    let early = world.child_at(0, NOW + 2 * HOUR + 10, Fault::None);
    let later = world.child_at(early, NOW + 3 * HOUR, Fault::None);
    let mut script = Script::new(1);
    script.tip_at(0, &world, later);
    script.blocks(0, &world, &[early, later]);
    assert_eq!(script.state(0), SourceState::Unresponsive);
    let reports = script.reports.len();
    script.wait(POLL);
    script.tip_at(0, &world, later);
    script.blocks(0, &world, &[early]);
    assert_eq!(script.asked(0), Some(Query::Headers { first: 2, count: 1 }));
    script.blocks(0, &world, &[later]);
    assert_eq!(script.reports.len(), reports);
}

#[test]
fn a_clock_that_becomes_slow_is_named() {
    let mut world = World::new(None);
    let tip = world.child_at(0, NOW, Fault::None);
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.show(1, &world, tip);
    script.now -= 3 * HOUR;
    script.wait(0);
    script.wait(POLL);
    let next = world.child_at(tip, NOW + 1, Fault::None);
    for source in [0, 1, 0] {
        script.tip_at(source, &world, next);
        script.blocks(source, &world, &[next]);
        script.wait(POLL);
    }
    assert_eq!([0, 1].map(|source| script.state(source)), [const { SourceState::Unresponsive }; 2]);
}

#[test]
fn a_source_below_the_base_does_not_vouch_for_the_clock() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 10);
    let mut script = Script::new(1);
    script.following(&world, tip);
    let start = Start::Checkpoint(script.client.checkpoint().expect("a tip"));
    let mut script = Script::with(Config::new(Network::Regtest, [1; 32]), start, 2);
    script.tip(0, 9, NO_BLOCK);
    assert_eq!(script.state(0), SourceState::Behind);
    let early = world.child_at(tip, NOW + 3 * HOUR, Fault::None);
    script.show(1, &world, early);
    assert_eq!(script.state(1), SourceState::Unresponsive);
}

/// One source alone may have made its blocks up.
#[test]
fn one_early_source_of_two_does_not_stand_for_the_clock() {
    let mut world = World::new(None);
    let last = world.child_at(0, NOW, Fault::None);
    let early = world.child_at(last, NOW + 3 * HOUR, Fault::None);
    let mut script = Script::new(2);
    script.following(&world, last);
    script.tip_at(1, &world, early);
    script.blocks(1, &world, &[last, early]);
    assert_eq!(script.state(1), SourceState::Connecting);
    assert_eq!(ahead(&script), [None, Some(3 * HOUR)]);
    assert!(!script.client.is_settled());
}
