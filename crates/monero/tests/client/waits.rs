//! The base waits for slow sources, and not for ever.

use randomx_monero::Network;
use randomx_monero::client::{Config, Query, Report, SourceState, Start};

use crate::script::{NOW, Script, grow};
use crate::world::{Fault, World};

/// The time that a silent source has, and one whose requests fail.
const SILENT: u64 = 600;
const FAILING: u64 = 60;

/// The most blocks of the client's chain while the base waits at the genesis block.
const LONGEST: u64 = 8 + 2 + 4;

fn config() -> Config {
    let config = Config::new(Network::Regtest, [1; 32]);
    Config { fixed_difficulty: Some(5), kept: 8, batch: 4, ..config }
}

/// The same without a fixed difficulty.
fn by_rule() -> Config {
    Config { fixed_difficulty: None, ..config() }
}

/// Makes blocks after another, so many seconds apart. The fewer seconds, the more work they have.
fn spaced(world: &mut World, parent: usize, blocks: usize, seconds: u64) -> usize {
    (0..blocks).fold(parent, |tip, _| world.child(tip, seconds, Fault::None))
}

fn begun(sources: usize) -> Script {
    Script::with(config(), Start::Anchors, sources)
}

/// Answers a source's open question, with at most so many blocks.
fn answer(script: &mut Script, world: &World, source: usize, tip: usize, most: usize) {
    match script.asked(source) {
        None => {}
        Some(Query::Headers { first, count }) => {
            let heights = first..first + count;
            let chain = world.chain(tip);
            let mut blocks: Vec<usize> =
                chain.filter(|&block| heights.contains(&world.blocks[block].height)).collect();
            blocks.reverse();
            blocks.truncate(most);
            if blocks.is_empty() {
                script.fail(source)
            } else {
                script.blocks(source, world, &blocks)
            }
        }
        Some(_) => script.tip_at(source, world, tip),
    }
    script.hash_all(world);
}

/// Lets a source answer at once until it is asked no more.
fn serve(script: &mut Script, world: &World, source: usize, tip: usize) {
    script.hash_all(world);
    while script.asked(source).is_some() {
        answer(script, world, source, tip, usize::MAX);
    }
}

#[test]
fn a_quick_source_does_not_hide_the_heavier_chain_of_a_slow_one() {
    let mut world = World::new(None);
    let (light, heavy) = (spaced(&mut world, 0, 60, 2000), spaced(&mut world, 0, 60, 60));
    for (claims, restarts) in [(false, false), (true, false), (true, true)] {
        let mut script = Script::with(by_rule(), Start::Anchors, 2);
        if claims {
            script.tip_at(1, &world, heavy);
        }
        serve(&mut script, &world, 0, light);
        assert_eq!((script.height(), script.client.base_height()), (Some(LONGEST), 0));
        assert!(!script.client.is_settled());
        let mut slow = 1;
        if restarts {
            let stored = script.stored.take().expect("a chain");
            (script, slow) = (Script::with(by_rule(), Start::Stored(stored), 1), 0);
        }
        for _ in 0..20 {
            script.pass(50);
            serve(&mut script, &world, slow, heavy);
        }
        assert_eq!((script.height(), script.state(slow)), (Some(60), SourceState::Following));
        assert!(script.reports.iter().any(|report| matches!(report, Report::Reorganised { .. })));
    }
}

#[test]
fn a_silent_source_delays_the_base_for_ten_minutes_in_all() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 80);
    let mut script = begun(2);
    script.tip(1, 1000, [7; 32]);
    serve(&mut script, &world, 0, tip);
    script.pass(SILENT - 1);
    // While the machine sleeps, no source can answer.
    for sleep in [1_000, 100_000] {
        script.now += sleep;
        script.pass(1);
        serve(&mut script, &world, 0, tip);
        assert_eq!((script.height(), script.client.base_height()), (Some(LONGEST), 0));
    }
    script.pass(1);
    serve(&mut script, &world, 0, tip);
    assert_eq!((script.height(), script.client.base_height()), (Some(80), 70));
}

/// The last block that is known to be shared is of a first part that the source has shown.
#[test]
fn the_base_moves_up_to_the_last_common_block() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 80);
    let mut script = begun(2);
    script.tip(1, 1000, [7; 32]);
    script.blocks(1, &world, &[1, 2, 3]);
    serve(&mut script, &world, 0, tip);
    assert_eq!(script.client.base_height(), 3);
    assert_eq!(script.height(), Some(3 + LONGEST));
}

#[test]
fn a_source_whose_requests_fail_delays_the_base_for_a_minute() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 20);
    let mut script = begun(2);
    for _ in 0..3 {
        script.fail(1);
        script.wait(100);
    }
    assert_eq!(script.state(1), SourceState::Unresponsive);
    serve(&mut script, &world, 0, tip);
    script.pass(FAILING - 1);
    assert_eq!((script.height(), script.client.base_height()), (Some(LONGEST), 0));
    assert!(!script.client.is_settled(), "blocks wait for the base");
    script.pass(1);
    script.hash_all(&world);
    assert_eq!((script.height(), script.client.base_height()), (Some(20), 10));
    assert!(script.client.is_settled());
}

#[test]
fn a_slow_source_of_the_same_chain_shows_one_block() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 80);
    let longer = grow(&mut world, tip, 1);
    let mut script = begun(2);
    script.tip_at(1, &world, longer);
    serve(&mut script, &world, 0, tip);
    assert_eq!(script.client.base_height(), 0);
    script.blocks(1, &world, &[1]);
    assert_eq!(script.asked(1), Some(Query::Headers { first: LONGEST, count: 1 }));
    script.blocks(1, &world, &[LONGEST as usize]);
    script.hash_all(&world);
    assert!(script.client.base_height() >= LONGEST - 8);
    script.tip_at(1, &world, longer);
    // The source is asked for blocks before the next search.
    assert_eq!(script.asked(1), Some(Query::Headers { first: LONGEST + 1, count: 16 }));
}

#[test]
fn a_source_has_a_second_more_for_each_new_block() {
    let mut world = World::new(Some(5));
    let (tip, side) = (grow(&mut world, 0, 40), grow(&mut world, 0, 40));
    let mut script = begun(2);
    script.tip_at(1, &world, side);
    serve(&mut script, &world, 0, tip);
    script.pass(SILENT - 1);
    answer(&mut script, &world, 1, side, 3);
    while script.asked(1) == Some(Query::Headers { first: LONGEST, count: 1 }) {
        answer(&mut script, &world, 1, side, 1);
    }
    script.pass(3);
    assert_eq!(script.client.base_height(), 0);
    script.pass(1);
    assert!(script.client.base_height() > 0);
}

/// Its requests come to an end, and it does not delay the base.
#[test]
fn a_side_that_is_too_long_and_has_less_work_delays_nothing() {
    let mut world = World::new(None);
    let (side, tip) = (spaced(&mut world, 0, 60, 2000), spaced(&mut world, 0, 60, 60));
    let mut script = Script::with(by_rule(), Start::Anchors, 2);
    serve(&mut script, &world, 0, tip);
    serve(&mut script, &world, 1, side);
    serve(&mut script, &world, 0, tip);
    assert_eq!(script.height(), Some(60));
    assert_eq!(script.client.base_height(), 50);
}

/// The time begins anew once the client's chain is up to date, and only then.
#[test]
fn the_time_begins_anew_when_the_chain_is_up_to_date() {
    for (age, is_delayed) in [(0, true), (5000, false)] {
        let mut world = World::new(Some(5));
        let first = world.child_at(0, NOW - age, Fault::None);
        let tip = grow(&mut world, first, 10);
        let longer = grow(&mut world, tip, 30);
        let mut script = begun(2);
        script.tip_at(1, &world, 0);
        serve(&mut script, &world, 0, tip);
        script.pass(SILENT / 2);
        assert_eq!((script.height(), script.client.base_height()), (Some(11), 0));
        serve(&mut script, &world, 1, tip);
        assert_eq!(script.client.base_height(), 3);
        serve(&mut script, &world, 0, longer);
        script.pass(SILENT / 2 + 1);
        let height = script.client.base_height();
        assert_eq!(height == 11, is_delayed, "age {age}: {height}");
    }
}

/// Draws numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// Whatever the first source does, the heavier chain of the second wins if that one answers at least
/// every 20 seconds.
#[test]
fn the_heavier_chain_wins_every_race() {
    for seed in 0..randomx_testing::amount(300, 10_000) as u64 {
        let mut random = Random(seed);
        let mut world = World::new(None);
        let common = grow(&mut world, 0, random.below(20) as usize);
        let length = 1 + random.below(60) as usize;
        let light = spaced(&mut world, common, length, 2000);
        let heavy = spaced(&mut world, common, length + 1, 100);
        let mut script = Script::with(by_rule(), Start::Anchors, 2);
        let mut silence = 0;
        for _ in 0..1000 {
            script.wait(random.below(10));
            silence += 1;
            let most = 1 + random.below(16) as usize;
            if silence == 2 || random.below(4) == 0 {
                answer(&mut script, &world, 1, heavy, most.max(8));
                silence = 0;
            } else {
                let tip = if random.below(50) == 0 { common } else { light };
                answer(&mut script, &world, 0, tip, most);
            }
        }
        let id = script.client.tip().map(|tip| tip.id);
        assert_eq!(id, Some(world.blocks[heavy].id), "seed {seed}");
    }
}
