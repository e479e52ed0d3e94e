//! Programs of the VM as modules of WebAssembly (specification 4.6.2 and 5).
//!
//! A module has the first half of an iteration, up to the dataset item. Between calls all state is in
//! the [`Lane`](crate::engine::Lane); in between, every register is a local variable.

mod control;
mod errors;
mod float;
mod frame;
mod integer;
mod rounding;
#[cfg(test)]
mod tests;

use super::Features;
use super::assembler::{Body, Type};
use super::module::{Memory, Module};
use crate::program::{Operation, Program, Sink, decode_dyn};

use frame::Locals;
use rounding::Rounding;

/// What of an iteration a function has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Steps 1 to 6 and 8.
    Iteration,
    /// Step 4, which tests of instructions need.
    Instructions,
}

/// Writes modules, each in the memory of the last one.
#[derive(Debug, Default)]
pub(super) struct Emitter {
    body: Body,
    places: Vec<usize>,
    module: Vec<u8>,
}

impl Emitter {
    /// The module of a program, which exports so many copies of its function by their numbers.
    pub(super) fn emit(
        &mut self,
        program: &Program,
        scope: Scope,
        features: Features,
        copies: usize,
    ) -> &[u8] {
        self.body.clear(2);
        self.places.clear();
        let locals = Locals::new(&mut self.body);
        let rounding = Rounding::new(&mut self.body, features);
        let mut function =
            Function { body: &mut self.body, places: &mut self.places, locals, rounding, features };
        function.enter(scope, &program.configuration);
        decode_dyn(&program.instructions, program.version, &mut function);
        function.leave(scope, program.version, &program.configuration);

        let mut module = Module::new();
        let memory = Memory { minimum: 1, maximum: None, shared: false };
        module.import_memory("randomx", "memory", memory);
        for copy in 0..copies {
            let function = module.function(&[Type::I32; 2], &[], &self.body);
            module.export(&copy.to_string(), function);
        }
        self.module = module.finish();
        &self.module
    }
}

/// A function in the making, which takes a program's operations.
struct Function<'a> {
    body: &'a mut Body,
    /// Where the code of each instruction begins.
    places: &'a mut Vec<usize>,
    locals: Locals,
    rounding: Rounding,
    features: Features,
}

impl Sink for Function<'_> {
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
