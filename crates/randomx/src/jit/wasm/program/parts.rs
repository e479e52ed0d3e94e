//! The functions of a program.
//!
//! V8 optimises a function after a certain number of its bytes has been executed. By then a program is
//! nearly done, so that the work is wasted. V8 counts for each function separately, so a program is
//! split into *parts*: functions that stay below that number, and one that calls them in turn.
//!
//! In mode Nearest no result needs a correction, and the code has less than half the operations. So a
//! part can have two functions, one for every mode and one for Nearest, and each iteration calls one of
//! them. A part with CFROUND has the first only. A program without CFROUND stays in the mode that it
//! begins in, and each part has the function for that mode only.

use std::mem;

use super::{Function, PARAMETERS, Scope, call};
use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{self, Body};
use crate::jit::wasm::module::Module;
use crate::params::Version;
use crate::program::{Configuration, Opcode, Operation, Program, Sink};
use crate::rounding::RoundingMode;

/// The length of parts, in bytes: they end at the first branch after it. V8 optimises functions of
/// about 2000 bytes and more, at 2048 iterations. Each part costs loads and stores of all registers.
pub(in crate::jit::wasm) const PART: usize = 2000;

/// Receives a program's operations and emits its functions.
pub(super) struct Parts {
    features: Features,
    /// The length after which a part ends at the next branch.
    length: usize,
    /// The program's instructions so far.
    instructions: usize,
    /// Whether functions for every mode, and for Nearest only, are needed.
    variants: [bool; 2],
    /// The functions of the current part.
    current: Vec<Function>,
    /// The functions of the parts before.
    finished: Vec<Vec<Function>>,
}

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
        let variants = [changes_mode || !is_nearest, changes_mode || is_nearest];
        let mut parts = Parts {
            features,
            length,
            instructions: 0,
            variants,
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
        let [every_mode, nearest] = self.variants;
        let needed = [(every_mode, false), (nearest, true)].into_iter().filter(|(is, _)| *is);
        needed
            .map(|(_, is_nearest)| Function::new(self.features, is_nearest, self.instructions))
            .collect()
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
        if self.variants[0] {
            Function::set_mode(self.features, module, &mut whole);
        } else {
            // The program stays in mode Nearest. With another one, its hash would be wrong.
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
        // No later branch goes back past a branch, so a part can end behind one, and nowhere else.
        let is_branch = matches!(operation, Operation::Cbranch { .. });
        if is_branch && self.current[0].body.len() > self.length {
            self.split();
        }
    }
}
