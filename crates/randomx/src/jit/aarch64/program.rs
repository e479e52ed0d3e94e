//! Programs of the VM as machine code for ARM64.

mod body;
mod fpcr;
mod frame;
mod literals;
mod operations;
mod registers;
#[cfg(test)]
mod tests;
mod turns;

use super::assembler::{Assembler, AssemblerError};
use crate::cpu::{Cpu, Extension};
use crate::jit::JitError;
use crate::jit::program::{self, Isa, Link};
use crate::params::Version;
use crate::program::Program;
use crate::rounding::RoundingMode;

use frame::Frame;
use literals::Literals;

/// No instruction of a program becomes longer than this, its literal included.
const LONGEST_OPERATION: usize = 32;
/// The code around the instructions is shorter than this.
const LONGEST_FRAME: usize = 2048;

/// Compiles programs to machine code.
pub type Jit = program::Jit<Features>;

/// The instructions that the code may use beyond those of every ARM64 processor.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    aes: bool,
}

#[cfg(test)]
impl Features {
    /// All instructions that the code may use.
    pub(super) const ALL: Features = Features { aes: true };
}

/// The code of a lane, from the start that all programs share.
pub struct Emitter {
    assembler: Assembler,
    frame: Frame,
    literals: Literals,
}

impl Isa for Features {
    const CAPACITY: usize =
        (Version::V2.program_size() * LONGEST_OPERATION + LONGEST_FRAME).next_multiple_of(4096);

    type Emitter = Emitter;

    fn fastest(cpu: Cpu) -> Features {
        Features { aes: cpu.has(Extension::Aes) }
    }

    fn emitter(self) -> Emitter {
        let mut assembler = Assembler::new(Features::CAPACITY);
        let frame = Frame::begin(&mut assembler);
        Emitter { assembler, frame, literals: Literals::new() }
    }

    fn takeover(emitter: &Emitter) -> usize {
        emitter.frame.takeover()
    }

    fn emit<'e>(self, emitter: &'e mut Emitter, program: &Program) -> Result<&'e [u8], JitError> {
        let Emitter { assembler, frame, literals } = emitter;
        let Program { version, configuration, instructions } = program;
        frame.rewind(assembler);
        literals.begin(assembler, instructions);
        let places = frame.begin_iteration(assembler, configuration);
        body::emit(assembler, literals, program)?;
        frame.end_iteration(assembler, places, configuration, *version, self);
        literals.emit(assembler);
        Ok(assembler.finish()?)
    }

    fn emit_without_loop<'e>(
        self,
        emitter: &'e mut Emitter,
        program: &Program,
    ) -> Result<&'e [u8], JitError> {
        let Emitter { assembler, frame, literals } = emitter;
        frame.rewind(assembler);
        literals.begin(assembler, &program.instructions);
        turns::load_floats(assembler);
        body::emit(assembler, literals, program)?;
        turns::return_to_caller(assembler);
        literals.emit(assembler);
        Ok(assembler.finish()?)
    }

    fn list(self, program: &Program) -> Result<Vec<Vec<u8>>, JitError> {
        let mut assembler = Assembler::new(Features::CAPACITY);
        let mut literals = Literals::new();
        literals.begin(&mut assembler, &program.instructions);
        let body = body::emit(&mut assembler, &mut literals, program)?;
        let count = program.instructions.len();
        let mut bounds: Vec<usize> =
            body[..count].iter().map(|position| position.offset()).collect();
        bounds.push(assembler.position().offset());
        literals.emit(&mut assembler);
        let code = assembler.finish()?;
        Ok(bounds.windows(2).map(|bounds| code[bounds[0]..bounds[1]].to_vec()).collect())
    }

    fn control(mode: RoundingMode) -> u32 {
        fpcr::of(mode)
    }

    fn rounding_mode(control: u32) -> RoundingMode {
        fpcr::rounding_mode(control)
    }

    #[expect(unsafe_code, reason = "calls machine code")]
    #[inline(always)]
    unsafe fn call(
        entry: *const u8,
        first: *const Link,
        last: *const Link,
        turns: u64,
        flags: u64,
    ) {
        type Entry = unsafe extern "C" fn(*const Link, *const Link, u64, u64);
        // SAFETY: the caller guarantees that this is the start of a whole function, which always
        // has this type, and that its arguments are valid.
        unsafe { std::mem::transmute::<*const u8, Entry>(entry)(first, last, turns, flags) };
    }
}

impl From<AssemblerError> for JitError {
    fn from(_: AssemblerError) -> JitError {
        JitError::TooLong
    }
}
