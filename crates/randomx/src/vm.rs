//! The hash chain of specification 2, for many inputs at once.
//!
//! The lanes of a VM go through it in lockstep: in each iteration every lane runs its program,
//! then the dataset items that the lanes ask for are computed in one batch. One input is the
//! same path with one lane.

use std::fmt;
use std::sync::Arc;

use crate::aes::{Aes, AesGenerator1R, AesGenerator4R, aes_hash_1r};
use crate::blake2b::{hash256, hash512};
use crate::cache::Cache;
use crate::cpu::Cpu;
use crate::engine::{Engine, Lane};
use crate::error::VmError;
use crate::interpreter::Interpreter;
use crate::items::Items;
use crate::params::{HASH_SIZE, MAX_LANES, PROGRAM_COUNT, PROGRAM_ITERATIONS, Version};
use crate::program::Program;
use crate::registers::RegisterFile;
use crate::scratchpad::{Scratchpad, Scratchpads};
use crate::superscalar::Item;

/// How a [`Vm`] works; what it computes is the same with all options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmOptions {
    /// Hashes that are computed together, 1 to [`MAX_LANES`], which is the default.
    pub lanes: Option<usize>,
    /// What runs programs.
    pub engine: EngineChoice,
    /// What may be used of this machine; all that it has, unless some is taken away.
    pub cpu: Cpu,
}

/// What runs programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineChoice {
    /// The fastest engine of this build.
    #[default]
    Auto,
    /// The reference engine.
    Interpreter,
}

/// A virtual machine: computes RandomX hashes for one key at a time.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use randomx::{Cache, Version, Vm};
///
/// let cache = Arc::new(Cache::new(b"test key 000")?);
/// let mut vm = Vm::new(cache, Version::V1)?;
/// let hash: [u8; 32] = vm.hash(b"This is a test");
/// let hashes = vm.hash_many(&["many", "inputs", "in", "lanes"]);
/// # Ok(())
/// # }
/// ```
pub struct Vm {
    items: Items,
    cpu: Cpu,
    version: Version,
    aes: Aes,
    engine: Interpreter,
    lanes: Vec<HashState<Interpreter>>,
    scratchpads: Scratchpads,
}

impl Vm {
    /// A VM with [`MAX_LANES`] lanes and the fastest implementations of this machine.
    ///
    /// # Errors
    ///
    /// [`VmError::OutOfMemory`] when the scratchpads cannot be allocated.
    pub fn new(cache: Arc<Cache>, version: Version) -> Result<Vm, VmError> {
        Vm::with_options(cache, version, VmOptions::default())
    }

    /// A VM that works as `options` say.
    ///
    /// # Errors
    ///
    /// [`VmError::Lanes`] and [`VmError::Unsupported`] when an option cannot be met,
    /// [`VmError::OutOfMemory`] when the scratchpads, 2 MiB a lane, cannot be allocated.
    pub fn with_options(
        cache: Arc<Cache>,
        version: Version,
        options: VmOptions,
    ) -> Result<Vm, VmError> {
        let lanes = options.lanes.unwrap_or(MAX_LANES);
        if lanes == 0 || lanes > MAX_LANES {
            return Err(VmError::Lanes { requested: lanes });
        }
        let aes = Aes::new(options.cpu);
        let engine = match options.engine {
            EngineChoice::Auto | EngineChoice::Interpreter => Interpreter,
        };
        let scratchpads = Scratchpads::new(lanes)?;
        let lanes = (0..lanes).map(|_| HashState::new(aes)).collect();
        let items = Items::new(cache, options.cpu);
        Ok(Vm { items, cpu: options.cpu, version, aes, engine, lanes, scratchpads })
    }

    /// Hashes another version from now on; the cache stays.
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// Hashes with another key from now on.
    pub fn set_cache(&mut self, cache: Arc<Cache>) {
        self.items = Items::new(cache, self.cpu);
    }

    /// The hash of `input`, which can have any length.
    pub fn hash(&mut self, input: &[u8]) -> [u8; HASH_SIZE] {
        let mut output = [[0; HASH_SIZE]];
        self.hash_group(&[input], &mut output);
        output[0]
    }

    /// The hashes of `inputs`, in order, computed in groups as large as the VM has lanes.
    pub fn hash_many<I: AsRef<[u8]>>(&mut self, inputs: &[I]) -> Vec<[u8; HASH_SIZE]> {
        let mut outputs = vec![[0; HASH_SIZE]; inputs.len()];
        let lanes = self.lanes.len();
        for (inputs, outputs) in inputs.chunks(lanes).zip(outputs.chunks_mut(lanes)) {
            self.hash_group(inputs, outputs);
        }
        outputs
    }

    /// Hashes at most as many inputs as there are lanes.
    fn hash_group<I: AsRef<[u8]>>(&mut self, inputs: &[I], outputs: &mut [[u8; HASH_SIZE]]) {
        let lanes = &mut self.lanes[..inputs.len()];
        let scratchpads = &mut self.scratchpads.as_mut_slice()[..inputs.len()];

        for ((state, scratchpad), input) in lanes.iter_mut().zip(&mut *scratchpads).zip(inputs) {
            state.begin_hash(input.as_ref(), scratchpad, self.aes);
        }
        for program in 0..PROGRAM_COUNT {
            for state in &mut *lanes {
                if program > 0 {
                    state.reseed();
                }
                state.begin_program(&self.engine, self.version);
            }
            run_loop(&self.engine, &self.items, self.version, self.aes, lanes, scratchpads);
        }
        for ((state, scratchpad), output) in lanes.iter().zip(scratchpads).zip(outputs) {
            *output = state.finish_hash(scratchpad, self.aes);
        }
    }
}

/// All iterations of the lanes' programs (specification 4.6.2).
///
/// Items are computed as far ahead as their numbers are known, so that one lane alone makes
/// batches too: what an item costs is mostly waiting and dispatch, which a batch shares.
fn run_loop<E: Engine>(
    engine: &E,
    source: &Items,
    version: Version,
    aes: Aes,
    lanes: &mut [HashState<E>],
    scratchpads: &mut [Scratchpad],
) {
    let known = version.known_items();
    let mut numbers = [0; MAX_LANES * 3];
    let mut items: [Item; MAX_LANES * 3] = [[0; 8]; MAX_LANES * 3];
    for iteration in 0..PROGRAM_ITERATIONS {
        let ahead = iteration % known;
        for (lane, (state, scratchpad)) in lanes.iter_mut().zip(&mut *scratchpads).enumerate() {
            let known_numbers = engine.begin(&state.code, &mut state.lane, scratchpad);
            numbers[lane * known..][..known].copy_from_slice(&known_numbers[..known]);
        }
        if ahead == 0 {
            let batch = lanes.len() * known;
            source.compute(&numbers[..batch], &mut items[..batch]);
        }
        for (lane, (state, scratchpad)) in lanes.iter_mut().zip(&mut *scratchpads).enumerate() {
            engine.end(&mut state.lane, scratchpad, &items[lane * known + ahead], aes);
        }
    }
}

/// One hash in progress.
struct HashState<E: Engine> {
    lane: Lane,
    generator: AesGenerator4R,
    code: E::Code,
}

impl<E: Engine> HashState<E> {
    fn new(aes: Aes) -> HashState<E> {
        HashState {
            lane: Lane::new(),
            generator: AesGenerator4R::new(&[0; 64], aes),
            code: E::Code::default(),
        }
    }

    /// Steps 2 to 6 of specification 2.
    fn begin_hash(&mut self, input: &[u8], scratchpad: &mut Scratchpad, aes: Aes) {
        let mut filler = AesGenerator1R::new(&hash512(&[input]), aes);
        filler.fill(scratchpad.blocks_mut());
        self.generator.set_state(&filler.state());
        self.lane = Lane::new();
    }

    /// Steps 9 and 10.
    fn reseed(&mut self) {
        self.generator.set_state(&hash512(&[&self.lane.registers.to_bytes()]));
    }

    /// Step 7.
    fn begin_program(&mut self, engine: &E, version: Version) {
        let program = Program::generate(&mut self.generator, version);
        self.lane.start(&program);
        engine.load(&program, &mut self.code);
    }

    /// Steps 12 to 14.
    fn finish_hash(&self, scratchpad: &Scratchpad, aes: Aes) -> [u8; HASH_SIZE] {
        const FINGERPRINT: usize = RegisterFile::SIZE - 64;
        let mut file = self.lane.registers.to_bytes();
        file[FINGERPRINT..].copy_from_slice(&aes_hash_1r(scratchpad.blocks(), aes));
        hash256(&[&file])
    }
}

impl fmt::Debug for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vm")
            .field("version", &self.version)
            .field("lanes", &self.lanes.len())
            .finish_non_exhaustive()
    }
}
