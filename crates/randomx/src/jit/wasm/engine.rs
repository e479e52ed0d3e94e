//! Runs programs as WebAssembly modules.
//!
//! A module has the first half of an iteration. The second half is the same for all programs and runs
//! here, in code that the engine optimises once.

use std::fmt;

use super::Features;
use super::host::Host;
use super::program::{self, PART, Scope};
use crate::aes::Aes;
use crate::cpu::Cpu;
use crate::engine::{Engine, EngineKind, ItemPrefetches, Lane, LaneContext, read_ahead};
use crate::interpreter::{Interpreter, Steps};
use crate::params::{PROGRAM_ITERATIONS, Version};
use crate::program::Program;
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// Compiles programs to modules, which a host runs.
#[derive(Clone, Copy, Debug)]
pub struct Jit<H> {
    host: H,
    features: Features,
    part: usize,
    interpreter: Interpreter,
    aes: Aes,
}

/// A program as a module, or as steps for the interpreter if the host has refused the module.
pub struct Code<P> {
    version: Version,
    read_registers: [u8; 4],
    form: Form<P>,
}

enum Form<P> {
    Module(P),
    Steps(Steps),
}

impl<H: Host> Jit<H> {
    /// Makes a compiler whose modules may use `features`, which `host` has to support. `cpu` selects
    /// the code that runs outside modules.
    pub fn new(host: H, features: Features, cpu: Cpu) -> Jit<H> {
        let interpreter = Interpreter::new(cpu);
        Jit { host, features, part: PART, interpreter, aes: Aes::new(cpu) }
    }

    /// Splits programs into functions of about `part` bytes of code. Any value is valid.
    pub fn with_parts(self, part: usize) -> Jit<H> {
        Jit { part, ..self }
    }

    /// Makes the code of one lane, with a program that does nothing.
    pub fn code(&self) -> Code<H::Program> {
        let form = Form::Steps(Steps::default());
        Code { version: Version::V1, read_registers: [0; 4], form }
    }

    fn begin_lane(&self, context: &mut LaneContext<'_, Code<H::Program>>) {
        let LaneContext { code, lane, scratchpad } = context;
        match &code.form {
            Form::Module(program) => self.host.call(program, lane, scratchpad),
            Form::Steps(code) => {
                self.interpreter.begin(&mut [LaneContext { code, lane, scratchpad }]);
            }
        }
    }

    fn end_lane(&self, context: &mut LaneContext<'_, Code<H::Program>>, item: &Item) {
        let LaneContext { code, lane, scratchpad } = context;
        lane.store_registers(scratchpad, item, code.version, self.aes);
    }
}

impl<H: Host> Engine for Jit<H> {
    const KIND: EngineKind = EngineKind::Jit;

    type Code = Code<H::Program>;

    fn load(&self, program: &Program, mode: RoundingMode, code: &mut Self::Code) {
        let module = program::module(program, mode, Scope::Iteration, self.features, self.part);
        code.version = program.version;
        code.read_registers = program.configuration.read_registers;
        // Drops the earlier module first, so that the host can reuse its slot.
        code.form = Form::Steps(Steps::default());
        code.form = match self.host.compile(&module) {
            Some(program) => Form::Module(program),
            None => Form::Steps(Steps::of(program)),
        };
    }

    fn begin(&self, lanes: &mut [LaneContext<'_, Self::Code>]) {
        read_ahead(lanes, |code| code.read_registers);
        lanes.iter_mut().for_each(|context| self.begin_lane(context));
    }

    fn end(&self, lanes: &mut [LaneContext<'_, Self::Code>], items: &[Item]) {
        assert!(lanes.len() == items.len(), "one item per lane");
        for (context, item) in lanes.iter_mut().zip(items) {
            self.end_lane(context, item);
        }
    }

    fn run(&self, lanes: &mut [LaneContext<'_, Self::Code>], dataset: &[Item], _: ItemPrefetches) {
        for _ in 0..PROGRAM_ITERATIONS {
            for context in &mut *lanes {
                self.begin_lane(context);
                let window = context.lane.window(dataset);
                self.end_lane(context, &window[context.lane.item_in_window()]);
            }
        }
    }

    fn execute(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        let mode = lane.rounding_mode;
        let module = program::module(program, mode, Scope::Instructions, self.features, self.part);
        match self.host.compile(&module) {
            Some(program) => self.host.call(&program, lane, scratchpad),
            None => self.interpreter.execute(program, lane, scratchpad),
        }
    }
}

impl<P> fmt::Debug for Code<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.form {
            Form::Module(_) => "module",
            Form::Steps(_) => "steps",
        };
        f.debug_struct("Code").field("form", &form).finish_non_exhaustive()
    }
}
