//! The hash chain of specification 2, for many inputs at once.
//!
//! The lanes of a VM go through the chain in lockstep. In light mode every lane runs an iteration,
//! then one batch computes the items of all lanes. With a dataset the lanes take turns too: the
//! memory that one lane waits for arrives during the turns of the others. A single input takes the
//! same path with one lane.

#[cfg(feature = "internals")]
mod custom;
mod engines;
mod group;
mod hash_state;
mod key;
mod lanes;
mod measured;
mod observer;
mod plan;
mod shared;
mod trials;

use std::fmt;
use std::mem;
use std::sync::Arc;

#[cfg(feature = "internals")]
pub(crate) use custom::hash_once;
pub use key::KeyMemory;
pub use observer::{Observer, Phase, PhaseTimes};

use crate::cache::Cache;
use crate::cpu::Cpu;
#[cfg(feature = "internals")]
use crate::engine::ItemPrefetches;
use crate::engine::{EngineChoice, EngineKind};
use crate::error::VmError;
use crate::items::ItemsOptions;
use crate::jit::CodePages;
use crate::memory::Pages;
use crate::params::{HASH_SIZE, MAX_LANES, Version};

use group::Member;
use key::Source;
use lanes::{Hasher, Job};
use plan::Plan;
use trials::{Conditions, Participant};

/// Options of a [`Vm`]. No option changes a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmOptions {
    /// Hashes that are computed together, 1 to [`MAX_LANES`]. By default the fastest number. Native VMs
    /// with the JIT find it by measuring some of the first hashes of the process, and measure again when
    /// the number of such VMs passes a power of two, idle ones included. Until then, and in other VMs, it
    /// is [`MAX_LANES`] in light mode and [`Version::fast_lanes`] with a dataset.
    ///
    /// Set the number in a process that forks while other threads use VMs and whose child uses VMs too. The measurement
    /// takes locks, and a child that is forked while another thread has one would wait for ever.
    pub lanes: Option<usize>,
    /// The engine that runs programs.
    pub engine: EngineChoice,
    /// The processor extensions that may be used; by default all that were detected.
    pub cpu: Cpu,
    /// How pages of machine code are written.
    pub code_pages: CodePages,
}

/// Dataset items with the same options as a VM.
impl From<VmOptions> for ItemsOptions {
    fn from(options: VmOptions) -> ItemsOptions {
        let VmOptions { engine, cpu, code_pages, .. } = options;
        ItemsOptions { engine, cpu, code_pages }
    }
}

/// A virtual machine, which computes RandomX hashes for one key at a time.
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
///
/// Programs run in the default floating point environment. The caller's is restored afterwards:
/// the register MXCSR on x86-64, FPCR on AArch64. On other processors with such a register, the caller must
/// have left the default: rounding to nearest, and denormal numbers kept. Otherwise hashes are wrong.
pub struct Vm {
    source: Source,
    version: Version,
    options: VmOptions,
    /// How hashes run with the present key and version.
    plan: Plan,
    /// Whether the number of lanes is measured.
    measures_lanes: bool,
    /// This VM's membership in its group. `None` if its lanes are not measured.
    member: Option<Member>,
    /// The conditions for which the lanes were chosen last, if they are measured.
    chosen_under: Option<Conditions>,
    /// The measurement of the fastest number of lanes, until it is known.
    trials: Option<Participant>,
    /// Whether lanes may be allocated that only a trial needed, or the plan with which the VM was created.
    has_spare_lanes: bool,
    hasher: Box<dyn Hasher>,
    /// Whether the first lane holds a hash that has begun.
    begun: bool,
}

impl Vm {
    /// Creates a light VM with the fastest implementations for this processor.
    ///
    /// # Errors
    ///
    /// [`VmError::OutOfMemory`] if the scratchpads cannot be allocated or exceed the free memory and swap.
    pub fn new(cache: Arc<Cache>, version: Version) -> Result<Vm, VmError> {
        Vm::with_options(cache, version, VmOptions::default())
    }

    /// Creates a VM: a fast one for an `Arc<Dataset>`, a light one for an `Arc<Cache>` or [`KeyMemory::Items`].
    ///
    /// # Errors
    ///
    /// [`VmError::Lanes`] unless the number of lanes is 1 to [`MAX_LANES`], [`VmError::Jit`] if
    /// [`EngineChoice::Jit`] is refused machine code for programs or for the items of a cache,
    /// [`VmError::OutOfMemory`] if the scratchpads, 2 MiB a lane, cannot be allocated or exceed the free
    /// memory and swap.
    pub fn with_options(
        key: impl Into<KeyMemory>,
        version: Version,
        options: VmOptions,
    ) -> Result<Vm, VmError> {
        let source = Source::new(key.into(), options)?;
        let plan = requested_plan(&source, version, options)?;
        let hasher = engines::hasher(options, plan.lanes)?;
        let mut vm = Vm::of(source, version, options, plan, hasher);
        // Interpreted programs take longer than memory.
        vm.measures_lanes = vm.engine() == EngineKind::Jit && options.lanes.is_none();
        vm.adapt_lanes();
        Ok(vm)
    }

    /// Creates a VM whose number of lanes is not measured.
    fn of(
        source: Source,
        version: Version,
        options: VmOptions,
        plan: Plan,
        hasher: Box<dyn Hasher>,
    ) -> Vm {
        let (member, chosen_under, trials) = (None, None, None);
        let (measures_lanes, has_spare_lanes, begun) = (false, true, false);
        Vm {
            source,
            version,
            options,
            plan,
            measures_lanes,
            member,
            chosen_under,
            trials,
            has_spare_lanes,
            hasher,
            begun,
        }
    }

    /// Returns the engine that runs programs.
    pub fn engine(&self) -> EngineKind {
        self.hasher.engine()
    }

    /// Returns the options that the VM was created with.
    pub fn options(&self) -> VmOptions {
        self.options
    }

    /// Returns the number of hashes that [`hash_many`](Self::hash_many) computes together, with the
    /// present key and version.
    ///
    /// It follows [`VmOptions::lanes`], and is smaller only if memory for more lanes ran out, or the reserved huge pages
    /// that hold the lanes. While the
    /// fastest number is being measured, some calls use others. If it is measured, a call that hashes can
    /// change it too: when the measurement ends, and when the number of VMs has passed a power of two.
    pub fn lanes(&self) -> usize {
        self.plan.lanes
    }

    /// Returns the most hashes that [`hash_many`](Self::hash_many) may compute together. Each takes 2 MiB.
    ///
    /// It is [`lanes`](Self::lanes) if that is not measured. Otherwise it begins as the most that a measurement
    /// tries, even if other VMs have completed the measurement, and becomes `lanes` in the first call that
    /// hashes afterwards. On Linux and Windows, that call releases the lanes that only the measurement needed. They stay
    /// allocated on large pages of Windows, and on reserved huge pages before Linux 5.16 ([`Pages::HugeTlb`]). After a
    /// change of the key, the version or the number of VMs it can begin anew.
    pub fn most_lanes(&self) -> usize {
        if self.trials.is_none() {
            return self.lanes();
        }
        let plans = Plan::candidates(self.source.is_fast(), self.version).iter();
        plans.map(|plan| plan.lanes).fold(self.lanes(), usize::max)
    }

    /// Returns when the lanes prefetch items of a dataset. It is measured with the number of lanes. If that is set,
    /// several lanes prefetch pairs, and one lane does not.
    #[cfg(feature = "internals")]
    pub fn item_prefetches(&self) -> ItemPrefetches {
        self.plan.prefetches
    }

    /// Measures the fastest number of lanes now, with inputs of its own, instead of with the first
    /// hashes. Returns [`lanes`](Self::lanes).
    ///
    /// One VM takes 112 to 600 hashes, once in a process for each mode, version and power of two of VMs. VMs
    /// that will hash at the same time should measure at the same time, each on its own thread: they share these
    /// hashes, and each may compute up to 40 that are not needed. A hash that
    /// [`hash_first`](Self::hash_first) began is dropped. It measures nothing if
    /// [`VmOptions::lanes`] is set, in WebAssembly, or without the JIT.
    pub fn measure_lanes(&mut self) -> usize {
        self.begun = false;
        loop {
            // Other VMs may have come, gone, or ended the last trials.
            self.adapt_lanes();
            if !self.trials.as_ref().is_some_and(Participant::has_more) {
                return self.plan.lanes;
            }
            self.hash_many(&trials::inputs());
        }
    }

    /// Returns the kind of pages that hold the scratchpads.
    pub fn pages(&self) -> Pages {
        self.hasher.pages()
    }

    /// Changes the version; the key stays. A hash that has begun is finished with the new version.
    ///
    /// If the number of lanes is a default, it becomes that of the new version. Missing lanes are
    /// allocated; without memory for them, the VM continues with those it has. Surplus lanes stay
    /// allocated until a measurement ends, and longer where [`most_lanes`](Self::most_lanes) says so.
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
        self.adapt_lanes();
    }

    /// Changes the key, and the mode with it, as in [`with_options`](Self::with_options). A hash that has begun is
    /// finished with the new key.
    ///
    /// If the number of lanes is a default, it becomes that of the new mode, as in
    /// [`set_version`](Self::set_version). If the system refuses machine code for the items of a cache, the
    /// interpreter computes them, even for [`EngineChoice::Jit`].
    pub fn set_key(&mut self, key: impl Into<KeyMemory>) {
        self.source = Source::or_interpreted(key.into(), self.options);
        self.adapt_lanes();
    }

    /// Returns the hash of `input`, which can have any length.
    pub fn hash(&mut self, input: &[u8]) -> [u8; HASH_SIZE] {
        let mut output = [[0; HASH_SIZE]];
        self.hash_into(&[input], &mut output, &mut ());
        output[0]
    }

    /// Returns the hashes of `inputs`, in order. They are computed in groups of
    /// [`lanes`](Self::lanes).
    pub fn hash_many<I: AsRef<[u8]>>(&mut self, inputs: &[I]) -> Vec<[u8; HASH_SIZE]> {
        self.hash_many_observed(inputs, &mut ())
    }

    /// Returns the hashes of `inputs`, in order, and reports each change of phase to `observer`.
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

    /// Begins the hash of `input`, which [`hash_next`](Self::hash_next) or
    /// [`hash_last`](Self::hash_last) finishes.
    ///
    /// These three functions hash one input after another in one lane, for callers who know only
    /// the next input. [`hash_many`](Self::hash_many) is faster for many inputs.
    pub fn hash_first(&mut self, input: &[u8]) {
        self.hasher.begin(input);
        self.begun = true;
    }

    /// Returns the hash of the previous input and begins that of `input`, in one pass over the
    /// scratchpad. Returns `None` if no hash was begun, or if another input was hashed since. A panic of
    /// an [`ItemSource`](crate::ItemSource) drops the hash.
    pub fn hash_next(&mut self, input: &[u8]) -> Option<[u8; HASH_SIZE]> {
        if !mem::take(&mut self.begun) {
            return None;
        }
        let hash = self.hasher.finish(&self.source, self.version, Some(input));
        self.begun = true;
        Some(hash)
    }

    /// Returns the hash of the previous input; `None` as [`hash_next`](Self::hash_next).
    pub fn hash_last(&mut self) -> Option<[u8; HASH_SIZE]> {
        if !mem::take(&mut self.begun) {
            return None;
        }
        Some(self.hasher.finish(&self.source, self.version, None))
    }

    /// Drops the hash that [`hash_first`](Self::hash_first) began, if there is one.
    pub fn hash_abandon(&mut self) {
        self.begun = false;
    }

    fn hash_into(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [[u8; HASH_SIZE]],
        observer: &mut dyn Observer,
    ) {
        // Nothing is hashed, so a hash that has begun stays.
        if inputs.is_empty() {
            return;
        }
        self.begun = false;
        if self.conditions() != self.chosen_under {
            self.adapt_lanes();
        }
        let measured = self.measure(inputs, outputs, observer);
        let (inputs, outputs) = (&inputs[measured..], &mut outputs[measured..]);
        if inputs.is_empty() {
            return;
        }
        let Vm { ref source, version, plan, .. } = *self;
        self.hasher.hash_many(Job { source, version, plan, inputs, outputs }, observer);
    }
}

fn requested_plan(source: &Source, version: Version, options: VmOptions) -> Result<Plan, VmError> {
    match options.lanes {
        None => Ok(Plan::expected(source.is_fast(), version)),
        Some(lanes @ 1..=MAX_LANES) => Ok(Plan::of(lanes)),
        Some(requested) => Err(VmError::Lanes { requested }),
    }
}

impl fmt::Debug for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vm")
            .field("version", &self.version)
            .field("lanes", &self.plan.lanes)
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}
