//! Usable answers and others.

use randomx_monero::client::{Config, Query, Report, SourceState, Start};
use randomx_monero::{Anchor, MAX_HEIGHT, Network};

use crate::script::{Script, grow};
use crate::world::{Fault, World};

/// Longer than every pause after a failure.
const PAUSE: u64 = 600;

/// Checks that an answer to a question for `count` headers counts as a failure.
#[track_caller]
fn is_unusable(claim: usize, answer: impl Fn(&mut Script, &World)) {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, claim);
    let mut script = Script::new(1);
    for failures in 1..=3 {
        if claim > 0 {
            script.tip_at(0, &world, tip);
            assert_eq!(script.asked(0), Some(Query::Headers { first: 1, count: claim as u64 }));
        }
        answer(&mut script, &world);
        assert_eq!(script.asked(0), None, "a pause follows a failure");
        assert_eq!(script.client.blocks(), 0, "nothing of it is kept");
        let is_unresponsive = script.state(0) == SourceState::Unresponsive;
        assert_eq!(is_unresponsive, failures == 3, "{} after {failures}", script.state(0));
        script.wait(PAUSE);
    }
}

#[test]
fn unusable_answers_are_failures() {
    is_unusable(0, |script, _| script.fail(0));
    is_unusable(0, |script, _| script.tip(0, MAX_HEIGHT + 1, [7; 32]));
    is_unusable(0, |script, _| script.headers(0, vec![vec![16]]));
    is_unusable(0, |script, _| script.difficulties(0, vec![1]));
    is_unusable(2, |script, _| script.tip(0, 1, [7; 32]));
    is_unusable(2, |script, _| script.headers(0, Vec::new()));
    is_unusable(2, |script, world| script.blocks(0, world, &[1, 2, 1]));
    is_unusable(2, |script, _| script.difficulties(0, vec![1, 1]));
    // A version that is known, and nothing that this version allows after it.
    is_unusable(2, |script, _| script.headers(0, vec![vec![16, 16, 0]]));
}

#[test]
fn a_usable_answer_ends_a_row_of_failures_and_a_claim_does_not() {
    for (claim, expected) in [(None, SourceState::Following), (Some(5), SourceState::Unresponsive)]
    {
        let world = World::new(None);
        let mut script = Script::new(1);
        for _ in 0..2 {
            script.fail(0);
            script.wait(PAUSE);
        }
        match claim {
            None => script.tip_at(0, &world, 0),
            Some(height) => script.tip(0, height, [7; 32]),
        }
        script.wait(PAUSE);
        script.fail(0);
        assert_eq!(script.state(0), expected);
    }
}

/// Returns the states that a script's sources have had.
fn reported(script: &Script) -> Vec<SourceState> {
    let state = |report: &Report| match report {
        Report::Source { state, .. } => Some(state.clone()),
        _ => None,
    };
    script.reports.iter().filter_map(state).collect()
}

#[test]
fn a_source_that_answers_again_is_read_and_its_next_outage_is_reported() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 20);
    let mut script = Script::new(1);
    let outage = |script: &mut Script| {
        for _ in 0..3 {
            script.fail(0);
            script.wait(PAUSE);
        }
        script.tip_at(0, &world, tip);
        assert_eq!(script.state(0), SourceState::Unresponsive, "a claim is no usable answer");
    };
    outage(&mut script);
    script.blocks(0, &world, &(1..=10).collect::<Vec<_>>());
    assert_eq!(script.state(0), SourceState::Connecting);
    outage(&mut script);
    script.blocks(0, &world, &(11..=20).collect::<Vec<_>>());
    let states = [
        SourceState::Unresponsive,
        SourceState::Connecting,
        SourceState::Unresponsive,
        SourceState::Following,
    ];
    assert_eq!(reported(&script), states);
}

#[test]
fn a_source_that_was_behind_is_awaited_while_it_is_read() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 10);
    let longer = grow(&mut world, tip, 10);
    let mut script = Script::new(2);
    script.following(&world, tip);
    script.show(1, &world, 5);
    assert_eq!(script.state(1), SourceState::Behind);
    assert!(script.client.is_settled());
    script.wait(30);
    script.tip_at(1, &world, longer);
    script.blocks(1, &world, &[6, 7, 8]);
    assert_eq!(script.state(1), SourceState::Connecting);
    assert!(!script.client.is_settled());
    script.blocks(1, &world, &(9..=20).collect::<Vec<_>>());
    assert_eq!(script.state(1), SourceState::Following);
}

#[test]
fn the_greatest_height_can_be_claimed() {
    let mut script = Script::new(1);
    script.tip(0, MAX_HEIGHT, [7; 32]);
    assert!(matches!(script.asked(0), Some(Query::Headers { first: 1, .. })));
}

#[test]
fn fewer_headers_than_requested_are_taken() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 4);
    let mut script = Script::new(1);
    script.tip_at(0, &world, tip);
    script.blocks(0, &world, &[1, 2]);
    assert_eq!(script.asked(0), Some(Query::Headers { first: 3, count: 2 }));
    assert_eq!(script.client.blocks(), 2);
}

#[test]
fn blocks_before_one_of_an_unknown_version_are_taken() {
    let mut world = World::new(None);
    let known = grow(&mut world, 0, 2);
    let unknown = world.child(known, 100, Fault::UnknownVersion);
    // Blocks of a future version may have another format.
    for blob in [world.blocks[unknown].blob.clone(), vec![17, 0, 0]] {
        let mut script = Script::new(1);
        script.tip_at(0, &world, unknown);
        let blobs = [1, 2].map(|block| world.blocks[block].blob.clone());
        script.headers(0, [&blobs[..], &[blob]].concat());
        let expected = SourceState::UpdateNeeded { height: 3, version: 17 };
        assert_eq!(script.state(0), expected);
        script.hash_all(&world);
        assert_eq!(script.height(), Some(2));
    }
}

#[test]
fn blocks_before_one_that_does_not_follow_are_taken() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 3);
    let other = world.child(1, 100, Fault::None);
    let mut script = Script::new(1);
    script.tip_at(0, &world, tip);
    script.blocks(0, &world, &[1, 2, other]);
    script.hash_all(&world);
    assert_eq!(script.height(), Some(2));
    // Its chain changed within the answer, so it is asked for its tip again.
    assert_eq!(script.state(0), SourceState::Connecting);
    script.wait(30);
    assert_eq!(script.asked(0), Some(Query::Tip));
}

#[test]
fn a_tip_up_to_the_first_block_is_compared_with_it() {
    let mut world = World::new(None);
    let base = grow(&mut world, 0, 10);
    let mut before = Script::new(1);
    before.following(&world, base);
    let checkpoint = before.client.checkpoint().expect("a chain");
    let begin = || {
        let start = Start::Checkpoint(checkpoint.clone());
        Script::with(Config::new(Network::Regtest, [1; 32]), start, 1)
    };
    for (height, id, expected) in [
        (9, world.blocks[9].id, SourceState::Behind),
        (9, [7; 32], SourceState::Behind),
        (10, [7; 32], SourceState::OtherNetwork),
        (10, world.blocks[base].id, SourceState::Following),
    ] {
        let mut script = begin();
        script.tip(0, height, id);
        assert_eq!(script.state(0), expected, "{height}");
    }
    // The claims of another network's source are no goal.
    let mut script = begin();
    assert_eq!(script.client.progress(), None);
    script.tip(0, 10, [7; 32]);
    script.wait(30);
    script.tip(0, 1000, [8; 32]);
    assert_eq!(script.state(0), SourceState::OtherNetwork);
    assert_eq!(script.client.progress(), None);
}

#[test]
fn a_first_start_changes_its_source_when_that_one_falls_silent() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 20);
    let anchor = |block: usize| {
        let block = &world.blocks[block];
        Anchor { height: block.height, id: block.id, work: block.work }
    };
    let start = Start::Between(anchor(0), anchor(tip));
    let mut script = Script::with(Config::new(Network::Regtest, [1; 32]), start, 2);
    assert_eq!(script.client.progress(), None);
    // The anchor itself is enough.
    script.tip_at(0, &world, tip);
    assert_eq!(script.client.progress(), Some((0, 20)));
    script.tip_at(1, &world, tip);
    let all = Some(Query::Headers { first: 1, count: 20 });
    for pause in [2, 4, 0] {
        assert_eq!((script.asked(0), script.asked(1)), (all, None));
        script.fail(0);
        script.wait(pause);
    }
    assert_eq!(script.state(0), SourceState::Unresponsive);
    assert_eq!(script.asked(1), all);
    script.blocks(1, &world, &(1..=10).collect::<Vec<_>>());
    assert_eq!(script.client.progress(), Some((10, 20)));
    script.blocks(1, &world, &(11..=20).collect::<Vec<_>>());
    assert_eq!(script.client.tip().map(|tip| tip.id), Some(world.blocks[tip].id));
    script.tip(1, 5, [7; 32]);
    assert_eq!(script.client.progress(), None, "the source is behind");
}
