//! Hashes that fail, come late, or contradict one another.

use randomx_monero::Network;
use randomx_monero::client::{Config, Report, SourceState, Start};

use crate::script::{Script, grow};
use crate::world::{Fault, World};

fn config() -> Config {
    Config::new(Network::Regtest, [1; 32])
}

#[test]
fn a_failed_hash_is_requested_again_after_a_pause() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 1);
    let mut script = Script::new(1);
    script.show(0, &world, tip);
    script.fail_hash(0);
    script.wait(29);
    assert_eq!(script.jobs.len(), 1);
    script.wait(1);
    assert_eq!(script.jobs.len(), 2);
    assert_eq!(script.jobs[0].blob, script.jobs[1].blob);
}

/// Each failure leaves a hash that may still come. As many are expected as a batch has blocks, and
/// one more.
#[test]
fn late_hashes_are_taken_and_their_number_is_bounded() {
    for (failures, is_taken) in [(1, true), (3, true), (4, false)] {
        let mut world = World::new(None);
        let tip = grow(&mut world, 0, 1);
        let mut script = Script::with(Config { batch: 2, ..config() }, Start::Anchors, 1);
        script.show(0, &world, tip);
        for job in 0..failures {
            script.fail_hash(job);
            if job + 1 < failures {
                script.wait(30);
            }
        }
        script.hash(0, true);
        assert_eq!(script.height(), Some(0), "it is accepted when the pause ends");
        script.wait(30);
        let jobs = failures + usize::from(!is_taken);
        assert_eq!(script.jobs.len(), jobs, "{failures} failures");
        assert_eq!(script.height(), Some(u64::from(is_taken)));
    }
}

/// Shows three blocks, hashes the newest one, and fails the hash of the first.
fn interrupted(script: &mut Script, world: &World, tip: usize) {
    script.show(0, world, tip);
    script.hash(0, true);
    assert_eq!(script.jobs.len(), 3, "the older blocks follow");
    script.fail_hash(1);
}

#[test]
fn a_late_hash_that_does_not_suffice_convicts_the_source() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 3);
    let fixed = Config { fixed_difficulty: Some(5), ..config() };
    let mut script = Script::with(fixed, Start::Anchors, 1);
    interrupted(&mut script, &world, tip);
    script.refute(2);
    let reason = script.reason(0);
    assert!(reason.ends_with("proof of work of the fixed difficulty 5"), "{reason}");
}

/// A processor that computes wrongly must not undo a chain that was accepted.
#[test]
fn a_late_hash_that_contradicts_an_accepted_one_changes_nothing() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 1);
    let fixed = Config { fixed_difficulty: Some(5), ..config() };
    let mut script = Script::with(fixed, Start::Anchors, 1);
    script.show(0, &world, tip);
    script.fail_hash(0);
    script.wait(30);
    script.hash(1, true);
    script.hash(0, false);
    assert_eq!((script.height(), script.state(0)), (Some(1), SourceState::Following));
    assert_eq!(script.client.blocks(), 1);
}

#[test]
fn a_late_hash_of_a_block_that_no_source_has_is_remembered() {
    let mut world = World::new(Some(5));
    let forged = grow(&mut world, 0, 3);
    let other = grow(&mut world, 0, 3);
    let fixed = Config { fixed_difficulty: Some(5), ..config() };
    let mut script = Script::with(fixed, Start::Anchors, 2);
    script.show(0, &world, forged);
    script.hash(0, true);
    script.wait(10);
    script.fail_hash(1);
    script.wait(20);
    // The next batch would begin ten seconds later.
    script.show(0, &world, other);
    assert_eq!(script.jobs.len(), 3);
    script.refute(2);
    assert!(script.reason(0).contains("proof of work"), "{}", script.reason(0));
    assert_eq!(script.stored, script.client.save());
    script.show(1, &world, forged);
    assert!(script.reason(1).contains("proof of work"), "{}", script.reason(1));
    assert_eq!(script.jobs.len(), 4, "it is not hashed again");
}

#[test]
fn a_forged_block_of_regtest_may_be_one_of_a_fixed_difficulty() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 10);
    let forged = world.child(tip, 100, Fault::Forged);
    let mut script = Script::new(1);
    script.show(0, &world, forged);
    script.hash_all(&world);
    let reason = script.reason(0);
    assert!(reason.contains("--fixed-difficulty"), "{reason}");
}

/// A source whose block is known to be forged is convicted at once.
#[test]
fn the_last_256_refused_blocks_are_remembered() {
    let mut world = World::new(Some(5));
    let forged: Vec<usize> = (0..257).map(|_| world.child(0, 100, Fault::Forged)).collect();
    let config = Config { fixed_difficulty: Some(5), ..config() };
    let mut script = Script::with(config.clone(), Start::Anchors, 16);
    let mut source = 0;
    let mut convict = |forged: usize, is_known: bool| {
        if source == 16 {
            let start = Start::Stored(script.stored.clone().expect("refused blocks"));
            script = Script::with(config.clone(), start, 16);
            source = 0;
        }
        let jobs = script.jobs.len();
        script.show(source, &world, forged);
        assert_eq!(script.jobs.len(), jobs + usize::from(!is_known));
        script.hash_all(&world);
        assert!(script.reason(source).contains("proof of work"));
        source += 1;
    };
    forged[..256].iter().for_each(|&forged| convict(forged, false));
    convict(forged[0], true);
    convict(forged[256], false);
    convict(forged[1], true);
    convict(forged[0], false);
}

#[test]
fn a_chain_that_its_source_leaves_is_not_adopted() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 3);
    let mut script = Script::new(1);
    script.show(0, &world, tip);
    script.wait(30);
    // The source goes back to its first block while the hashes are computed.
    script.tip_at(0, &world, 1);
    script.hash_all(&world);
    assert_eq!(script.height(), Some(1));
    let adopted = |report: &Report| matches!(report, Report::Tip(tip) if tip.height > 1);
    assert!(!script.reports.iter().any(adopted), "{:?}", script.reports);
}

#[test]
fn only_deep_reorganisations_are_announced_and_once() {
    for (deep, expected) in [(2, 1), (3, 0)] {
        let mut world = World::new(Some(5));
        let (ours, theirs) = (grow(&mut world, 0, 2), grow(&mut world, 0, 4));
        let config = Config { deep, batch: 1, fixed_difficulty: Some(5), ..config() };
        let mut script = Script::with(config, Start::Anchors, 2);
        script.following(&world, ours);
        script.show(1, &world, theirs);
        script.hash_all(&world);
        assert_eq!(script.height(), Some(4));
        let announced = |report: &&Report| matches!(report, Report::DeepReorganisation { .. });
        assert_eq!(script.reports.iter().filter(announced).count(), expected, "deep: {deep}");
        // The sources go back to a chain that was left.
        let longer = grow(&mut world, ours, 4);
        script.wait(30);
        script.show(1, &world, longer);
        script.hash_all(&world);
        assert_eq!(script.height(), Some(6));
        let expected = if deep == 2 { 2 } else { 1 };
        assert_eq!(script.reports.iter().filter(announced).count(), expected, "deep: {deep}");
    }
}
