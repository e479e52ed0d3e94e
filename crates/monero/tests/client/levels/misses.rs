//! Blocks whose hashes miss their difficulties narrowly.

use randomx_monero::client::{Client, Report, Start};

use super::{Run, TIP, TO, config, lie, world};
use crate::sources::Mode;
use crate::world::Fault;

/// The right level is read again and again, and the block stays as it is.
#[test]
fn a_near_miss_holds_up_no_other_chain() {
    let mut world = world();
    let narrow = world.child(TIP, 120, Fault::Narrow);
    let above = world.child(narrow, 120, Fault::None);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[2].tip = above;
    for _ in 0..3 {
        run.wait(2400);
        assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
        assert_eq!(run.states(), ["unresponsive", "following", "following"]);
        let read: Vec<bool> =
            run.client.sources().map(|(source, _)| run.client.has_read(source)).collect();
        assert_eq!(read, [false, true, false]);
    }
    let statements = run.sources[1].statements + run.sources[2].statements;
    assert!((2..=3).contains(&statements), "{statements}");
}

/// Late blocks lower the difficulty. So forged ones would make a near miss cheap.
#[test]
fn forged_blocks_before_a_near_miss_accuse_their_source() {
    for later in [false, true] {
        let mut world = world();
        let mut block = TIP;
        for _ in 0..30 {
            block = world.child(block, 7000, Fault::Forged);
        }
        let mut narrow = world.child(block, 7000, Fault::Narrow);
        if later {
            narrow = world.child(narrow, 120, Fault::Narrow);
        }
        let mut run = Run::new(&world, 0, 2);
        run.now += 40 * 7000;
        run.grow(Mode::Stall);
        run.sources[2].tip = narrow;
        run.wait(400);
        assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
        assert_eq!(run.states(), ["unresponsive", "following", "invalid"]);
        assert_eq!(run.sources[1].statements + run.sources[2].statements, 0);
    }
}

/// A second lie shifts the level upwards, so that the hash of the tip misses it.
#[test]
fn a_tip_that_misses_a_higher_level_is_left() {
    let mut world = world();
    let narrow = world.child(TIP, 120, Fault::Narrow);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[1].stated = Some(lie(&world, 2));
    run.wait(400);
    run.has_the_chain();
    run.sources[2].tip = narrow;
    let reports = run.wait(400);
    assert_eq!(run.sources[1].statements, 1);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TO].id));
    let left = |report: &Report| match report {
        Report::Reorganised { fork, tip } => Some((fork.clone(), *tip)),
        _ => None,
    };
    let [(fork, tip)] = &reports.iter().filter_map(left).collect::<Vec<_>>()[..] else {
        panic!("one reorganisation: {reports:?}")
    };
    let ours: Vec<_> = world.blocks[TO + 1..=TIP].iter().map(|block| block.id).collect();
    assert_eq!((fork.id, fork.height, tip.id), (world.blocks[TO].id, TO as u64, fork.id));
    assert_eq!((&fork.ours.ids, fork.theirs.ids.len(), fork.theirs.work), (&ours, 0, 0));
    let stored = run.client.save().expect("a tip");
    Client::new(config(), Start::Stored(stored)).expect("a state that can be restored");
    // The other source states the truth.
    run.wait(4000);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
    assert_eq!(run.states(), ["unresponsive", "following", "following"]);
}

/// A good hash of the newest block proves nothing about those below, whose hashes miss the higher level.
#[test]
fn blocks_that_the_client_has_left_are_hashed_again() {
    let mut world = world();
    let lucky = world.child(TIP, 120, Fault::None);
    let above = world.child(TIP, 120, Fault::None);
    let narrow = world.child(above, 120, Fault::Narrow);
    // An unknown block's hash meets every difficulty.
    let id = world.blocks[lucky].id;
    world.by_id.remove(&id);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[1].stated = Some(lie(&world, 2));
    (run.sources[1].tip, run.sources[2].tip) = (lucky, narrow);
    run.wait(400);
    assert_eq!(run.sources[1].statements, 1);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TO].id));
    // The other source states the truth.
    run.wait(4000);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(id));
}

#[test]
fn a_block_without_its_proof_of_work_is_a_lie_at_any_level() {
    let mut world = world();
    let forged = world.child(TIP, 120, Fault::Forged);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[2].tip = forged;
    run.wait(400);
    run.has_the_chain();
    assert_eq!(run.states(), ["unresponsive", "following", "invalid"]);
    // The level is wrong by more than the anchors allow.
    let mut run = Run::new(&world, 5, 1);
    run.grow(Mode::Stall);
    run.wait(400);
    assert_eq!(run.states(), ["unresponsive", "invalid"]);
}
