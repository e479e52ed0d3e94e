//! Sides of sources that have no more work than the client's chain.

use randomx_monero::Network;
use randomx_monero::client::{Config, Report, SourceState, Start};

use crate::script::{Script, grow};
use crate::world::{Fault, World};

/// Returns a client of a chain of two blocks, and that chain's first and second block.
fn followed(world: &mut World) -> (Script, usize, usize) {
    let first = grow(world, 0, 1);
    let tip = grow(world, first, 1);
    let config = Config { fixed_difficulty: Some(5), ..Config::new(Network::Regtest, [1; 32]) };
    let mut script = Script::with(config, Start::Anchors, 2);
    script.following(world, tip);
    assert_eq!(script.jobs.len(), 2);
    (script, first, tip)
}

/// Returns the number of blocks of each side that was reported.
fn sides(script: &Script) -> Vec<usize> {
    let side = |report: &Report| match report {
        Report::Disagreement { fork, evidence, .. } => {
            assert_eq!(evidence.sides[1].len(), fork.theirs.ids.len());
            Some(fork.theirs.ids.len())
        }
        _ => None,
    };
    script.reports.iter().filter_map(side).collect()
}

#[test]
fn a_side_is_reported_once_its_newest_block_has_been_hashed() {
    let mut world = World::new(Some(5));
    let (mut script, ..) = followed(&mut world);
    let side = grow(&mut world, 0, 2);
    script.show(1, &world, side);
    assert_eq!(script.jobs[2].blob, world.blocks[side].blob);
    assert!(sides(&script).is_empty() && !script.client.is_settled());
    script.hash(2, true);
    assert_eq!((sides(&script), script.jobs.len()), (vec![2], 3));
    assert!(script.client.is_settled());
    assert_eq!(script.state(1), SourceState::Following);
}

#[test]
fn a_forged_side_accuses_its_source_and_is_not_reported() {
    for leaves in [false, true] {
        let mut world = World::new(Some(5));
        let (mut script, first, _) = followed(&mut world);
        let side = world.child(first, 100, Fault::Forged);
        script.show(1, &world, side);
        if leaves {
            script.wait(30);
            script.tip_at(1, &world, first);
        }
        script.refute(2);
        let SourceState::Invalid { evidence, .. } = script.state(1) else {
            panic!("the source is {}", script.state(1));
        };
        let evidence = evidence.expect("also of a block that the client has dropped");
        assert_eq!(evidence.sides, [[world.blocks[side].blob.clone()]]);
        assert!(sides(&script).is_empty());
        assert!(script.client.is_settled());
    }
}

/// A sample left out the newest block of the side when it was a part of the client's chain.
#[test]
fn a_forged_block_that_was_accepted_and_left_accuses_its_source() {
    let mut world = World::new(Some(5));
    let forged = world.child(0, 100, Fault::Forged);
    let (tip, honest) = (grow(&mut world, forged, 1), grow(&mut world, 0, 3));
    let config = Config {
        fixed_difficulty: Some(5),
        sample: u64::MAX,
        newest: 1,
        ..Config::new(Network::Regtest, [1; 32])
    };
    let mut script = Script::with(config, Start::Anchors, 2);
    script.following(&world, tip);
    script.wait(30);
    script.tip_at(0, &world, forged);
    script.show(1, &world, honest);
    (1..4).for_each(|job| script.hash(job, true));
    assert_eq!(script.height(), Some(3));
    assert_eq!(script.jobs[4].blob, world.blocks[forged].blob);
    script.refute(4);
    assert!(script.reason(0).contains("proof of work"));
    assert!(sides(&script).is_empty() && script.client.is_settled());
}

/// Real blocks that were left are free. Each time, the client's side could be a longer one.
#[test]
fn a_source_that_shows_a_side_again_and_again_is_reported_once() {
    let mut world = World::new(Some(5));
    let (mut script, first, mut tip) = followed(&mut world);
    let side = grow(&mut world, first, 1);
    for _ in 0..5 {
        for shown in [side, tip] {
            script.show(1, &world, shown);
            script.hash_all(&world);
            script.wait(30);
        }
        tip = grow(&mut world, tip, 1);
        script.following(&world, tip);
        script.wait(30);
    }
    assert_eq!(sides(&script), [1]);
}

#[test]
fn two_sources_of_a_side_have_one_hash() {
    let mut world = World::new(Some(5));
    let first = grow(&mut world, 0, 1);
    let (tip, side) = (grow(&mut world, first, 1), grow(&mut world, first, 1));
    let config = Config { fixed_difficulty: Some(5), ..Config::new(Network::Regtest, [1; 32]) };
    let mut script = Script::with(config, Start::Anchors, 3);
    script.following(&world, tip);
    script.show(1, &world, side);
    script.show(2, &world, side);
    assert_eq!(script.jobs.len(), 3);
    script.hash(2, true);
    assert_eq!(sides(&script), [1, 1]);
}

#[test]
fn a_hash_of_a_side_that_fails_is_requested_again_after_a_pause() {
    let mut world = World::new(Some(5));
    let (mut script, first, _) = followed(&mut world);
    let side = grow(&mut world, first, 1);
    script.show(1, &world, side);
    script.fail_hash(2);
    assert!(script.client.is_settled());
    script.wait(30);
    script.show(1, &world, side);
    assert_eq!(script.jobs.len(), 4);
    script.hash(3, true);
    assert_eq!(sides(&script), [1]);
}

/// The batch that checks it hashes its newest block first.
#[test]
fn a_side_with_more_work_is_hashed_once() {
    let mut world = World::new(Some(5));
    let (mut script, first, _) = followed(&mut world);
    let side = grow(&mut world, first, 2);
    script.show(1, &world, side);
    script.hash_all(&world);
    assert_eq!((script.height(), script.jobs.len()), (Some(3), 4));
    // The other source is still on the side that was left.
    assert_eq!(sides(&script), [1]);
}
