//! The functions of a program.
//!
//! V8 optimises a function after a certain number of its bytes has been executed. By then a program is
//! nearly done, so that the work is wasted. V8 counts for each function separately, so a program is
//! split into *parts*: functions that stay below that number, and one that calls them in turn.
//!
//! In mode Nearest no result needs a correction, and the code is half as long. A part has one function that serves all
//! modes, one that serves Nearest only, or both. Each iteration calls one of them. A part with CFROUND has only
//! the former. A program without CFROUND stays in the mode that it begins in, so each part has only the
//! function for that mode.

use std::mem;

use super::{Function, PARAMETERS, Scope, call};
use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{self, Body};
use crate::jit::wasm::module::Module;
use crate::params::Version;
use crate::program::{Configuration, Opcode, Operation, Program, Sink};
use crate::rounding::RoundingMode;

/// The length of parts in bytes, of the functions for every mode: they end at the first branch after it. Each part costs
/// loads and stores of all registers. V8 optimises most parts of 3000 bytes before the last of their 2048 calls.
pub(in crate::jit::wasm) const PART: usize = 2000;

/// Receives a program's operations and emits its functions.
pub(super) struct Parts {
    features: Features,
    /// The length after which a part ends at the next branch.
    length: usize,
    /// The program's instructions so far.
    instructions: usize,
    needed: Needed,
    /// The functions of the current part.
    current: Vec<Function>,
    /// The functions of the parts before.
    finished: Vec<Vec<Function>>,
}

/// Which functions the parts of a program have, as far as these have no CFROUND.
#[derive(Clone, Copy)]
struct Needed {
    every_mode: bool,
    nearest: bool,
}

/// An `if` on the mode takes Nearest as false.
const _: () = assert!(RoundingMode::Nearest as u32 == 0);

impl Parts {
    /// Makes the parts of a program that begins in `mode`.
    pub(super) fn new(
        program: &Program,
        mode: RoundingMode,
        features: Features,
        length: usize,
    ) -> Parts {
        let mut opcodes = program.instructions.iter().map(|instruction| instruction.opcode());
        let changes_mode = opcodes.any(|opcode| opcode == Opcode::Cfround);
        let is_nearest = mode == RoundingMode::Nearest;
        let needed =
            Needed { every_mode: changes_mode || !is_nearest, nearest: changes_mode || is_nearest };
        let mut parts = Parts {
            features,
            length,
            instructions: 0,
            needed,
            current: Vec::new(),
            finished: Vec::new(),
        };
        parts.current = parts.functions();
        parts
    }

    /// Emits the start of a program.
    pub(super) fn enter(&mut self, scope: Scope, configuration: &Configuration) {
        self.current.iter_mut().for_each(|function| function.enter(scope, configuration));
    }

    /// Emits the end of a program.
    pub(super) fn leave(&mut self, scope: Scope, version: Version, configuration: &Configuration) {
        self.current.iter_mut().for_each(|function| function.leave(scope, version, configuration));
    }

    /// Returns new functions, of a part that begins with the next instruction.
    fn functions(&self) -> Vec<Function> {
        let Needed { every_mode, nearest } = self.needed;
        let new = |is_nearest| Function::new(self.features, is_nearest, self.instructions);
        every_mode.then(|| new(false)).into_iter().chain(nearest.then(|| new(true))).collect()
    }

    /// Ends the current part and begins another one.
    fn split(&mut self) {
        self.current.iter_mut().for_each(Function::pause);
        let next = self.functions();
        self.finished.push(mem::replace(&mut self.current, next));
        self.current.iter_mut().for_each(Function::resume);
    }

    /// Adds the functions to a module. Returns the one that calls the others.
    pub(super) fn finish(self, module: &mut Module) -> assembler::Function {
        let mut whole = Body::new(PARAMETERS.len() as u32);
        if self.needed.every_mode {
            Function::set_mode(self.features, module, &mut whole);
        } else {
            // Compiled for Nearest only: in another mode the code would compute a wrong hash.
            Function::push_mode(&mut whole);
            whole.if_();
            whole.unreachable();
            whole.end();
        }
        for part in self.finished.iter().chain([&self.current]) {
            let mut add = |function: &Function| module.function(&PARAMETERS, &[], &function.body);
            if let [every_mode, nearest] = part.as_slice() {
                Function::push_mode(&mut whole);
                whole.if_();
                call(&mut whole, add(every_mode));
                whole.else_();
                call(&mut whole, add(nearest));
                whole.end();
            } else {
                part.iter().for_each(|function| call(&mut whole, add(function)));
            }
        }
        module.function(&PARAMETERS, &[], &whole)
    }
}

impl Sink for Parts {
    #[inline(never)]
    fn operation(&mut self, operation: Operation) {
        if matches!(operation, Operation::Cfround { .. }) {
            self.current.retain(|function| function.rounding.is_some());
        }
        for function in &mut self.current {
            function.operation(operation);
        }
        self.instructions += 1;
        // No branch goes back past an earlier one, so parts end after branches only.
        let is_branch = matches!(operation, Operation::Cbranch { .. });
        if is_branch && self.current[0].body.len() > self.length {
            self.split();
        }
    }
}
