//! Which source a client reads the chain between the anchors from once more, and for how long.

use randomx_monero::DIFFICULTY_BLOCKS;
use randomx_monero::client::{Alarm, Query, Report, Start};

use super::{FROM, Run, TIP, TO, config, lie, world};
use crate::script::Script;
use crate::sources::Mode;
use crate::world::World;

#[test]
fn a_source_that_lies_again_is_asked_once_an_hour() {
    let world = world();
    let mut run = Run::new(&world, 2, 1);
    run.grow(Mode::Honest);
    run.sources[1].mode = Mode::Stall;
    let mut reports = run.wait(3600);
    assert_eq!(run.sources[0].statements, 2);
    assert_eq!(run.client.tip().map(|tip| tip.height), Some(TO as u64));
    reports.extend(run.wait(400));
    assert_eq!(run.sources[0].statements, 3);
    let alarms = reports.iter().filter(|report| matches!(report, Report::Alarm(_)));
    let alarms: Vec<&Report> = alarms.collect();
    assert!(matches!(alarms[..], [Report::Alarm(Alarm::Stale { .. })]), "{alarms:?}");
    // An honest source ends this.
    run.sources[1].mode = Mode::Honest;
    run.wait(3600);
    run.has_the_chain();
    assert_eq!(run.states(), ["following", "following"]);
}

/// Returns a client with a stored chain, to which sources have shown theirs.
fn stored(world: &World, sources: usize) -> Script {
    let run = Run::new(world, 2, 0);
    let start = Start::Stored(run.client.save().expect("a tip"));
    let mut script = Script::with(config(), start, sources);
    (0..sources).for_each(|source| script.show(source, world, TIP));
    script.hash_all(world);
    script
}

/// Returns whether a source is asked for the blocks up to the first anchor.
fn reads(script: &Script, source: usize) -> bool {
    matches!(script.asked(source), Some(Query::Headers { count, .. }) if count > 1)
}

#[test]
fn a_source_that_is_silent_while_it_is_read_gives_way_to_another_one() {
    let world = world();
    let mut script = stored(&world, 2);
    assert!(reads(&script, 0) && !reads(&script, 1));
    (0..11).for_each(|_| script.wait(60));
    script.tip_at(1, &world, TIP);
    assert!(reads(&script, 1));
}

/// The first one has lied again. The second one is silent.
#[test]
fn a_silent_source_gives_way_to_one_that_has_stated_difficulties_as_often() {
    let world = world();
    let mut script = stored(&world, 2);
    assert!(reads(&script, 0));
    script.blocks(0, &world, &(FROM + 1 - DIFFICULTY_BLOCKS..=FROM).collect::<Vec<_>>());
    script.difficulties(0, lie(&world, 2));
    script.blocks(0, &world, &(FROM + 1..=TO).collect::<Vec<_>>());
    (0..2).for_each(|source| script.tip_at(source, &world, TIP));
    script.hash_all(&world);
    (0..60).for_each(|_| script.wait(60));
    (0..2).for_each(|source| script.tip_at(source, &world, TIP));
    assert!(reads(&script, 1) && !reads(&script, 0));
    (0..11).for_each(|_| script.wait(60));
    script.tip_at(0, &world, TIP);
    assert!(reads(&script, 0));
}

/// The only source sends no more.
#[test]
fn a_reading_has_an_end() {
    let world = world();
    let mut script = stored(&world, 1);
    for minutes in [0, 200] {
        (0..minutes).for_each(|_| script.wait(60));
        assert!(reads(&script, 0));
        script.fail(0);
        script.wait(60);
    }
    assert!(
        reads(&script, 0) && !script.client.sources().any(|(id, _)| script.client.has_read(id))
    );
    (0..60).for_each(|_| script.wait(60));
    script.fail(0);
    script.wait(60);
    assert_eq!(script.asked(0), Some(Query::Tip));
    assert!(!script.client.is_settled());
    // It begins again after an hour.
    script.tip_at(0, &world, TIP);
    (0..60).for_each(|_| script.wait(60));
    script.tip_at(0, &world, TIP);
    assert!(reads(&script, 0));
}
