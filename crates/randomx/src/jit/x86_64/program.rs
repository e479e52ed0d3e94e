//! Programs of the VM as machine code (specification 4.6.2 and 5).
//!
//! A program becomes one function, which runs an iteration, half of one, or all. Between its turns
//! all state is in the [`Lane`].

mod body;
mod call;
mod frame;
mod link;
mod operations;
mod registers;
#[cfg(test)]
mod tests;
mod turns;

use std::cell::OnceCell;
use std::fmt;
use std::slice;

use super::assembler::{Assembler, AssemblerError};
use crate::cpu::{Cpu, Extension};
use crate::engine::{Engine, EngineKind, Lane, LaneContext};
use crate::interpreter::{Interpreter, Steps};
use crate::jit::{CodePages, JitError};
use crate::params::{MAX_LANES, Version};
use crate::program::Program;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

use call::{Chain, Function, Turn};
use frame::Frame;

/// No instruction of a program becomes longer than this.
const LONGEST_OPERATION: usize = 48;
/// The code around the instructions is shorter than this.
const LONGEST_FRAME: usize = 2048;
/// Bytes of memory for the code of a lane.
const CAPACITY: usize =
    (Version::V2.program_size() * LONGEST_OPERATION + LONGEST_FRAME).next_multiple_of(4096);

/// Compiles programs to machine code.
///
/// If the system refuses executable memory, the interpreter runs the program. It also finishes a
/// program that was loaded before a fork, in a child that lacks the pages of its code.
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

/// A program, compiled or, where the system does not allow that, interpreted.
pub struct Code {
    assembler: Assembler,
    frame: Frame,
    pages: CodePages,
    /// The program that was loaded last.
    program: Program,
    /// The program as machine code, or `None` if the system refused the memory.
    function: Option<Function>,
    /// The program as steps, made when the interpreter first has to run it.
    steps: OnceCell<Steps>,
}

impl Jit {
    /// Makes a compiler for `cpu`, whose code is in pages of the kind `pages`.
    pub fn new(cpu: Cpu, pages: CodePages) -> Jit {
        let features = Features {
            aes: cpu.has(Extension::Aes),
            avx512: cpu.has(Extension::Avx512),
            bmi2: cpu.has(Extension::Bmi2),
        };
        Jit { features, pages, interpreter: Interpreter::new(cpu) }
    }

    /// Allocates the code of one lane, with a program that does nothing.
    ///
    /// # Errors
    ///
    /// [`JitError`] if the system refuses executable memory.
    pub fn code(&self) -> Result<Code, JitError> {
        let mut assembler = Assembler::new(CAPACITY);
        let frame = Frame::begin(&mut assembler);
        let (pages, program) = (self.pages, Program::empty());
        let steps = OnceCell::new();
        let mut code = Code { assembler, frame, pages, program, function: None, steps };
        code.compile(self.features)?;
        Ok(code)
    }

    /// Returns the machine code of each of a program's instructions, without the loop around them.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] if there are more instructions than in any version.
    pub fn list(&self, program: &Program) -> Result<Vec<Vec<u8>>, JitError> {
        let mut assembler = Assembler::new(CAPACITY);
        let body = body::emit_with_positions(&mut assembler, program, self.features)?;
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
        let Program { version, configuration, instructions } = program;
        code.program.version = *version;
        code.program.configuration.clone_from(configuration);
        code.program.instructions.clone_from(instructions);
        code.steps.take();
        // Without a function, the interpreter runs the program.
        let _ = code.compile(self.features);
    }

    fn begin(&self, lanes: &mut [LaneContext<'_, Code>]) {
        self.run_turn(lanes, Turn::Begin);
    }

    fn end(&self, lanes: &mut [LaneContext<'_, Code>], items: &[Item]) {
        assert_eq!(lanes.len(), items.len(), "one item per lane");
        self.run_turn(lanes, Turn::End(items));
    }

    fn iterate(&self, lanes: &mut [LaneContext<'_, Code>], items: &[Item]) {
        assert_eq!(lanes.len(), items.len(), "one item per lane");
        self.run_turn(lanes, Turn::Iterate(items));
    }

    fn run(&self, lanes: &mut [LaneContext<'_, Code>], dataset: &[Item]) {
        self.run_turn(lanes, Turn::Run(dataset));
    }

    fn execute(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        let function = self.without_loop(program).ok();
        let (code, lane, scratchpad) = (&function, &mut *lane, &mut *scratchpad);
        match Chain::new(&mut [LaneContext { code, lane, scratchpad }], Option::as_ref, Turn::Begin)
        {
            Some(chain) => chain.call(),
            None => self.interpreter.execute(program, lane, scratchpad),
        }
    }
}

impl Jit {
    /// Runs a turn of all lanes: in one call, if all have machine code in this process.
    fn run_turn(&self, lanes: &mut [LaneContext<'_, Code>], turn: Turn<'_>) {
        for (group, lanes) in lanes.chunks_mut(MAX_LANES).enumerate() {
            let first = group * MAX_LANES;
            let turn = turn.of(first..first + lanes.len());
            match Chain::new(lanes, Code::function, turn) {
                Some(chain) => chain.call(),
                None => self.run_turn_one_by_one(lanes, turn),
            }
        }
    }

    /// Runs a turn of each lane separately, by its machine code or by the interpreter.
    #[cold]
    fn run_turn_one_by_one(&self, lanes: &mut [LaneContext<'_, Code>], turn: Turn<'_>) {
        for (index, context) in lanes.iter_mut().enumerate() {
            let turn = turn.of(index..index + 1);
            if let Some(chain) = Chain::new(slice::from_mut(context), Code::function, turn) {
                chain.call();
                continue;
            }
            let LaneContext { code, lane, scratchpad } = context;
            let lanes = &mut [LaneContext { code: code.steps(self.interpreter), lane, scratchpad }];
            match turn {
                Turn::Begin => self.interpreter.begin(lanes),
                Turn::End(items) => self.interpreter.end(lanes, items),
                Turn::Iterate(items) => self.interpreter.iterate(lanes, items),
                Turn::Run(dataset) => self.interpreter.run(lanes, dataset),
            }
        }
    }

    /// Compiles a program's instructions without the loop around them.
    fn without_loop(&self, program: &Program) -> Result<Function, JitError> {
        let mut assembler = Assembler::new(CAPACITY);
        let frame = Frame::begin(&mut assembler);
        turns::load_floats(&mut assembler);
        body::emit(&mut assembler, program, self.features)?;
        turns::return_to_caller(&mut assembler);
        Function::new(assembler.finish()?, CAPACITY, frame.takeover(), self.pages)
    }
}

impl Code {
    /// Compiles the program. If that fails, there is no function.
    fn compile(&mut self, features: Features) -> Result<(), JitError> {
        let Code { assembler, frame, pages, program, function, .. } = self;
        let earlier = function.take();
        frame.rewind(assembler);
        let places = frame.begin_iteration(assembler, &program.configuration, features);
        body::emit(assembler, program, features)?;
        frame.end_iteration(assembler, places, &program.configuration, program.version, features);
        let code = assembler.finish()?;
        *function = Some(match earlier {
            Some(earlier) => earlier.replace(code)?,
            None => Function::new(code, CAPACITY, frame.takeover(), *pages)?,
        });
        Ok(())
    }

    fn function(&self) -> Option<&Function> {
        self.function.as_ref()
    }

    fn steps(&self, interpreter: Interpreter) -> &Steps {
        self.steps.get_or_init(|| {
            let mut steps = Steps::default();
            interpreter.load(&self.program, &mut steps);
            steps
        })
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
