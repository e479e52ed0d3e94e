//! This implementation as a contestant.

use std::{
    hint::black_box,
    ops::ControlFlow,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use randomx::{
    Cache, CacheBuilder, Dataset, DatasetBuilder, DatasetError, EngineKind, KeyMemory, Version, Vm,
    VmOptions,
    aes::{Aes, AesGenerator1R, AesGenerator4R, aes_hash_1r},
    argon2d::{Block, FILL_BLOCKS, Fill},
    blake_generator::BlakeGenerator,
    blake2b::Blake2b,
    cpu::Cpu,
    engine::{Engine, ItemPrefetches},
    interpreter::{Interpreter, Steps},
    items::Items,
    memory::{Memory, Pages},
    params::{CACHE_SIZE, ITEM_SIZE, SCRATCHPAD_L3},
    program::Program,
    rounding::RoundingMode,
    superscalar,
};

use randomx::{EngineChoice, jit::native};

use super::{
    hashing::{self, Hasher, Input},
    measure::{Contestant, Slot, Turn, repeat, timed, try_repeat},
    subject::{Hashing, MEGABYTE, Subject},
};
use crate::{
    args::BenchArgs,
    backend::{self, Hash},
    error::Error,
    host::{Host, VmLanes},
    mode::Mode,
};

/// The key of all caches.
pub(crate) const KEY: &[u8] = b"randomx bench";

/// The size of what AesGenerator4R generates for a program of v1, in blocks of 64 bytes.
pub(crate) const PROGRAM_BLOCKS: usize = 34;

/// Creates this implementation's contestants, and the cache and dataset that they need.
pub(crate) struct Native<'a> {
    args: &'a BenchArgs,
    cpu: Cpu,
    cache: Option<Arc<Cache>>,
    dataset: Option<Arc<Dataset>>,
    /// The pages of the datasets that the row `Dataset` fills.
    filled: Arc<OnceLock<Pages>>,
    engine: Option<EngineKind>,
    lanes: Vec<VmLanes>,
}

impl<'a> Native<'a> {
    pub(crate) fn new(args: &'a BenchArgs) -> Native<'a> {
        let cpu = args.work.vm_options().cpu;
        let filled = Arc::default();
        Native { args, cpu, cache: None, dataset: None, filled, engine: None, lanes: Vec::new() }
    }

    /// Returns the contestant of a row.
    pub(crate) fn contestant(&mut self, subject: &Subject) -> Result<Contestant<'static>, Error> {
        let aes = Aes::new(self.cpu);
        Ok(match subject {
            Subject::Hash(how) | Subject::Trace(how) => {
                hashing::contestant(self.vms(how)?, self.batch(how))
            }
            Subject::Blake2b => blake2b(self.cpu),
            Subject::Blake2bLong => blake2b_long(self.cpu),
            Subject::Aes1R => aes_1r(aes)?,
            Subject::Aes4R => aes_4r(aes),
            Subject::AesHash1R => aes_hash(aes)?,
            Subject::Superscalar => superscalar(),
            Subject::Compile(version) => compile(*version, self.args.work.vm_options())?,
            Subject::Argon2d => argon2d(self.cpu)?,
            Subject::Cache => cache(self.cpu),
            Subject::Dataset { threads } => {
                dataset(self.items()?, *threads, Arc::clone(&self.filled))
            }
            Subject::CacheAndDataset { threads } => {
                cache_and_dataset(*threads, self.args.work.vm_options())
            }
        })
    }

    /// Returns a VM for each thread, with the lanes that are fastest while all of them hash.
    fn vms(&mut self, how: &Hashing) -> Result<Vec<Vm>, Error> {
        let mut vms = (0..how.threads).map(|_| self.vm(how)).collect::<Result<Vec<_>, _>>()?;
        hashing::together(&mut vms, Vm::measure_lanes)?;
        // All VMs have ended their trials, so another call returns the final number of lanes.
        if let Some(vm) = vms.last_mut().filter(|_| !how.single) {
            let Hashing { mode, version, threads, .. } = *how;
            let lanes = Some(vm.measure_lanes());
            let pairs = mode == Mode::Fast && vm.item_prefetches() == ItemPrefetches::Pairs;
            self.lanes.push(VmLanes { mode, version, threads, lanes, pairs });
        }
        Ok(vms)
    }

    /// Returns a VM of one thread.
    pub(crate) fn vm(&mut self, how: &Hashing) -> Result<Vm, Error> {
        let key: KeyMemory = match how.mode {
            Mode::Light => self.cache()?.into(),
            Mode::Fast => self.dataset()?.into(),
        };
        let options = self.args.work.vm_options();
        let lanes = if how.single { Some(1) } else { options.lanes };
        let options = VmOptions { lanes, ..options };
        let vm = Vm::with_options(key, how.version, options).map_err(Error::Vm)?;
        self.engine = Some(vm.engine());
        Ok(vm)
    }

    /// Adds the engine, the lanes and the pages in use to the description of the computer.
    pub(crate) fn describe(&self, host: &mut Host) {
        host.engine = self.engine.map(|engine| engine.to_string());
        host.set_lanes(&self.lanes);
        host.cache = self.cache.as_ref().map(|cache| cache.pages().to_string());
        let pages = self.dataset.as_ref().map(|dataset| dataset.pages());
        let pages = pages.or(self.filled.get().copied());
        host.dataset = pages.map(|pages| pages.to_string());
    }

    /// Returns the number of inputs that a VM is given at once.
    pub(crate) fn batch(&self, how: &Hashing) -> usize {
        how.batch(self.args.work.lanes())
    }

    /// Returns the dataset, computed on all threads.
    pub(crate) fn dataset(&mut self) -> Result<Arc<Dataset>, Error> {
        let dataset = match self.dataset.take() {
            Some(dataset) => dataset,
            None => {
                // Allocates first, so that running out of memory shows early.
                let builder = DatasetBuilder::new(self.args.work.threads())?;
                let items = self.items()?;
                Arc::new(builder.fill(&items, |_| ControlFlow::Continue(()))?)
            }
        };
        Ok(Arc::clone(self.dataset.insert(dataset)))
    }

    fn items(&mut self) -> Result<Items, Error> {
        backend::items(self.cache()?, self.args.work.vm_options())
    }

    fn cache(&mut self) -> Result<Arc<Cache>, Error> {
        let cache = match self.cache.take() {
            Some(cache) => cache,
            None => Arc::new(CacheBuilder::new(KEY, self.cpu)?.finish()),
        };
        Ok(Arc::clone(self.cache.insert(cache)))
    }
}

impl Hasher for Vm {
    fn hashes(&mut self, inputs: &[Input]) -> Vec<Hash> {
        self.hash_many(inputs)
    }
}

fn blake2b(cpu: Cpu) -> Contestant<'static> {
    let (hash, mut state) = (Blake2b::new(cpu), [0; 64]);
    repeat(1.0, move || state = hash.hash512(&[black_box(&state)]))
}

fn blake2b_long(cpu: Cpu) -> Contestant<'static> {
    let (hash, mut state) = (Blake2b::new(cpu), [0; 72]);
    repeat(1.0, move || {
        let output = hash.hash_long(black_box(&state));
        state.copy_from_slice(&output[..72]);
    })
}

fn aes_1r(aes: Aes) -> Result<Contestant<'static>, Error> {
    let mut scratchpad = memory(SCRATCHPAD_L3)?;
    Ok(repeat(SCRATCHPAD_L3 as f64 / MEGABYTE, move || {
        let scratchpad = black_box(scratchpad.as_mut_slice());
        AesGenerator1R::new(&[1; 64], aes).fill(scratchpad);
    }))
}

fn aes_4r(aes: Aes) -> Contestant<'static> {
    let mut program = [[0; 64]; PROGRAM_BLOCKS];
    repeat((64 * PROGRAM_BLOCKS) as f64 / MEGABYTE, move || {
        AesGenerator4R::new(&[1; 64], aes).fill(black_box(&mut program));
    })
}

fn aes_hash(aes: Aes) -> Result<Contestant<'static>, Error> {
    let scratchpad = scratchpad()?;
    Ok(repeat(1.0, move || {
        black_box(aes_hash_1r(black_box(scratchpad.as_slice()), aes));
    }))
}

fn superscalar() -> Contestant<'static> {
    let mut random = BlakeGenerator::new(KEY);
    repeat(1.0, move || drop(black_box(superscalar::generate(&mut random))))
}

/// The number of different programs that are compiled.
pub(crate) const PROGRAMS: usize = 64;

/// Returns the generator of the programs.
pub(crate) fn program_generator() -> AesGenerator4R {
    AesGenerator4R::new(&[7; 64], Aes::new(Cpu::detect()))
}

fn compile(version: Version, options: VmOptions) -> Result<Contestant<'static>, Error> {
    if options.engine != EngineChoice::Interpreter {
        let jit = native::jit(options.cpu, options.code_pages);
        match jit.and_then(|jit| Ok((jit, jit.code()?))) {
            Ok((jit, code)) => return Ok(load(jit, code, version)),
            Err(problem) if options.engine == EngineChoice::Jit => {
                return Err(Error::Vm(problem.into()));
            }
            Err(_) => {}
        }
    }
    Ok(load(Interpreter::new(options.cpu), Steps::default(), version))
}

fn load<E: Engine + 'static>(engine: E, mut code: E::Code, version: Version) -> Contestant<'static>
where
    E::Code: 'static,
{
    let mut generator = program_generator();
    let programs: Vec<Program> =
        (0..PROGRAMS).map(|_| Program::generate(&mut generator, version)).collect();
    let mut next = 0;
    repeat(1.0, move || {
        engine.load(&programs[next], RoundingMode::Nearest, &mut code);
        next = (next + 1) % PROGRAMS;
    })
}

fn argon2d(cpu: Cpu) -> Result<Contestant<'static>, Error> {
    let mut blocks = memory(CACHE_SIZE)?;
    Ok(repeat(CACHE_SIZE as f64 / MEGABYTE, move || {
        let blocks = blocks.as_mut_slice::<Block>();
        Fill::new(KEY, cpu).advance(blocks, FILL_BLOCKS);
    }))
}

fn cache(cpu: Cpu) -> Contestant<'static> {
    try_repeat(1.0, move || {
        black_box(CacheBuilder::new(KEY, cpu)?.finish());
        Ok(())
    })
}

/// Fills its own dataset until the turn is over.
fn dataset(items: Items, threads: usize, pages: Arc<OnceLock<Pages>>) -> Contestant<'static> {
    Box::new(move |slot: Slot<'_>| {
        // The clock starts after the allocation, which touches reserved huge pages.
        let builder = DatasetBuilder::new(threads)?;
        pages.get_or_init(|| builder.pages());
        let start = Instant::now();
        let (mut filled, mut elapsed) = (0, Duration::ZERO);
        let result = builder.fill(&items, |done| {
            (filled, elapsed) = (done, start.elapsed());
            if slot.is_over(elapsed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match result {
            Ok(_) | Err(DatasetError::Cancelled) => {}
            Err(problem) => return Err(problem.into()),
        }
        let megabytes = (filled * ITEM_SIZE) as f64 / MEGABYTE;
        Ok(Turn { rate: megabytes / elapsed.as_secs_f64(), time: elapsed })
    })
}

/// Makes a cache and its dataset in each turn.
fn cache_and_dataset(threads: usize, options: VmOptions) -> Contestant<'static> {
    Box::new(move |_: Slot<'_>| {
        // Memory is allocated first, as in XMRig's measurement.
        let cache = CacheBuilder::new(KEY, options.cpu)?;
        let dataset = DatasetBuilder::new(threads)?;
        timed(|| {
            let items = backend::items(Arc::new(cache.finish()), options)?;
            let dataset = dataset.fill(&items, |_| ControlFlow::Continue(()))?;
            Ok((items, dataset))
        })
    })
}

pub(crate) fn memory(bytes: usize) -> Result<Memory, Error> {
    Memory::zeroed(bytes).map_err(|_| Error::Memory { what: "a benchmark", bytes })
}

/// Returns a scratchpad with content. Pages that were never written share one page of zeros, which a
/// hash would read instead of 2 MiB.
pub(crate) fn scratchpad() -> Result<Memory, Error> {
    let mut memory = memory(SCRATCHPAD_L3)?;
    AesGenerator1R::new(&[1; 64], Aes::new(Cpu::detect())).fill(memory.as_mut_slice());
    Ok(memory)
}
