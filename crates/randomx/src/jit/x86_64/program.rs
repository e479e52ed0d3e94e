//! Programs of the VM as machine code for x86-64.

mod body;
mod frame;
mod modes;
mod mxcsr;
mod operations;
mod registers;
mod templates;
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
pub use modes::ModeLoads;
use modes::Modes;
use templates::Templates;

/// No instruction of a program becomes longer than this.
const LONGEST_OPERATION: usize = 104;
/// The code around the instructions is shorter than this.
const LONGEST_FRAME: usize = 2048;

/// Compiles programs to machine code.
pub type Jit = program::Jit<Features>;

/// The instructions that the code uses where there is a choice.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    aes: bool,
    avx512: bool,
    bmi2: bool,
    loads: ModeLoads,
}

/// The code of a lane, from the start that all programs share.
pub struct Emitter {
    assembler: Assembler,
    frame: Frame,
    templates: &'static Templates,
}

impl Features {
    /// Returns the instructions for `cpu`, with `loads` to change the rounding mode.
    pub fn new(cpu: Cpu, loads: ModeLoads) -> Features {
        Features {
            aes: cpu.has(Extension::Aes),
            avx512: cpu.has(Extension::Avx512),
            bmi2: cpu.has(Extension::Bmi2),
            loads,
        }
    }
}

impl Isa for Features {
    const CAPACITY: usize =
        (Version::V2.program_size() * LONGEST_OPERATION + LONGEST_FRAME).next_multiple_of(4096);

    type Emitter = Emitter;

    fn fastest(cpu: Cpu) -> Features {
        Features::new(cpu, ModeLoads::fastest())
    }

    fn emitter(self) -> Emitter {
        let mut assembler = Assembler::new(Features::CAPACITY);
        let frame = Frame::begin(&mut assembler, self);
        Emitter { assembler, frame, templates: Templates::of(self) }
    }

    fn takeover(emitter: &Emitter) -> usize {
        emitter.frame.takeover()
    }

    fn emit<'e>(self, emitter: &'e mut Emitter, program: &Program) -> Result<&'e [u8], JitError> {
        let Emitter { assembler, frame, templates } = emitter;
        frame.rewind(assembler);
        let places = frame.begin_iteration(assembler, &program.configuration, self);
        templates.emit(assembler, program, self, frame.modes())?;
        frame.end_iteration(assembler, places, &program.configuration, program.version, self);
        Ok(assembler.finish()?)
    }

    fn emit_without_loop<'e>(
        self,
        emitter: &'e mut Emitter,
        program: &Program,
    ) -> Result<&'e [u8], JitError> {
        let Emitter { assembler, frame, templates } = emitter;
        frame.rewind(assembler);
        turns::load_floats(assembler);
        templates.emit(assembler, program, self, frame.modes())?;
        turns::return_to_caller(assembler);
        Ok(assembler.finish()?)
    }

    fn list(self, program: &Program) -> Result<Vec<Vec<u8>>, JitError> {
        let mut assembler = Assembler::new(Features::CAPACITY);
        let Program { version, ref instructions, .. } = *program;
        let positions =
            body::emit_one_by_one(&mut assembler, instructions, version, self, Modes::One)?;
        let count = instructions.len();
        let starts = positions.map(|position| position.offset());
        let code = assembler.finish()?;
        let ends = starts[..count].iter().skip(1).copied().chain([code.len()]);
        Ok(starts[..count]
            .iter()
            .zip(ends)
            .map(|(&start, end)| code[start..end].to_vec())
            .collect())
    }

    fn control(mode: RoundingMode) -> u32 {
        mxcsr::of(mode)
    }

    fn rounding_mode(control: u32) -> RoundingMode {
        mxcsr::rounding_mode(control)
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
        type Entry = unsafe extern "sysv64" fn(*const Link, *const Link, u64, u64);
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
