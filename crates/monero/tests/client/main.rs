//! The client in random histories: sources that lie, truncate, stall, fork and change their minds,
//! and processes that end between any two actions.
//!
//! A history is a list of steps that proptest draws and shrinks; `history.rs` states what must hold.
//! The quick tests run 3,000, the full ones 100,000 (`RANDOMX_TESTS=full`). Each kind of event must
//! have occurred.

mod anchors;
mod answers;
mod clock;
mod counts;
mod damage;
mod doubts;
mod drive;
mod forks;
mod growth;
mod hashes;
mod history;
mod late;
mod levels;
mod memory;
mod providers;
mod rules;
mod sampling;
mod script;
mod searches;
mod settled;
mod sources;
mod state;
mod stored;
mod stuck;
mod waits;
mod world;

use std::thread;

use history::{History, Op};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use sources::Mode;
use world::Fault;

fn op() -> impl Strategy<Value = Op> {
    let source = 0..4_usize;
    let mode = prop::sample::select(vec![
        Mode::Honest,
        Mode::Honest,
        Mode::Honest,
        Mode::Stall,
        Mode::Truncate,
        Mode::Garbage,
        Mode::Boast,
        Mode::Equivocate,
        Mode::Shuffle,
        Mode::Flood,
    ]);
    let fault = prop::sample::select(vec![
        Fault::Forged,
        Fault::Forged,
        Fault::OldVersion,
        Fault::OldVote,
        Fault::UnknownVersion,
        Fault::Early,
    ]);
    let seconds = prop::sample::select(vec![1_u64, 5, 60, 120, 400]);
    prop_oneof![
        5 => (source.clone(), 1..8_usize, seconds.clone())
            .prop_map(|(source, blocks, seconds)| Op::Grow { source, blocks, seconds }),
        1 => (source.clone(), fault, 0..4_usize)
            .prop_map(|(source, fault, blocks)| Op::Lie { source, fault, blocks }),
        3 => (source.clone(), 1..9_usize, 1..14_usize, seconds)
            .prop_map(|(source, depth, blocks, seconds)| Op::Fork { source, depth, blocks, seconds }),
        1 => (source.clone(), 1..6_usize).prop_map(|(source, depth)| Op::Pop { source, depth }),
        3 => (source.clone(), source.clone())
            .prop_map(|(source, other)| Op::Join { source, other }),
        2 => (source, mode).prop_map(|(source, mode)| Op::Mode { source, mode }),
        8 => prop::collection::vec(0..8_usize, 1..20).prop_map(|picks| Op::Deliver { picks }),
        1 => (0..8_usize).prop_map(|pick| Op::HashFails { pick }),
        1 => (0..8_usize).prop_map(|pick| Op::HashErrs { pick }),
        4 => prop::sample::select(vec![1_u64, 31, 700]).prop_map(|seconds| Op::Tick { seconds }),
        1 => prop::sample::select(vec![700_u64, 7000]).prop_map(|seconds| Op::Sleep { seconds }),
        1 => (0..8_usize, 0..5_usize).prop_map(|(pick, executed)| Op::Crash { pick, executed }),
    ]
}

/// A side of more blocks than the client reads, whose first part has less work than its chain.
#[test]
fn a_long_side_with_less_work_is_behind() {
    let mut history = History::new(history::config(None, 1, 8, 2), 2);
    let fork = |depth, blocks, seconds| Op::Fork { source: 0, depth, blocks, seconds };
    for op in [
        Op::Grow { source: 0, blocks: 6, seconds: 60 },
        Op::Tick { seconds: 1 },
        Op::Deliver { picks: vec![0; 4] },
        fork(6, 1, 1),
        fork(1, 8, 120),
        fork(1, 10, 120),
    ] {
        history.run(&op);
    }
    history.finish();
}

/// A source that the client follows, and whose side then grows longer than what the client reads of it.
#[test]
fn a_side_that_grows_too_long_is_behind() {
    let mut history = History::new(history::config(None, 1, 9, 2), 1);
    let fork = |depth, blocks, seconds| Op::Fork { source: 0, depth, blocks, seconds };
    let grow = |blocks, seconds| Op::Grow { source: 0, blocks, seconds };
    for op in [
        fork(1, 3, 5),
        Op::Tick { seconds: 1 },
        Op::Mode { source: 0, mode: sources::Mode::Equivocate },
        fork(2, 9, 120),
        grow(2, 120),
        grow(6, 1),
        grow(1, 1),
        Op::HashFails { pick: 0 },
        Op::Deliver { picks: vec![0, 0, 2] },
        grow(2, 1),
    ] {
        history.run(&op);
    }
    history.finish();
}

/// A source with a side that is too long to be read, which then joins another source and extends its chain.
#[test]
fn a_source_that_leaves_a_long_side_is_followed() {
    let mut history = History::new(history::config(None, 1, 8, 14), 2);
    let fork = |source, depth, blocks, seconds| Op::Fork { source, depth, blocks, seconds };
    let grow = |source, blocks, seconds| Op::Grow { source, blocks, seconds };
    for op in [
        grow(0, 11, 1),
        fork(1, 1, 5, 5),
        grow(1, 5, 60),
        fork(0, 2, 1, 1),
        grow(1, 6, 1),
        Op::Tick { seconds: 1 },
        Op::Deliver { picks: vec![1, 0, 6] },
        Op::HashFails { pick: 0 },
        Op::Join { source: 1, other: 0 },
        grow(1, 1, 1),
        Op::Deliver { picks: vec![0] },
        grow(1, 6, 1),
    ] {
        history.run(&op);
    }
    history.finish();
}

/// Runs random histories, and panics if one ends wrong.
fn run_histories(cases: u32, rng_seed: RngSeed) {
    let settings = (
        prop::sample::select(vec![None, None, Some(5)]),
        prop::sample::select(vec![1_u64, 1, 3]),
        8..40_u64,
        2..20_usize,
        1..5_usize,
    );
    let histories = (settings, prop::collection::vec(op(), 5..40));
    let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&histories, |((fixed, sample, kept, batch, sources), ops)| {
        let mut history = History::new(history::config(fixed, sample, kept, batch), sources);
        ops.iter().for_each(|op| history.run(op));
        history.finish();
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn every_history_ends_with_the_most_work_and_no_lie() {
    let full = std::env::var("RANDOMX_TESTS").is_ok_and(|tier| tier == "full");
    let cases = if full { 100_000 } else { 3_000 };
    thread::scope(|scope| {
        for seed in [16, 17] {
            // The quick tests run the same histories each time, the full ones new ones.
            let seed = if full { RngSeed::Random } else { RngSeed::Fixed(seed) };
            scope.spawn(move || run_histories(cases / 2, seed));
        }
    });
    let counts = counts::counts();
    println!("{cases} histories: {counts:?}");
    for event in [
        "behind",
        "boast",
        "crash",
        "deep reorganisation",
        "disagreement",
        "equivocate",
        "flood",
        "following",
        "forgery found",
        "garbage",
        "hash failed",
        "invalid",
        "other network",
        "pop",
        "reorganisation",
        "restart compared",
        "shuffle",
        "stale",
        "stall",
        "store",
        "tip",
        "truncate",
        "unresponsive",
        "update needed",
        "wrong hash",
    ] {
        let least = u64::from(cases) / 100;
        let happened = counts.get(event).copied().unwrap_or(0);
        assert!(happened >= least, "{event}: {happened} times in {cases} histories; {counts:?}");
    }
}
