//! Stands in for the compilers on a processor that has none. No value of these types exists, so
//! that the compiler removes all code that would use one.

use crate::cpu::Cpu;
use crate::jit::{CodePages, JitError};

use program::Jit;

/// There is no compiler.
pub const NAME: Option<&str> = None;

/// Nothing changes the rounding mode.
pub fn rounding_modes() -> Option<&'static str> {
    None
}

/// Refuses to make a compiler.
///
/// # Errors
///
/// [`JitError::Unsupported`].
pub fn jit(_: Cpu, _: CodePages) -> Result<Jit, JitError> {
    Err(JitError::Unsupported)
}

pub mod program {
    //! No compiler of programs.

    use crate::engine::{Engine, EngineKind, ItemPrefetches, Lane, LaneContext};
    use crate::jit::JitError;
    use crate::program::Program;
    use crate::rounding::RoundingMode;
    use crate::scratchpad::Scratchpad;
    use crate::superscalar::Item;

    /// No compiler of programs.
    #[derive(Clone, Copy, Debug)]
    pub enum Jit {}

    /// No program.
    #[derive(Clone, Copy, Debug)]
    pub enum Code {}

    impl Jit {
        /// Allocates the code of one lane.
        ///
        /// # Errors
        ///
        /// None, since there is no value to call it with.
        pub fn code(&self) -> Result<Code, JitError> {
            match *self {}
        }
    }

    impl Engine for Jit {
        const KIND: EngineKind = EngineKind::Jit;

        type Code = Code;

        fn load(&self, _: &Program, _: RoundingMode, _: &mut Code) {
            match *self {}
        }

        fn begin(&self, _: &mut [LaneContext<'_, Code>]) {
            match *self {}
        }

        fn end(&self, _: &mut [LaneContext<'_, Code>], _: &[Item]) {
            match *self {}
        }

        fn run(&self, _: &mut [LaneContext<'_, Code>], _: &[Item], _: ItemPrefetches) {
            match *self {}
        }

        fn execute(&self, _: &Program, _: &mut Lane, _: &mut Scratchpad) {
            match *self {}
        }
    }
}

pub mod superscalar {
    //! No compiler of SuperscalarHash.

    use crate::cpu::Cpu;
    use crate::jit::{CodePages, JitError};
    use crate::memory::Line;
    use crate::params::CACHE_ACCESSES;
    use crate::superscalar::{Item, Program};

    /// No functions in machine code.
    #[derive(Clone, Copy, Debug)]
    pub enum SuperscalarCode {}

    impl SuperscalarCode {
        /// Refuses to compile.
        ///
        /// # Errors
        ///
        /// [`JitError::Unsupported`].
        pub fn new(
            _: &[Program; CACHE_ACCESSES],
            _: Cpu,
            _: CodePages,
        ) -> Result<SuperscalarCode, JitError> {
            Err(JitError::Unsupported)
        }

        /// Measures nothing.
        pub fn calibrate(&mut self, _: &[Line]) {
            match *self {}
        }

        /// Computes no items.
        pub fn compute(&self, _: &[Line], _: &[u32], _: &mut [Item]) {
            match *self {}
        }
    }
}
