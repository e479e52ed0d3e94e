//! Programs of the VM as machine code (specification 4.6.2 and 5).
//!
//! A program becomes one function, which runs an iteration, half of one, or all. Between its turns
//! all state is in the [`Lane`].

mod body;
mod call;
mod frame;
mod operations;
mod registers;
#[cfg(test)]
mod tests;
mod turns;

use std::fmt;

use super::assembler::{Assembler, AssemblerError};
use crate::cpu::{Cpu, Extension};
use crate::engine::{Engine, EngineKind, Lane, LaneContext};
use crate::interpreter::{Interpreter, Steps};
use crate::jit::{CodePages, JitError};
use crate::params::Version;
use crate::program::Program;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

use call::{Function, Turn};
use frame::Frame;

/// No instruction of a program becomes longer than this.
const LONGEST_OPERATION: usize = 48;
/// All that is around the instructions is shorter than this.
const LONGEST_FRAME: usize = 2048;
/// Bytes of memory for the code of a lane.
const CAPACITY: usize =
    (Version::V2.program_size() * LONGEST_OPERATION + LONGEST_FRAME).next_multiple_of(4096);

/// Compiles programs to machine code.
#[derive(Clone, Copy, Debug)]
pub struct Jit {
    features: Features,
    pages: CodePages,
    interpreter: Interpreter,
}

/// The instructions that the code may use beyond those of every x86-64 processor.
#[derive(Clone, Copy, Debug)]
struct Features {
    aes: bool,
    avx512: bool,
    bmi2: bool,
}

/// A program as machine code.
pub struct Code {
    assembler: Assembler,
    frame: Frame,
    function: Function,
    /// The program for the interpreter, if the system has refused to make the code executable.
    refused: Option<Steps>,
}

impl Jit {
    /// A compiler for `cpu`, whose code is in memory of the kind `pages`.
    pub fn new(cpu: Cpu, pages: CodePages) -> Jit {
        let features = Features {
            aes: cpu.has(Extension::Aes),
            avx512: cpu.has(Extension::Avx512),
            bmi2: cpu.has(Extension::Bmi2),
        };
        Jit { features, pages, interpreter: Interpreter::new(cpu) }
    }

    /// Room for the code of one lane, with a program that does nothing.
    ///
    /// # Errors
    ///
    /// [`JitError`] when the system gives no executable memory.
    pub fn code(&self) -> Result<Code, JitError> {
        let mut assembler = Assembler::new(CAPACITY);
        let frame = Frame::begin(&mut assembler);
        let function = Function::new(CAPACITY, frame.takeover(), self.pages)?;
        let mut code = Code { assembler, frame, function, refused: None };
        code.compile(&Program::empty(), self.features)?;
        Ok(code)
    }
}

impl Jit {
    /// The machine code of each of a program's instructions, without the loop around them, for those
    /// who study it.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] when there are more instructions than any version has.
    pub fn list(&self, program: &Program) -> Result<Vec<Vec<u8>>, JitError> {
        let mut assembler = Assembler::new(CAPACITY);
        let body = body::emitted(&mut assembler, program, self.features)?;
        let count = program.instructions.len();
        let starts = body.positions.map(|position| position.offset());
        let code = assembler.finish()?;
        let ends = starts[..count].iter().skip(1).copied().chain([code.len()]);
        Ok(starts[..count]
            .iter()
            .zip(ends)
            .map(|(&start, end)| code[start..end].to_vec())
            .collect())
    }
}

impl Engine for Jit {
    const KIND: EngineKind = EngineKind::Jit;

    type Code = Code;

    fn load(&self, program: &Program, code: &mut Code) {
        code.refused = code.compile(program, self.features).is_err().then(|| {
            let mut steps = Steps::default();
            self.interpreter.load(program, &mut steps);
            steps
        });
    }

    fn begin(&self, lanes: &mut [LaneContext<'_, Code>]) {
        self.take(lanes, Turn::Begin);
    }

    fn end(&self, lanes: &mut [LaneContext<'_, Code>], items: &[Item]) {
        assert_eq!(lanes.len(), items.len(), "one item per lane");
        self.take(lanes, Turn::End(items));
    }

    fn iterate(&self, lanes: &mut [LaneContext<'_, Code>], items: &[Item]) {
        assert_eq!(lanes.len(), items.len(), "one item per lane");
        self.take(lanes, Turn::Iterate(items));
    }

    fn run(&self, lanes: &mut [LaneContext<'_, Code>], dataset: &[Item]) {
        self.take(lanes, Turn::Run(dataset));
    }

    fn execute(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        match self.enclosed(program) {
            Ok(code) => {
                call::call(&mut [LaneContext { code: &code, lane, scratchpad }], Turn::Begin)
            }
            Err(_) => self.interpreter.execute(program, lane, scratchpad),
        }
    }
}

impl Jit {
    /// Runs lanes whose code is in place, and others by the interpreter.
    fn take(&self, lanes: &mut [LaneContext<'_, Code>], turn: Turn<'_>) {
        if lanes.iter().all(|context| context.code.refused.is_none()) {
            return call::call(lanes, turn);
        }
        for (index, context) in lanes.iter_mut().enumerate() {
            let turn = turn.of_lane(index);
            let Some(code) = &context.code.refused else {
                call::call(std::slice::from_mut(context), turn);
                continue;
            };
            let LaneContext { lane, scratchpad, .. } = context;
            let lanes = &mut [LaneContext { code, lane, scratchpad }];
            match turn {
                Turn::Begin => self.interpreter.begin(lanes),
                Turn::End(items) => self.interpreter.end(lanes, items),
                Turn::Iterate(items) => self.interpreter.iterate(lanes, items),
                Turn::Run(dataset) => self.interpreter.run(lanes, dataset),
            }
        }
    }

    /// A program's instructions without the loop around them.
    fn enclosed(&self, program: &Program) -> Result<Code, JitError> {
        let mut assembler = Assembler::new(CAPACITY);
        let frame = Frame::begin(&mut assembler);
        turns::load_floats(&mut assembler);
        body::emit(&mut assembler, program, self.features)?;
        turns::return_to_caller(&mut assembler);
        let mut function = Function::new(CAPACITY, frame.takeover(), self.pages)?;
        function.replace(assembler.finish()?)?;
        Ok(Code { assembler, frame, function, refused: None })
    }
}

impl Code {
    fn compile(&mut self, program: &Program, features: Features) -> Result<(), JitError> {
        let Code { assembler, frame, function, .. } = self;
        let Program { version, configuration, .. } = program;
        frame.rewind(assembler);
        let places = frame.begin_iteration(assembler, configuration, features);
        body::emit(assembler, program, features)?;
        frame.end_iteration(assembler, places, configuration, *version, features);
        function.replace(assembler.finish()?)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("function", &self.function).finish_non_exhaustive()
    }
}

impl From<AssemblerError> for JitError {
    fn from(_: AssemblerError) -> JitError {
        JitError::TooLong
    }
}
