//! Histories of the light client and its sources, with the properties of its own tests.

use crate::Target;
use crate::history::{History, Op, config};
use crate::input::Input;
use crate::sources::Mode;
use crate::world::Fault;

pub(super) const HISTORIES: Target =
    Target { name: "histories", longest: 256, quick: 150, run, seeds };

const MODES: [Mode; 10] = [
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
];

const FAULTS: [Fault; 5] =
    [Fault::Forged, Fault::OldVersion, Fault::OldVote, Fault::UnknownVersion, Fault::Early];

/// The most steps, since long histories take long.
const MOST: usize = 40;

fn run(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let fixed = input.pick(&[None, None, Some(5)]);
    let sample = input.pick(&[1, 1, 3]);
    let (kept, batch) = (8 + input.below(32) as u64, 2 + input.below(18));
    let mut history = History::new(config(fixed, sample, kept, batch), 1 + input.below(4));
    for _ in 0..MOST {
        if input.is_empty() {
            break;
        }
        history.run(&op(&mut input));
    }
    history.finish();
    // No input is refused.
    true
}

fn seeds() -> Vec<Vec<u8>> {
    let plain = [0, 0, 0, 0, 1];
    let with = |ops: &[u8]| [&plain[..], ops].concat();
    vec![
        with(&[0, 0, 5, 2, 8, 1, 6, 1, 2, 3, 4, 5, 6]),
        with(&[0, 0, 7, 3, 2, 1, 4, 9, 1, 6, 19, 0, 1, 2, 3, 4, 5, 9, 1, 2]),
        with(&[1, 0, 0, 2, 5, 1, 5, 8, 1, 6, 9, 1, 1, 1, 1, 7, 0, 9, 2, 3]),
    ]
}

fn op(input: &mut Input<'_>) -> Op {
    let seconds = |input: &mut Input<'_>| input.pick(&[1, 5, 60, 120, 400]);
    match input.below(10) {
        0 => {
            let (source, blocks) = (input.below(4), 1 + input.below(7));
            Op::Grow { source, blocks, seconds: seconds(input) }
        }
        1 => Op::Lie { source: input.below(4), fault: input.pick(&FAULTS), blocks: input.below(4) },
        2 => {
            let (source, depth, blocks) = (input.below(4), 1 + input.below(8), 1 + input.below(13));
            Op::Fork { source, depth, blocks, seconds: seconds(input) }
        }
        3 => Op::Pop { source: input.below(4), depth: 1 + input.below(5) },
        4 => Op::Join { source: input.below(4), other: input.below(4) },
        5 => Op::Mode { source: input.below(4), mode: input.pick(&MODES) },
        6 => Op::Deliver { picks: (0..=input.below(19)).map(|_| input.below(8)).collect() },
        7 => match input.below(16) {
            pick @ ..8 => Op::HashFails { pick },
            pick => Op::HashErrs { pick: pick - 8 },
        },
        8 => match input.pick(&[1, 31, 700, 7000]) {
            seconds @ 7000 => Op::Sleep { seconds },
            seconds => Op::Tick { seconds },
        },
        _ => Op::Crash { pick: input.below(8), executed: input.below(5) },
    }
}
