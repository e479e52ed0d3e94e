//! Programs of the VM as machine code (specification 4.6.2 and 5): the part that is the same on all
//! processors.
//!
//! A program becomes one function, which runs an iteration, half of one, or all. Between its turns
//! all state is in the [`Lane`].

mod call;
mod link;

use std::cell::OnceCell;
use std::fmt;
use std::slice;

use crate::cpu::Cpu;
use crate::engine::{Engine, EngineKind, ItemPrefetches, Lane, LaneContext};
use crate::interpreter::{Interpreter, Steps};
use crate::jit::{CodePages, JitError};
use crate::params::MAX_LANES;
use crate::program::Program;
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

use call::{Chain, Function, NO_LINKS, Turn};
pub use link::{Link, flag};

/// Emits programs as machine code for one kind of processor.
pub trait Isa: Copy + fmt::Debug {
    /// Bytes of memory for the code of a lane.
    const CAPACITY: usize;

    /// Holds the code of a lane, from the part on that all programs share.
    type Emitter;

    /// Returns the instructions that are fastest on `cpu`. The first call may measure some.
    fn fastest(cpu: Cpu) -> Self;

    /// Makes an emitter, and emits the part that all programs share.
    fn emitter(self) -> Self::Emitter;

    /// Returns the offset that another lane's code jumps to. It is in the part that all programs
    /// share.
    fn takeover(emitter: &Self::Emitter) -> usize;

    /// Emits a program in place of the last one, and returns all code.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] if there are more instructions than in any version.
    fn emit<'e>(
        self,
        emitter: &'e mut Self::Emitter,
        program: &Program,
    ) -> Result<&'e [u8], JitError>;

    /// Emits a program's instructions, to run once without the loop, and returns all code.
    ///
    /// # Errors
    ///
    /// As [`emit`](Self::emit).
    fn emit_without_loop<'e>(
        self,
        emitter: &'e mut Self::Emitter,
        program: &Program,
    ) -> Result<&'e [u8], JitError>;

    /// Returns the code of each of a program's instructions, without the loop around them.
    ///
    /// # Errors
    ///
    /// As [`emit`](Self::emit).
    fn list(self, program: &Program) -> Result<Vec<Vec<u8>>, JitError>;

    /// Returns the processor's floating point control register for a rounding mode.
    fn control(mode: RoundingMode) -> u32;

    /// Returns the rounding mode in a floating point control register.
    fn rounding_mode(control: u32) -> RoundingMode;

    /// Calls code with the first link, the last link, the number of turns and [`flag`]s.
    ///
    /// # Safety
    ///
    /// `entry` is the start of a whole function that [`emit`](Self::emit) or
    /// [`emit_without_loop`](Self::emit_without_loop) returned. `first` to `last` are links whose
    /// pointers are valid for what the flags request.
    #[expect(unsafe_code, reason = "calls machine code")]
    unsafe fn call(entry: *const u8, first: *const Link, last: *const Link, turns: u64, flags: u64);
}

/// Compiles programs to machine code.
///
/// If the system refuses executable memory, the interpreter runs the program. It also finishes a
/// program that was loaded before a fork, in a child that lacks the pages of its code.
#[derive(Clone, Copy, Debug)]
pub struct Jit<I> {
    isa: I,
    pages: CodePages,
    interpreter: Interpreter,
}

/// A program, compiled or, where the system does not allow that, interpreted.
pub struct Code<I: Isa> {
    emitter: I::Emitter,
    pages: CodePages,
    /// The program that was loaded last.
    program: Program,
    /// The program as machine code, or `None` if the system refused the memory.
    function: Option<Function>,
    /// The program as steps, made when the interpreter first has to run it.
    steps: OnceCell<Steps>,
}

impl<I: Isa> Jit<I> {
    /// Makes a compiler for `cpu`, whose code is in pages of the kind `pages`.
    pub fn new(cpu: Cpu, pages: CodePages) -> Jit<I> {
        Jit::of(I::fastest(cpu), cpu, pages)
    }

    /// Makes a compiler that emits the instructions `isa`, for a processor that has them and the extensions of `cpu`.
    pub fn of(isa: I, cpu: Cpu, pages: CodePages) -> Jit<I> {
        Jit { isa, pages, interpreter: Interpreter::new(cpu) }
    }

    /// Allocates the code of one lane, with a program that does nothing.
    ///
    /// # Errors
    ///
    /// [`JitError`] if the system refuses executable memory.
    pub fn code(&self) -> Result<Code<I>, JitError> {
        let (emitter, program) = (self.isa.emitter(), Program::empty());
        let (pages, steps) = (self.pages, OnceCell::new());
        let mut code = Code { emitter, pages, program, function: None, steps };
        code.compile(self.isa)?;
        Ok(code)
    }

    /// Returns the machine code of each of a program's instructions, without the loop around them. Constants that
    /// fit into a byte are shorter here than in the code that runs, and a single instruction loads every rounding mode.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] if there are more instructions than in any version.
    pub fn list(&self, program: &Program) -> Result<Vec<Vec<u8>>, JitError> {
        self.isa.list(program)
    }

    /// Returns the machine code of a whole program.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] if there are more instructions than in any version.
    pub fn whole(&self, program: &Program) -> Result<Whole, JitError> {
        let mut emitter = self.isa.emitter();
        let takeover = I::takeover(&emitter);
        let code = self.isa.emit(&mut emitter, program)?.to_vec();
        Ok(Whole { code, takeover })
    }
}

/// The machine code of a program, as [`Engine::load`] puts it into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The code, with the loop around the program's instructions.
    pub code: Vec<u8>,
    /// The offset that another lane's code jumps to.
    pub takeover: usize,
}

impl<I: Isa> Engine for Jit<I> {
    const KIND: EngineKind = EngineKind::Jit;

    type Code = Code<I>;

    fn load(&self, program: &Program, _: RoundingMode, code: &mut Code<I>) {
        let Program { version, configuration, instructions } = program;
        code.program.version = *version;
        code.program.configuration.clone_from(configuration);
        code.program.instructions.clone_from(instructions);
        code.steps.take();
        // Without a function, the interpreter runs the program.
        let _ = code.compile(self.isa);
    }

    fn begin(&self, lanes: &mut [LaneContext<'_, Code<I>>]) {
        self.run_turn(lanes, Turn::Begin);
    }

    fn end(&self, lanes: &mut [LaneContext<'_, Code<I>>], items: &[Item]) {
        assert_eq!(lanes.len(), items.len(), "one item per lane");
        self.run_turn(lanes, Turn::End(items));
    }

    fn iterate(&self, lanes: &mut [LaneContext<'_, Code<I>>], items: &[Item]) {
        assert_eq!(lanes.len(), items.len(), "one item per lane");
        self.run_turn(lanes, Turn::Iterate(items));
    }

    fn run(
        &self,
        lanes: &mut [LaneContext<'_, Code<I>>],
        dataset: &[Item],
        prefetches: ItemPrefetches,
    ) {
        self.run_turn(lanes, Turn::Run(dataset, prefetches));
    }

    fn execute(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        let function = self.without_loop(program).ok();
        let (code, lane, scratchpad) = (&function, &mut *lane, &mut *scratchpad);
        let lanes = &mut [LaneContext { code, lane, scratchpad }];
        match Chain::new::<I, _>(lanes, Option::as_ref, Turn::Begin, &mut { NO_LINKS }) {
            Some(chain) => chain.call::<I>(),
            None => self.interpreter.execute(program, lane, scratchpad),
        }
    }
}

impl<I: Isa> Jit<I> {
    /// Runs a turn of all lanes: in one call, if all have machine code in this process.
    fn run_turn(&self, lanes: &mut [LaneContext<'_, Code<I>>], turn: Turn<'_>) {
        for (group, lanes) in lanes.chunks_mut(MAX_LANES).enumerate() {
            let first = group * MAX_LANES;
            let turn = turn.of(first..first + lanes.len());
            match Chain::new::<I, _>(lanes, Code::function, turn, &mut { NO_LINKS }) {
                Some(chain) => chain.call::<I>(),
                None => self.run_turn_one_by_one(lanes, turn),
            }
        }
    }

    /// Runs a turn of each lane separately, by its machine code or by the interpreter.
    #[cold]
    fn run_turn_one_by_one(&self, lanes: &mut [LaneContext<'_, Code<I>>], turn: Turn<'_>) {
        for (index, context) in lanes.iter_mut().enumerate() {
            let turn = turn.of(index..index + 1);
            let context = slice::from_mut(context);
            if let Some(chain) =
                Chain::new::<I, _>(context, Code::function, turn, &mut { NO_LINKS })
            {
                chain.call::<I>();
                continue;
            }
            let [LaneContext { code, lane, scratchpad }] = context else { continue };
            let lanes = &mut [LaneContext { code: code.steps(), lane, scratchpad }];
            match turn {
                Turn::Begin => self.interpreter.begin(lanes),
                Turn::End(items) => self.interpreter.end(lanes, items),
                Turn::Iterate(items) => self.interpreter.iterate(lanes, items),
                Turn::Run(dataset, prefetches) => {
                    self.interpreter.run(lanes, dataset, prefetches);
                }
            }
        }
    }

    /// Compiles a program's instructions without the loop around them.
    fn without_loop(&self, program: &Program) -> Result<Function, JitError> {
        let mut emitter = self.isa.emitter();
        let takeover = I::takeover(&emitter);
        let code = self.isa.emit_without_loop(&mut emitter, program)?;
        Function::new(code, I::CAPACITY, takeover, self.pages)
    }
}

impl<I: Isa> Code<I> {
    /// Compiles the program. If that fails, there is no function.
    fn compile(&mut self, isa: I) -> Result<(), JitError> {
        let Code { emitter, pages, program, function, .. } = self;
        let earlier = function.take();
        let takeover = I::takeover(emitter);
        let code = isa.emit(emitter, program)?;
        *function = Some(match earlier {
            Some(earlier) => earlier.replace(code)?,
            None => Function::new(code, I::CAPACITY, takeover, *pages)?,
        });
        Ok(())
    }

    fn function(&self) -> Option<&Function> {
        self.function.as_ref()
    }

    fn steps(&self) -> &Steps {
        self.steps.get_or_init(|| Steps::of(&self.program))
    }
}

impl<I: Isa> fmt::Debug for Code<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("function", &self.function).finish_non_exhaustive()
    }
}
