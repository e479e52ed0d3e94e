//! The lanes of a VM, with the engine that runs them.

use super::hash_state::{HashState, Primitives};
use super::key::Source;
use super::plan::Plan;
use crate::cpu::Cpu;
use crate::engine::{Engine, EngineKind, ItemPrefetches, LaneContext};
use crate::environment::DefaultEnvironment;
use crate::error::VmError;
use crate::jit::JitError;
use crate::memory::Pages;
use crate::params::{
    HASH_SIZE, MAX_LANES, PROGRAM_COUNT, PROGRAM_ITERATIONS, SCRATCHPAD_L3, Version,
};
use crate::scratchpad::Scratchpads;
use crate::superscalar::Item;
use crate::vm::{Observer, Phase};

/// Lanes of any engine.
pub(super) trait Hasher: Send {
    /// Returns the kind of engine.
    fn engine(&self) -> EngineKind;

    /// Hashes the job's inputs by its plan.
    fn hash_many(&mut self, job: Job<'_>, observer: &mut dyn Observer);

    /// Begins the hash of `input` in the first lane.
    fn begin(&mut self, input: &[u8]);

    /// Finishes the hash that has begun, and begins that of `next`.
    fn finish(&mut self, source: &Source, version: Version, next: Option<&[u8]>)
    -> [u8; HASH_SIZE];

    /// Allocates lanes until there are `lanes`, and returns how many of these there are: fewer if
    /// memory runs out, or if scratchpads on reserved huge pages would have to move to others.
    fn reserve(&mut self, lanes: usize) -> usize;

    /// Releases all lanes but the first `lanes`, at least one, if the system can release a part of their memory.
    fn release(&mut self, lanes: usize);

    /// Returns the kind of pages that hold the scratchpads.
    fn pages(&self) -> Pages;
}

/// Inputs and how to hash them.
pub(super) struct Job<'a> {
    pub(super) source: &'a Source,
    pub(super) version: Version,
    pub(super) plan: Plan,
    pub(super) inputs: &'a [&'a [u8]],
    /// As many hashes as inputs.
    pub(super) outputs: &'a mut [[u8; HASH_SIZE]],
}

pub(super) struct Lanes<E: Engine> {
    engine: E,
    new_code: fn(&E) -> Result<E::Code, JitError>,
    primitives: Primitives,
    states: Vec<HashState<E>>,
    scratchpads: Scratchpads,
}

impl<E: Engine> Lanes<E> {
    /// Allocates `lanes` lanes; `new_code` allocates the code of one.
    pub(super) fn new(
        engine: E,
        new_code: fn(&E) -> Result<E::Code, JitError>,
        lanes: usize,
        cpu: Cpu,
    ) -> Result<Lanes<E>, VmError> {
        let primitives = Primitives::new(cpu);
        let state = |_| Ok(HashState::new(new_code(&engine)?, primitives));
        let states = (0..lanes).map(state).collect::<Result<_, VmError>>()?;
        let scratchpads = Scratchpads::new(lanes)?;
        Ok(Lanes { engine, new_code, primitives, states, scratchpads })
    }

    fn grow(&mut self, lanes: usize) -> Result<(), VmError> {
        let mut scratchpads = Scratchpads::new(lanes)?;
        // Reserved pages are faster than others, and a pool has not checked that other memory is left.
        if self.scratchpads.pages() == Pages::HugeTlb && scratchpads.pages() != Pages::HugeTlb {
            return Err(VmError::OutOfMemory { bytes: lanes * SCRATCHPAD_L3 });
        }
        while self.states.len() < lanes {
            let code = (self.new_code)(&self.engine)?;
            self.states.push(HashState::new(code, self.primitives));
        }
        // The first lane may hold a hash that has begun.
        let first = self.scratchpads.as_mut_slice()[0].blocks();
        scratchpads.as_mut_slice()[0].blocks_mut().copy_from_slice(first);
        self.scratchpads = scratchpads;
        Ok(())
    }

    /// Runs all programs of the hashes that have begun in the first lanes, as many as the plan has. The caller has
    /// entered the default environment.
    // Two callers; one copy keeps the download small.
    #[inline(never)]
    fn run_programs(
        &mut self,
        plan: Plan,
        source: &Source,
        version: Version,
        observer: &mut dyn Observer,
    ) {
        let Lanes { engine, states, scratchpads, .. } = self;
        let states = &mut states[..plan.lanes];
        for program in 0..PROGRAM_COUNT {
            for state in &mut *states {
                if program > 0 {
                    state.reseed();
                }
                state.begin_program(engine, version, observer);
            }
            let mut contexts: Vec<LaneContext<'_, E::Code>> = states
                .iter_mut()
                .zip(scratchpads.as_mut_slice())
                .map(|(HashState { code, lane, .. }, scratchpad)| LaneContext {
                    code,
                    lane,
                    scratchpad,
                })
                .collect();
            run_loop(engine, source, version, plan.prefetches, &mut contexts, observer);
        }
    }

    /// See [`Hasher::begin`].
    pub(super) fn begin(&mut self, input: &[u8]) {
        self.states[0].begin_hash(input, &mut self.scratchpads.as_mut_slice()[0]);
    }

    /// See [`Hasher::finish`].
    pub(super) fn finish(
        &mut self,
        source: &Source,
        version: Version,
        next: Option<&[u8]>,
    ) -> [u8; HASH_SIZE] {
        let _environment = DefaultEnvironment::enter();
        self.run_programs(Plan::ALONE, source, version, &mut ());
        let state = &mut self.states[0];
        let scratchpad = &mut self.scratchpads.as_mut_slice()[0];
        match next {
            Some(next) => state.finish_and_begin(next, scratchpad),
            None => state.finish_hash(scratchpad),
        }
    }

    /// Returns the scratchpads as the last hash left them.
    #[cfg(feature = "internals")]
    pub(super) fn into_scratchpads(self) -> Scratchpads {
        self.scratchpads
    }
}

impl<E> Hasher for Lanes<E>
where
    E: Engine + Send,
    E::Code: Send,
{
    fn engine(&self) -> EngineKind {
        E::KIND
    }

    fn hash_many(&mut self, job: Job<'_>, observer: &mut dyn Observer) {
        // The observer's arithmetic runs in it too.
        let _environment = DefaultEnvironment::enter();
        let count = job.plan.lanes;
        observer.enter(Phase::Fill);
        let lanes = self.states.iter_mut().zip(self.scratchpads.as_mut_slice()).take(count);
        for ((state, scratchpad), input) in lanes.zip(job.inputs) {
            state.begin_hash(input, scratchpad);
        }
        for start in (0..job.inputs.len()).step_by(count) {
            let (group, rest) = job.inputs[start..].split_at(count.min(job.inputs.len() - start));
            self.run_programs(job.plan.with(group.len()), job.source, job.version, observer);
            observer.enter(Phase::Finish);
            let lanes = self.states.iter_mut().zip(self.scratchpads.as_mut_slice());
            let outputs = job.outputs[start..].iter_mut().take(group.len());
            for (lane, ((state, scratchpad), output)) in lanes.zip(outputs).enumerate() {
                *output = match rest.get(lane) {
                    Some(next) => state.finish_and_begin(next, scratchpad),
                    None => state.finish_hash(scratchpad),
                };
            }
        }
        observer.leave();
    }

    fn begin(&mut self, input: &[u8]) {
        Lanes::begin(self, input);
    }

    fn finish(
        &mut self,
        source: &Source,
        version: Version,
        next: Option<&[u8]>,
    ) -> [u8; HASH_SIZE] {
        Lanes::finish(self, source, version, next)
    }

    fn reserve(&mut self, lanes: usize) -> usize {
        let present = self.scratchpads.as_mut_slice().len();
        if lanes > present && self.grow(lanes).is_err() { present } else { lanes }
    }

    fn release(&mut self, lanes: usize) {
        if self.scratchpads.shrink(lanes) {
            self.states.truncate(lanes);
        }
    }

    fn pages(&self) -> Pages {
        self.scratchpads.pages()
    }
}

/// Runs all iterations of the lanes' programs (specification 4.6.2).
fn run_loop<E: Engine>(
    engine: &E,
    source: &Source,
    version: Version,
    prefetches: ItemPrefetches,
    lanes: &mut [LaneContext<'_, E::Code>],
    observer: &mut dyn Observer,
) {
    observer.enter(Phase::Execute);
    match source {
        Source::Light(items) => {
            let compute = |numbers: &[u32], output: &mut [Item]| items.compute(numbers, output);
            run_without_dataset(engine, compute, version, lanes, observer);
        }
        Source::Fast(dataset) => engine.run(lanes, dataset.items(), prefetches),
    }
}

/// Runs the loop in light mode, and computes items as soon as their numbers are known.
///
/// Even a single lane makes batches this way. An item's cost is mostly waiting and dispatch, which
/// the items of a batch share.
fn run_without_dataset<E: Engine>(
    engine: &E,
    compute: impl Fn(&[u32], &mut [Item]),
    version: Version,
    lanes: &mut [LaneContext<'_, E::Code>],
    observer: &mut dyn Observer,
) {
    let mut numbers = [0; MAX_LANES * 3];
    let mut items: [Item; MAX_LANES * 3] = [[0; 8]; MAX_LANES * 3];
    let count = lanes.len();

    engine.begin(lanes);
    let mut left = PROGRAM_ITERATIONS;
    while left > 0 {
        let known = version.known_items().min(left);
        for (index, context) in lanes.iter().enumerate() {
            for (ahead, number) in context.lane.items()[..known].iter().enumerate() {
                numbers[ahead * count + index] = *number;
            }
        }
        let items = &mut items[..known * count];
        observer.enter(Phase::Items);
        compute(&numbers[..known * count], items);
        observer.enter(Phase::Execute);
        engine.end(lanes, &items[..count]);
        for items in items[count..].chunks(count) {
            engine.iterate(lanes, items);
        }
        left -= known;
        if left > 0 {
            engine.begin(lanes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::interpreter::{Interpreter, Steps};
    use crate::items::ItemSource;

    #[derive(Debug)]
    struct Zeros;

    impl ItemSource for Zeros {
        fn compute(&self, _: &[u32], items: &mut [Item]) {
            items.fill([0; 8]);
        }
    }

    #[test]
    fn released_lanes_are_gone_and_a_hash_that_has_begun_stays() {
        let (cpu, source) = (Cpu::detect(), Source::Light(Arc::new(Zeros)));
        let mut lanes =
            Lanes::new(Interpreter::new(cpu), |_| Ok(Steps::default()), 2, cpu).expect("4 MiB");
        lanes.begin(b"an input");
        let expected = lanes.finish(&source, Version::V2, None);

        lanes.begin(b"an input");
        assert_eq!(lanes.reserve(4), 4);
        let can_release = cfg!(any(target_os = "linux", windows));
        let mut counts = Vec::new();
        for kept in [4, 5, 1] {
            lanes.release(kept);
            counts.push((lanes.states.len(), lanes.scratchpads.as_mut_slice().len()));
        }
        let last = if can_release { 1 } else { 4 };
        assert_eq!(counts, [(4, 4), (4, 4), (last, last)]);
        assert_eq!(lanes.finish(&source, Version::V2, None), expected);
        assert_eq!(lanes.reserve(6), 6);
        assert_eq!((lanes.states.len(), lanes.scratchpads.as_mut_slice().len()), (6, 6));
    }
}
