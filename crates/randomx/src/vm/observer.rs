//! A view of a hash in progress, for those who measure it.

/// What a hash spends its time with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Filling the first scratchpads with AesGenerator1R.
    Fill,
    /// Generating programs with AesGenerator4R.
    Generate,
    /// Bringing programs into the form that the engine runs.
    Compile,
    /// Running programs; with a dataset its reads are included.
    Execute,
    /// Computing dataset items, in light mode.
    Items,
    /// Hashing scratchpads with AesHash1R and the last Blake2b; in the same pass they are filled
    /// for the next hashes.
    Finish,
}

impl Phase {
    /// Every phase, in the order in which a hash first comes to it.
    pub const ALL: [Phase; 6] =
        [Phase::Fill, Phase::Generate, Phase::Compile, Phase::Execute, Phase::Items, Phase::Finish];
}

/// Is told what a VM does, as it does it.
pub trait Observer {
    /// A phase begins, and the one before it ends.
    fn enter(&mut self, phase: Phase);
    /// The last phase ends.
    fn leave(&mut self);
}

/// Nobody.
impl Observer for () {
    fn enter(&mut self, _: Phase) {}
    fn leave(&mut self) {}
}
