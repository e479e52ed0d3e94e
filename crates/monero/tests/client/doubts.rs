//! Hashes that accuse a source, and are computed twice.

use randomx_monero::client::{Config, SourceState, Start};
use randomx_monero::{HashingBlob, Network};

use crate::script::{Script, grow};
use crate::world::{Block, Fault, World};

/// Returns a client whose sources are asked for their tips every 30 seconds.
fn script(sources: usize) -> Script {
    let config = Config { fixed_difficulty: Some(5), ..Config::new(Network::Regtest, [1; 32]) };
    Script::with(config, Start::Anchors, sources)
}

#[test]
fn one_wrong_hash_accuses_nobody() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 1);
    let mut script = script(1);
    script.show(0, &world, tip);
    script.hash(0, false);
    assert!(!script.client.is_settled());
    assert!(!script.jobs[0].fresh && script.jobs[1].fresh);
    assert_eq!(script.jobs[1].seed_hash, script.jobs[0].seed_hash);
    script.hash(1, true);
    assert_eq!((script.height(), script.state(0)), (Some(1), SourceState::Following));
    assert!(script.client.is_settled());
}

#[test]
fn hashes_that_differ_accuse_nobody_and_others_are_computed_later() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 1);
    let mut script = script(1);
    script.show(0, &world, tip);
    script.hash(0, false);
    script.hash_as(1, [0xfe; 32]);
    script.wait(29);
    assert_eq!((script.jobs.len(), script.state(0)), (2, SourceState::Following));
    script.wait(1);
    assert_eq!(script.jobs.len(), 3);
    script.hash(2, true);
    assert_eq!(script.height(), Some(1));
}

#[test]
fn a_second_hash_that_fails_is_computed_later() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 1);
    let mut script = script(1);
    script.show(0, &world, tip);
    script.hash(0, false);
    script.fail_hash(1);
    script.wait(30);
    assert_eq!(script.jobs.len(), 3);
    script.refute(2);
    assert!(script.reason(0).contains("proof of work"));
}

/// Each second hash fills a cache.
#[test]
fn one_block_of_many_is_doubted_at_a_time() {
    let mut world = World::new(Some(5));
    let forged = (0..20).fold(0, |tip, _| world.child(tip, 100, Fault::Forged));
    let tip = grow(&mut world, forged, 1);
    let mut script = script(2);
    script.show(0, &world, tip);
    script.hash(0, true);
    assert_eq!(script.jobs.len(), 21);
    (1..21).for_each(|job| script.hash(job, false));
    assert_eq!(script.jobs.iter().filter(|job| job.fresh).count(), 1);
    script.hash(21, false);
    assert!(script.reason(0).contains("proof of work"));
    let honest = grow(&mut world, 0, 1);
    script.show(1, &world, honest);
    script.hash(22, true);
    assert_eq!(script.height(), Some(1));
}

/// A sample that leaves a block out after one hash has refuted it would accept it.
#[test]
fn a_block_in_doubt_is_hashed_again_whatever_the_sample_is() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 3);
    let config = Config {
        fixed_difficulty: Some(5),
        sample: u64::MAX,
        newest: 3,
        ..Config::new(Network::Regtest, [1; 32])
    };
    let mut script = Script::with(config, Start::Anchors, 1);
    script.show(0, &world, tip);
    script.hash(0, true);
    assert_eq!(script.jobs.len(), 3);
    script.wait(10);
    script.hash(1, false);
    script.hash_as(3, [0xfe; 32]);
    script.wait(20);
    // The next batch begins ten seconds later, and the oldest block is not among its newest ones.
    let longer = grow(&mut world, tip, 9);
    script.show(0, &world, longer);
    assert_eq!(script.jobs.len(), 4);
    script.wait(10);
    let doubted = script.jobs[1].blob.clone();
    script.hash_all(&world);
    assert_eq!(script.height(), Some(12));
    assert!(script.jobs[4..].iter().any(|job| job.blob == doubted));
}

/// A source cannot escape by showing another chain before its forgery is found.
#[test]
fn a_source_that_leaves_its_forged_block_is_convicted() {
    let mut world = World::new(Some(5));
    let forged = world.child(0, 100, Fault::Forged);
    let (first, second) = (grow(&mut world, 0, 1), grow(&mut world, 0, 1));
    let mut script = script(2);
    script.show(0, &world, forged);
    // Of chains with the same work, the client hashes the one that it received first.
    script.show(1, &world, second);
    script.wait(30);
    script.show(0, &world, first);
    script.hash(0, false);
    script.wait(30);
    script.hash(1, false);
    let SourceState::Invalid { evidence, .. } = script.state(0) else {
        panic!("the source is {}", script.state(0));
    };
    let evidence = evidence.expect("the client still has the block");
    assert_eq!(evidence.sides, [[world.blocks[forged].blob.clone()]]);
    assert_eq!(script.state(1), SourceState::Following);
    script.hash_all(&world);
    assert_eq!(script.client.tip().map(|tip| tip.id), Some(world.blocks[second].id));
}

/// It leaves after the hash of the newest block, which is good, and before those of the others are requested.
#[test]
fn a_source_that_leaves_before_its_forged_block_is_hashed_is_convicted() {
    let mut world = World::new(Some(5));
    let forged = world.child(0, 100, Fault::Forged);
    let tip = grow(&mut world, forged, 1);
    let mut script = script(1);
    script.show(0, &world, tip);
    assert_eq!(script.jobs.len(), 1);
    script.wait(30);
    script.tip_at(0, &world, 0);
    script.hash(0, true);
    script.refute(1);
    let SourceState::Invalid { evidence: Some(evidence), .. } = script.state(0) else {
        panic!("the source is {}", script.state(0));
    };
    assert_eq!(evidence.sides, [[world.blocks[forged].blob.clone()]]);
}

/// The hash of the first source's block comes while the second one's is in doubt, and the first source has left.
#[test]
fn each_source_answers_for_its_forged_block() {
    let mut world = World::new(Some(5));
    let forged = [(); 2].map(|()| world.child(0, 100, Fault::Forged));
    let tip = grow(&mut world, forged[0], 2);
    let mut script = script(2);
    script.show(0, &world, tip);
    script.show(1, &world, forged[1]);
    script.hash(0, true);
    assert_eq!(script.jobs.len(), 3);
    script.wait(10);
    script.fail_hash(2);
    script.wait(20);
    script.tip_at(0, &world, 0);
    script.tip_at(1, &world, forged[1]);
    script.wait(10);
    assert_eq!(script.jobs[3].blob, world.blocks[forged[1]].blob);
    script.hash(3, false);
    script.hash(1, false);
    for (job, source) in [(4, 1), (5, 0)] {
        assert_eq!(script.state(source), SourceState::Following);
        assert!(script.jobs[job].fresh);
        script.hash(job, false);
        assert!(script.reason(source).contains("proof of work"));
    }
    assert_eq!(script.jobs.len(), 6);
}

/// The client drops the block, which no source has any more, before its hash comes.
#[test]
fn each_source_that_left_a_forged_side_answers_for_it() {
    let mut world = World::new(Some(5));
    let first = grow(&mut world, 0, 1);
    let tip = grow(&mut world, first, 1);
    let side = world.child(first, 100, Fault::Forged);
    let mut script = script(3);
    script.following(&world, tip);
    for source in [1, 2] {
        script.show(source, &world, side);
    }
    script.wait(30);
    leave(&mut script, &world, first);
    script.refute(2);
    both_are_accused(&script, &world, side);
}

/// Its only source is invalid by then, and the client has dropped the block.
#[test]
fn a_forged_side_that_accuses_nobody_is_not_hashed_again() {
    let mut world = World::new(Some(5));
    let first = grow(&mut world, 0, 1);
    let tip = grow(&mut world, first, 1);
    let [side, better] = [world.child(first, 100, Fault::Forged), grow(&mut world, tip, 1)];
    let invalid = world.child(tip, 100, Fault::OldVersion);
    let mut script = script(2);
    script.following(&world, tip);
    script.show(1, &world, side);
    let of_side = script.jobs.len() - 1;
    assert_eq!(script.jobs[of_side].blob, world.blocks[side].blob);
    script.wait(30);
    script.show(1, &world, invalid);
    assert!(script.reason(1).contains("version"));
    script.show(0, &world, better);
    let jobs = script.jobs.len();
    assert_eq!(script.jobs[jobs - 1].blob, world.blocks[better].blob);
    script.hash(of_side, false);
    assert_eq!(script.jobs.len(), jobs);
    script.hash(jobs - 1, true);
    assert_eq!(script.height(), Some(3));
}

/// The hash of another block of the batch failed.
#[test]
fn each_source_that_left_a_chain_whose_hashes_are_late_answers_for_it() {
    let mut world = World::new(Some(5));
    let first = grow(&mut world, 0, 1);
    let forged = world.child(first, 100, Fault::Forged);
    let tip = grow(&mut world, forged, 2);
    let mut script = script(3);
    script.following(&world, first);
    script.show(1, &world, tip);
    script.hash(1, true);
    assert_eq!(script.jobs[2].blob, world.blocks[forged].blob);
    script.show(2, &world, tip);
    script.wait(10);
    script.fail_hash(3);
    script.wait(20);
    // The next batch would begin ten seconds later.
    leave(&mut script, &world, first);
    script.refute(2);
    both_are_accused(&script, &world, forged);
}

/// Another block is in doubt first.
#[test]
fn each_source_that_left_a_block_which_waits_in_doubt_answers_for_it() {
    let mut world = World::new(Some(5));
    let first = grow(&mut world, 0, 1);
    let tip = grow(&mut world, first, 1);
    let [other, side] = [(); 2].map(|()| world.child(first, 100, Fault::Forged));
    let mut script = script(4);
    script.following(&world, tip);
    script.show(3, &world, other);
    script.show(1, &world, side);
    (2..4).for_each(|job| script.hash(job, false));
    script.show(2, &world, side);
    script.wait(30);
    leave(&mut script, &world, first);
    script.hash(4, false);
    assert!(script.jobs[5].fresh && script.jobs[5].blob == world.blocks[side].blob);
    script.hash(5, false);
    both_are_accused(&script, &world, side);
    assert!(script.reason(3).contains("proof of work"));
}

/// The chain has more forged blocks than the client keeps evidence of after it has dropped them.
#[test]
fn each_source_that_left_many_forged_blocks_answers_for_one_of_them() {
    let mut world = World::new(Some(5));
    let first = grow(&mut world, 0, 1);
    let forged = (0..99).fold(first, |tip, _| world.child(tip, 100, Fault::Forged));
    let tip = grow(&mut world, forged, 1);
    let mut script = script(3);
    script.following(&world, first);
    script.show(1, &world, tip);
    script.hash(1, true);
    script.show(2, &world, tip);
    script.wait(10);
    script.fail_hash(100);
    script.wait(20);
    leave(&mut script, &world, first);
    (2..100).for_each(|job| script.hash(job, false));
    assert_eq!(script.jobs.len(), 102, "one hash is computed again");
    assert!(script.jobs[101].fresh);
    script.hash(101, false);
    let refuted = HashingBlob::parse(&script.jobs[101].blob).expect("a hashing blob").id();
    both_are_accused(&script, &world, world.by_id[&refuted]);
}

/// Lets the second and the third source go back to a block. They are asked for their tips again.
fn leave(script: &mut Script, world: &World, block: usize) {
    let blocks = script.client.blocks();
    for source in [1, 2] {
        assert_eq!(script.state(source), SourceState::Following);
        script.tip_at(source, world, block);
    }
    assert!(script.client.blocks() < blocks, "the block is dropped");
}

/// They are accused of a block, with evidence.
fn both_are_accused(script: &Script, world: &World, block: usize) {
    for source in [1, 2] {
        let SourceState::Invalid { reason, evidence: Some(evidence) } = script.state(source) else {
            panic!("the source is {}", script.state(source));
        };
        assert!(reason.contains("proof of work"));
        let Block { parent, height, ref blob, .. } = world.blocks[block];
        assert_eq!(evidence.start.id, world.blocks[parent].id);
        assert_eq!(evidence.sides, [[blob.clone()]]);
        let sides = evidence.verify(None, script.now, &mut |_, blob| Some(world.hash(blob)));
        let refused = sides.expect("a complete start")[0].refused.as_ref().map(|side| side.0);
        assert_eq!(refused, Some(height));
    }
}
