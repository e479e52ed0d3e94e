//! The lanes of a VM, with the engine that runs them.

use super::hash_state::HashState;
use crate::aes::Aes;
use crate::engine::Engine;
use crate::memory::Pages;
use crate::params::{HASH_SIZE, MAX_LANES, PROGRAM_COUNT, PROGRAM_ITERATIONS, Version};
use crate::scratchpad::{Scratchpad, Scratchpads};
use crate::superscalar::Item;
use crate::vm::{Observer, Phase, Source};

/// Hashes inputs in lockstep; what is behind it is one engine.
pub(super) trait Hasher: Send {
    /// The hashes of `inputs` into `outputs`, a slice of the same length.
    fn hash_many(&mut self, job: Job<'_>, observer: &mut dyn Observer);

    /// The kind of pages that the scratchpads were given.
    fn pages(&self) -> Pages;
}

/// What to hash, and with what.
pub(super) struct Job<'a> {
    pub(super) source: &'a Source,
    pub(super) version: Version,
    pub(super) inputs: &'a [&'a [u8]],
    pub(super) outputs: &'a mut [[u8; HASH_SIZE]],
}

pub(super) struct Lanes<E: Engine> {
    engine: E,
    aes: Aes,
    states: Vec<HashState<E>>,
    scratchpads: Scratchpads,
}

impl<E: Engine> Lanes<E> {
    /// A lane for each of `codes`.
    pub(super) fn new(engine: E, codes: Vec<E::Code>, scratchpads: Scratchpads, aes: Aes) -> Self {
        let states = codes.into_iter().map(|code| HashState::new(code, aes)).collect();
        Lanes { engine, aes, states, scratchpads }
    }
}

impl<E> Hasher for Lanes<E>
where
    E: Engine + Send,
    E::Code: Send,
{
    fn hash_many(&mut self, job: Job<'_>, observer: &mut dyn Observer) {
        let Lanes { engine, aes, states, scratchpads } = self;
        let Job { source, version, inputs, outputs } = job;
        let count = states.len();
        let scratchpads = scratchpads.as_mut_slice();
        for (inputs, outputs) in inputs.chunks(count).zip(outputs.chunks_mut(count)) {
            let lanes = &mut states[..inputs.len()];
            let scratchpads = &mut scratchpads[..inputs.len()];

            observer.enter(Phase::Fill);
            for ((state, scratchpad), input) in lanes.iter_mut().zip(&mut *scratchpads).zip(inputs)
            {
                state.begin_hash(input, scratchpad, *aes);
            }
            for program in 0..PROGRAM_COUNT {
                for state in &mut *lanes {
                    if program > 0 {
                        state.reseed();
                    }
                    state.begin_program(engine, version, observer);
                }
                run_loop(engine, source, version, lanes, scratchpads, observer);
            }
            observer.enter(Phase::Finish);
            for ((state, scratchpad), output) in lanes.iter().zip(scratchpads).zip(outputs) {
                *output = state.finish_hash(scratchpad, *aes);
            }
        }
        observer.leave();
    }

    fn pages(&self) -> Pages {
        self.scratchpads.pages()
    }
}

/// All iterations of the lanes' programs (specification 4.6.2).
fn run_loop<E: Engine>(
    engine: &E,
    source: &Source,
    version: Version,
    lanes: &mut [HashState<E>],
    scratchpads: &mut [Scratchpad],
    observer: &mut dyn Observer,
) {
    match source {
        Source::Light(items) => {
            let compute = |numbers: &[u32], output: &mut [Item]| items.compute(numbers, output);
            run_in_lockstep(engine, compute, version, lanes, scratchpads, observer);
        }
        Source::Fast(dataset) => {
            observer.enter(Phase::Execute);
            for (HashState { lane, code, .. }, scratchpad) in lanes.iter_mut().zip(scratchpads) {
                engine.run(code, lane, scratchpad, dataset.items());
            }
        }
    }
}

/// The loop without a dataset.
///
/// Items are computed as far ahead as their numbers are known, so that one lane alone makes
/// batches too: what an item costs is mostly waiting and dispatch, which a batch shares.
fn run_in_lockstep<E: Engine>(
    engine: &E,
    compute: impl Fn(&[u32], &mut [Item]),
    version: Version,
    lanes: &mut [HashState<E>],
    scratchpads: &mut [Scratchpad],
    observer: &mut dyn Observer,
) {
    let mut numbers = [0; MAX_LANES * 3];
    let mut items: [Item; MAX_LANES * 3] = [[0; 8]; MAX_LANES * 3];
    let mut advance = |lanes: &mut [HashState<E>], items: &[Item], known: usize, more: bool| {
        for (lane, (state, scratchpad)) in lanes.iter_mut().zip(&mut *scratchpads).enumerate() {
            let items = &items[lane * known..][..known];
            engine.advance(&state.code, &mut state.lane, scratchpad, items, more);
        }
    };

    observer.enter(Phase::Execute);
    advance(lanes, &[], 0, true);
    let mut left = PROGRAM_ITERATIONS;
    while left > 0 {
        let known = version.known_items().min(left);
        let batch = lanes.len() * known;
        for (numbers, state) in numbers.chunks_mut(known).zip(&*lanes) {
            numbers.copy_from_slice(&state.lane.items()[..known]);
        }
        observer.enter(Phase::Items);
        compute(&numbers[..batch], &mut items[..batch]);
        observer.enter(Phase::Execute);
        left -= known;
        advance(lanes, &items, known, left > 0);
    }
}
