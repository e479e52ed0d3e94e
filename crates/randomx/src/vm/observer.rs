//! The phases of a hash, for callers who measure them.

/// A phase of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Filling the first scratchpads with AesGenerator1R.
    Fill,
    /// Generating programs with AesGenerator4R.
    Generate,
    /// Translating programs to the form that the engine runs.
    Compile,
    /// Running programs. With a dataset this includes its reads.
    Execute,
    /// Computing dataset items, in light mode.
    Items,
    /// Hashing scratchpads with AesHash1R and the final Blake2b. The same pass fills them for the
    /// next hashes.
    Finish,
}

impl Phase {
    /// All phases, in the order in which a hash first enters them.
    pub const ALL: [Phase; 6] =
        [Phase::Fill, Phase::Generate, Phase::Compile, Phase::Execute, Phase::Items, Phase::Finish];
}

/// Receives phase changes of a VM.
pub trait Observer {
    /// Receives the phase that begins. The previous one ends.
    fn enter(&mut self, phase: Phase);
    /// Receives the end of the last phase.
    fn leave(&mut self);
}

/// A no-op observer.
impl Observer for () {
    fn enter(&mut self, _: Phase) {}
    fn leave(&mut self) {}
}
