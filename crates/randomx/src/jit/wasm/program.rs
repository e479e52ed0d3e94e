//! Programs of the VM as WebAssembly modules (specification 4.6.2 and 5).
//!
//! A module has the first half of an iteration, up to the dataset item. Between calls all state is in
//! the [`Lane`](crate::engine::Lane); during a call, each register is a local variable.
//!
//! V8 optimises a function after a certain number of its bytes has been executed. By then a program is
//! nearly done, so that the work is wasted. V8 counts for each function separately, so a program is
//! split into *parts*: functions that stay below that number, and one that calls them in turn.

mod control;
mod errors;
mod float;
mod frame;
mod integer;
mod rounding;
#[cfg(test)]
mod tests;

use std::mem;

use super::Features;
use super::assembler::{Body, Type};
use super::module::{Memory, Module};
use crate::program::{Operation, Program, Sink, decode_dyn};

use frame::Locals;
use rounding::Rounding;

/// The steps of an iteration that a module has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Steps 1 to 6 and 8.
    Iteration,
    /// Step 4 alone, for tests of instructions.
    Instructions,
}

/// The name of a module's one export, a function of type `(lane: i32, scratchpad: i32) -> ()`.
pub const EXPORT: &str = "run";

/// The length of parts, in bytes: they end at the first branch after it. V8 optimises functions of
/// about 2000 bytes and more, at 2048 iterations. Each part costs loads and stores of all registers.
pub(super) const PART: usize = 1400;

const PARAMETERS: u32 = 2;

/// Returns the module of a program, split at its first branches after every `part` bytes.
pub(super) fn module(program: &Program, scope: Scope, features: Features, part: usize) -> Vec<u8> {
    let mut function = Function::new(features, part);
    function.enter(scope, &program.configuration);
    decode_dyn(&program.instructions, program.version, &mut function);
    function.leave(scope, program.version, &program.configuration);
    function.module()
}

/// Receives a program's operations and emits its functions.
struct Function {
    /// The current part.
    body: Body,
    locals: Locals,
    rounding: Rounding,
    features: Features,
    /// The offset of each instruction in its part.
    places: Vec<usize>,
    /// The parts before the current one.
    parts: Vec<Body>,
    /// The length after which a part ends at the next branch.
    part: usize,
}

impl Function {
    fn new(features: Features, part: usize) -> Function {
        let mut body = Body::new(PARAMETERS);
        let locals = Locals::new(&mut body);
        let rounding = Rounding::new(&mut body, features);
        Function { body, locals, rounding, features, places: Vec::new(), parts: Vec::new(), part }
    }

    /// Ends the current part and begins another one.
    fn split(&mut self) {
        self.pause();
        let next = Function::new(self.features, self.part);
        (self.locals, self.rounding) = (next.locals, next.rounding);
        self.parts.push(mem::replace(&mut self.body, next.body));
        self.resume();
    }

    fn module(self) -> Vec<u8> {
        let mut module = Module::new();
        let memory = Memory { minimum: 1, maximum: None, shared: false };
        module.import_memory("randomx", "memory", memory);
        for _ in self.rounding.mode_locals() {
            module.global_vector();
        }
        let mut whole = Body::new(PARAMETERS);
        for part in self.parts.iter().chain([&self.body]) {
            let part = module.function(&[Type::I32; 2], &[], part);
            whole.local_get(whole.parameter(0));
            whole.local_get(whole.parameter(1));
            whole.call(part);
        }
        let whole = module.function(&[Type::I32; 2], &[], &whole);
        module.export(EXPORT, whole);
        module.finish()
    }
}

impl Sink for Function {
    #[inline(never)]
    fn operation(&mut self, operation: Operation) {
        use Operation::*;
        self.places.push(self.body.len());
        match operation {
            Nop => {}
            IaddRs { dst, src, shift, constant } => self.add_shifted(dst, src, shift, constant),
            IaddM { dst, address } => self.combine_memory(dst, address, Body::i64_add),
            IsubR { dst, src } => self.combine(dst, src, Body::i64_sub),
            IsubC { dst, constant } => {
                self.combine_constant(dst, i64::from(constant), Body::i64_sub);
            }
            IsubM { dst, address } => self.combine_memory(dst, address, Body::i64_sub),
            ImulR { dst, src } => self.combine(dst, src, Body::i64_mul),
            ImulC { dst, constant } => self.combine_constant(dst, constant as i64, Body::i64_mul),
            ImulM { dst, address } => self.combine_memory(dst, address, Body::i64_mul),
            ImulhR { dst, src } => self.multiply_high(dst, src),
            ImulhM { dst, address } => self.multiply_high_memory(dst, address),
            IsmulhR { dst, src } => self.multiply_high_signed(dst, src),
            IsmulhM { dst, address } => self.multiply_high_signed_memory(dst, address),
            InegR { dst } => self.negate(dst),
            IxorR { dst, src } => self.combine(dst, src, Body::i64_xor),
            IxorC { dst, constant } => {
                self.combine_constant(dst, i64::from(constant), Body::i64_xor);
            }
            IxorM { dst, address } => self.combine_memory(dst, address, Body::i64_xor),
            IrorR { dst, src } => self.combine(dst, src, Body::i64_rotr),
            IrorC { dst, count } => self.combine_constant(dst, count.into(), Body::i64_rotr),
            IrolR { dst, src } => self.combine(dst, src, Body::i64_rotl),
            IswapR { dst, src } => self.swap(dst, src),
            FswapF { dst } => self.swap_halves(self.locals.f[usize::from(dst)]),
            FswapE { dst } => self.swap_halves(self.locals.e[usize::from(dst)]),
            FaddR { dst, src } => self.float_add(dst, src),
            FaddM { dst, address } => self.float_add_memory(dst, address),
            FsubR { dst, src } => self.float_sub(dst, src),
            FsubM { dst, address } => self.float_sub_memory(dst, address),
            FscalR { dst } => self.float_scale(dst),
            FmulR { dst, src } => self.float_mul(dst, src),
            FdivM { dst, address } => self.float_div(dst, address),
            FsqrtR { dst } => self.float_sqrt(dst),
            Cbranch { dst, constant, shift, target } => self.branch(dst, constant, shift, target),
            Cfround { src, count, gate } => self.set_rounding(src, count, gate),
            Istore { src, address } => self.store(src, address),
        }
    }
}
