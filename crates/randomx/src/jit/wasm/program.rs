//! Programs of the VM as WebAssembly modules (specification 4.6.2 and 5).
//!
//! A module has the first half of an iteration, up to the dataset item. Between calls all state is in
//! the [`Lane`](crate::engine::Lane); during a call, each register is a local variable. A program is
//! split into functions: see [`parts`].

mod control;
mod errors;
mod float;
mod frame;
mod integer;
mod parts;
mod rounding;
#[cfg(test)]
mod tests;

use super::Features;
use super::assembler::{self, Body, Type};
use super::module::{Memory, Module};
use crate::program::{Operation, Program, decode_dyn};
use crate::rounding::RoundingMode;

use frame::Locals;
pub(super) use parts::PART;
use parts::Parts;
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

/// The parameters of a module's functions: the addresses of the lane and the scratchpad.
const PARAMETERS: [Type; 2] = [Type::I32; 2];

/// Returns the module of a program that begins in `mode`. A part ends at the first branch after `part` bytes.
pub(super) fn module(
    program: &Program,
    mode: RoundingMode,
    scope: Scope,
    features: Features,
    part: usize,
) -> Vec<u8> {
    let mut module = Module::new();
    let memory = Memory { minimum: 1, maximum: None, shared: false };
    module.import_memory("randomx", "memory", memory);
    let mut parts = Parts::new(program, mode, features, part);
    parts.enter(scope, &program.configuration);
    decode_dyn(&program.instructions, program.version, &mut parts);
    parts.leave(scope, program.version, &program.configuration);
    let whole = parts.finish(&mut module);
    module.export(EXPORT, whole);
    module.finish()
}

/// Emits a call of another function of the module, with the caller's parameters.
fn call(body: &mut Body, function: assembler::Function) {
    body.local_get(body.parameter(0));
    body.local_get(body.parameter(1));
    body.call(function);
}

/// Emits a function that runs a part of a program.
struct Function {
    body: Body,
    locals: Locals,
    /// `None` in a function for mode Nearest only, in which WebAssembly rounds by itself.
    rounding: Option<Rounding>,
    features: Features,
    /// The number of the part's first instruction.
    first: usize,
    /// The offset of each instruction of the part.
    places: Vec<usize>,
}

impl Function {
    /// Begins a function for every rounding mode, or for Nearest only.
    fn new(features: Features, is_nearest: bool, first: usize) -> Function {
        let mut body = Body::new(PARAMETERS.len() as u32);
        let locals = Locals::new(&mut body);
        let rounding = (!is_nearest).then(|| Rounding::new(&mut body, features));
        Function { body, locals, rounding, features, first, places: Vec::new() }
    }

    /// Appends the code of an operation.
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
            IrorR { dst, src } => self.rotate(dst, src, Body::i64_shr_u, Body::i64_shl),
            IrorC { dst, count } => self.rotate_constant(dst, count),
            IrolR { dst, src } => self.rotate(dst, src, Body::i64_shl, Body::i64_shr_u),
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
