//! The hash chain of specification 2, for many inputs at once.
//!
//! The lanes of a VM go through it in lockstep. Without a dataset every lane runs an iteration, then
//! the items that the lanes ask for are computed in one batch. With a dataset the lanes still take
//! turns, because what one of them waits for arrives during the turns of the others. One input is
//! the same path with one lane.

mod hash_state;
mod lanes;
mod observer;

use std::fmt;
use std::sync::Arc;

pub use observer::{Observer, Phase};

use crate::cache::Cache;
use crate::cpu::Cpu;
use crate::dataset::Dataset;
use crate::engine::{Engine, EngineChoice, EngineKind};
use crate::error::VmError;
use crate::interpreter::{Interpreter, Steps};
use crate::items::{ItemSource, Items, ItemsOptions};
use crate::jit::CodePages;
#[cfg(not(target_arch = "x86_64"))]
use crate::jit::JitError;
#[cfg(target_arch = "x86_64")]
use crate::jit::x86_64::program::Jit;
use crate::memory::Pages;
use crate::params::{HASH_SIZE, MAX_LANES, Version};
use crate::scratchpad::Scratchpads;

use lanes::{Hasher, Job, Lanes};

/// How a [`Vm`] works; what it computes is the same with all options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmOptions {
    /// Hashes that are computed together, 1 to [`MAX_LANES`]. By default as many as are fastest:
    /// [`MAX_LANES`] in light mode, [`Version::fast_lanes`] with a dataset.
    pub lanes: Option<usize>,
    /// What runs programs.
    pub engine: EngineChoice,
    /// What may be used of this machine; all that it has, unless some is taken away.
    pub cpu: Cpu,
    /// How machine code is written.
    pub code_pages: CodePages,
}

/// What computes items in the way of a VM with these options.
impl From<VmOptions> for ItemsOptions {
    fn from(options: VmOptions) -> ItemsOptions {
        let VmOptions { engine, cpu, code_pages, .. } = options;
        ItemsOptions { engine, cpu, code_pages }
    }
}

/// What a VM needs of a key.
#[derive(Clone, Debug)]
pub enum KeyMemory {
    /// Light mode: items are computed from the cache, 256 MiB, when they are needed.
    Cache(Arc<Cache>),
    /// Fast mode: items are read from the dataset, 2080 MiB.
    Dataset(Arc<Dataset>),
    /// Light mode: items are computed by what is given, which VMs can share.
    Items(Arc<dyn ItemSource>),
}

impl KeyMemory {
    /// As many lanes as any version needs to be fastest.
    fn best_lanes(&self) -> usize {
        match self {
            KeyMemory::Cache(_) | KeyMemory::Items(_) => MAX_LANES,
            KeyMemory::Dataset(_) => {
                Version::V1.fast_lanes().max(Version::V2.fast_lanes()).min(MAX_LANES)
            }
        }
    }

    fn source(self, options: VmOptions) -> Source {
        match self {
            KeyMemory::Cache(cache) => Source::Light(items(cache, options)),
            KeyMemory::Items(items) => Source::Light(items),
            KeyMemory::Dataset(dataset) => Source::Fast(dataset),
        }
    }

    /// The same, so that several VMs share what computes their items.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn shared(self, options: VmOptions) -> KeyMemory {
        match self {
            KeyMemory::Cache(cache) => KeyMemory::Items(items(cache, options)),
            other => other,
        }
    }
}

impl From<Arc<Cache>> for KeyMemory {
    fn from(cache: Arc<Cache>) -> KeyMemory {
        KeyMemory::Cache(cache)
    }
}

impl From<Arc<Dataset>> for KeyMemory {
    fn from(dataset: Arc<Dataset>) -> KeyMemory {
        KeyMemory::Dataset(dataset)
    }
}

/// Where dataset items come from.
#[derive(Debug)]
enum Source {
    /// Computed when they are needed.
    Light(Arc<dyn ItemSource>),
    /// Read from the dataset: 2080 MiB.
    Fast(Arc<Dataset>),
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
    source: Source,
    version: Version,
    options: VmOptions,
    lanes: usize,
    engine: EngineKind,
    hasher: Box<dyn Hasher>,
    /// Whether the first lane holds a hash that has begun.
    begun: bool,
}

impl Vm {
    /// A light VM with the fastest implementations of this machine.
    ///
    /// # Errors
    ///
    /// [`VmError::OutOfMemory`] when the scratchpads cannot be allocated.
    pub fn new(cache: Arc<Cache>, version: Version) -> Result<Vm, VmError> {
        Vm::with_options(cache, version, VmOptions::default())
    }

    /// A VM that works as `options` say, light over an `Arc<Cache>`, fast over an `Arc<Dataset>`.
    ///
    /// # Errors
    ///
    /// [`VmError::Lanes`] and [`VmError::Jit`] when an option cannot be met,
    /// [`VmError::OutOfMemory`] when the scratchpads, 2 MiB a lane, cannot be allocated.
    pub fn with_options(
        key: impl Into<KeyMemory>,
        version: Version,
        options: VmOptions,
    ) -> Result<Vm, VmError> {
        let key = key.into();
        let lanes = lanes(options, key.best_lanes())?;
        let compiled = match options.engine {
            EngineChoice::Interpreter => None,
            EngineChoice::Auto => compiled(options, lanes).ok(),
            EngineChoice::Jit => Some(compiled(options, lanes)?),
        };
        let (engine, hasher) = match compiled {
            Some(hasher) => (EngineKind::Jit, hasher),
            None => (EngineKind::Interpreter, interpreted(options, lanes)?),
        };
        Ok(Vm {
            source: key.source(options),
            version,
            options,
            lanes,
            engine,
            hasher,
            begun: false,
        })
    }

    /// A light VM whose programs are run by an engine that is not of this crate, or that needs
    /// something which is not; `code` makes the place of a lane's program. Of the options,
    /// `engine` and `code_pages` are not asked.
    ///
    /// # Errors
    ///
    /// [`VmError::Lanes`] for another number of lanes than 1 to [`MAX_LANES`],
    /// [`VmError::OutOfMemory`] when the scratchpads, 2 MiB a lane, cannot be allocated.
    pub fn with_engine<E>(
        items: Arc<dyn ItemSource>,
        version: Version,
        options: VmOptions,
        engine: E,
        code: impl Fn() -> E::Code,
    ) -> Result<Vm, VmError>
    where
        E: Engine + Send + 'static,
        E::Code: Send + 'static,
    {
        let lanes = lanes(options, MAX_LANES)?;
        let codes = (0..lanes).map(|_| code()).collect();
        let scratchpads = Scratchpads::new(lanes)?;
        let hasher = Box::new(Lanes::new(engine, codes, scratchpads, options.cpu));
        let source = Source::Light(items);
        Ok(Vm { source, version, options, lanes, engine: E::KIND, hasher, begun: false })
    }

    /// What runs programs.
    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// How this VM works.
    pub fn options(&self) -> VmOptions {
        self.options
    }

    /// Hashes that are computed together.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The kind of pages that the scratchpads were given.
    pub fn pages(&self) -> Pages {
        self.hasher.pages()
    }

    /// Hashes another version from now on; the key stays.
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// Hashes with another key from now on, in light or in fast mode.
    pub fn set_key(&mut self, key: impl Into<KeyMemory>) {
        self.source = key.into().source(self.options);
    }

    /// The hash of `input`, which can have any length.
    pub fn hash(&mut self, input: &[u8]) -> [u8; HASH_SIZE] {
        let mut output = [[0; HASH_SIZE]];
        self.hash_into(&[input], &mut output, &mut ());
        output[0]
    }

    /// The hashes of `inputs`, in order, computed in groups as large as the VM has lanes.
    pub fn hash_many<I: AsRef<[u8]>>(&mut self, inputs: &[I]) -> Vec<[u8; HASH_SIZE]> {
        self.hash_many_observed(inputs, &mut ())
    }

    /// The same, while `observer` is told what the VM spends its time with.
    pub fn hash_many_observed<I: AsRef<[u8]>>(
        &mut self,
        inputs: &[I],
        observer: &mut dyn Observer,
    ) -> Vec<[u8; HASH_SIZE]> {
        let inputs: Vec<&[u8]> = inputs.iter().map(AsRef::as_ref).collect();
        let mut outputs = vec![[0; HASH_SIZE]; inputs.len()];
        self.hash_into(&inputs, &mut outputs, observer);
        outputs
    }

    /// Begins the hash of `input`, for [`hash_next`](Self::hash_next) or
    /// [`hash_last`](Self::hash_last) to finish: one after another in one lane, for callers who
    /// cannot know the next input but one. Many at once are faster by [`hash_many`](Self::hash_many).
    pub fn hash_first(&mut self, input: &[u8]) {
        self.hasher.begin(input);
        self.begun = true;
    }

    /// The hash of the input before, while that of `input` is begun in one pass over memory.
    /// `None` when there was none, or when another was hashed in between.
    pub fn hash_next(&mut self, input: &[u8]) -> Option<[u8; HASH_SIZE]> {
        if !self.begun {
            return None;
        }
        Some(self.hasher.finish(&self.source, self.version, Some(input)))
    }

    /// The hash of the input before. `None` as [`hash_next`](Self::hash_next).
    pub fn hash_last(&mut self) -> Option<[u8; HASH_SIZE]> {
        if !std::mem::take(&mut self.begun) {
            return None;
        }
        Some(self.hasher.finish(&self.source, self.version, None))
    }

    fn hash_into(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [[u8; HASH_SIZE]],
        observer: &mut dyn Observer,
    ) {
        self.begun = false;
        let lanes = match self.source {
            Source::Fast(_) if self.options.lanes.is_none() => self.version.fast_lanes(),
            _ => self.lanes,
        };
        let job = Job { source: &self.source, version: self.version, lanes, inputs, outputs };
        self.hasher.hash_many(job, observer);
    }
}

/// One hash, with an engine that need not outlive it, and the scratchpad that it leaves behind.
///
/// # Errors
///
/// [`VmError::OutOfMemory`] when the scratchpad cannot be allocated.
pub(crate) fn hash_once<E: Engine>(
    engine: E,
    code: E::Code,
    key: KeyMemory,
    version: Version,
    input: &[u8],
) -> Result<([u8; HASH_SIZE], Scratchpads), VmError> {
    let options = VmOptions::default();
    let mut lanes = Lanes::new(engine, vec![code], Scratchpads::new(1)?, options.cpu);
    lanes.begin(input);
    let hash = lanes.finish(&key.source(options), version, None);
    Ok((hash, lanes.into_scratchpads()))
}

/// What computes the items of a cache.
///
/// Only the JIT by name can be refused, and where that is so, a VM is refused for its programs. What
/// is refused beyond that is memory for more code: items can be had without.
fn items(cache: Arc<Cache>, options: VmOptions) -> Arc<dyn ItemSource> {
    let items = Items::with_options(Arc::clone(&cache), options.into());
    Arc::new(items.unwrap_or_else(|_| Items::new(cache, options.cpu)))
}

/// The lanes that options ask for, or as many as are best.
fn lanes(options: VmOptions, best: usize) -> Result<usize, VmError> {
    match options.lanes.unwrap_or(best) {
        lanes @ 1..=MAX_LANES => Ok(lanes),
        requested => Err(VmError::Lanes { requested }),
    }
}

fn interpreted(options: VmOptions, lanes: usize) -> Result<Box<dyn Hasher>, VmError> {
    let codes = vec![Steps::default(); lanes];
    let scratchpads = Scratchpads::new(lanes)?;
    let engine = Interpreter::new(options.cpu);
    Ok(Box::new(Lanes::new(engine, codes, scratchpads, options.cpu)))
}

#[cfg(target_arch = "x86_64")]
fn compiled(options: VmOptions, lanes: usize) -> Result<Box<dyn Hasher>, VmError> {
    let engine = Jit::new(options.cpu, options.code_pages);
    let codes = (0..lanes).map(|_| engine.code()).collect::<Result<_, _>>()?;
    let scratchpads = Scratchpads::new(lanes)?;
    Ok(Box::new(Lanes::new(engine, codes, scratchpads, options.cpu)))
}

#[cfg(not(target_arch = "x86_64"))]
fn compiled(_: VmOptions, _: usize) -> Result<Box<dyn Hasher>, VmError> {
    Err(VmError::Jit(JitError::Unsupported))
}

impl fmt::Debug for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vm")
            .field("version", &self.version)
            .field("lanes", &self.lanes)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}
