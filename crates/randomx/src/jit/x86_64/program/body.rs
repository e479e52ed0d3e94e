//! The instructions of a program (specification 5.2 to 5.5).

use super::Features;
use super::modes::Modes;
use super::registers::{e, f};
use crate::jit::JitError;
use crate::jit::x86_64::assembler::{Assembler, Position};
use crate::params::Version;
use crate::program::{Instruction, Operation, Sink, decode};

/// The instructions of the longest program.
pub(super) const LONGEST: usize = Version::V2.program_size();

/// Decodes instructions and emits their operations, in order. Returns where in the code each begins.
///
/// # Errors
///
/// [`JitError::TooLong`] if there are more instructions than in any version.
pub(super) fn emit_one_by_one(
    assembler: &mut Assembler,
    instructions: &[Instruction],
    version: Version,
    features: Features,
    modes: Modes,
) -> Result<[Position; LONGEST], JitError> {
    let mut body = Body::new(assembler, instructions, features, modes)?;
    decode(instructions, version, &mut body);
    Ok(body.positions)
}

/// Receives a program's operations and emits their code.
pub(super) struct Body<'a> {
    pub(super) assembler: &'a mut Assembler,
    pub(super) features: Features,
    pub(super) modes: Modes,
    /// Where each operation begins, for the first `count`.
    pub(super) positions: [Position; LONGEST],
    count: usize,
}

impl<'a> Body<'a> {
    /// Begins the code of some instructions.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] if there are more than in any version.
    pub(super) fn new(
        assembler: &'a mut Assembler,
        instructions: &[Instruction],
        features: Features,
        modes: Modes,
    ) -> Result<Body<'a>, JitError> {
        if instructions.len() > LONGEST {
            return Err(JitError::TooLong);
        }
        let positions = [assembler.position(); LONGEST];
        Ok(Body { assembler, features, modes, positions, count: 0 })
    }

    /// Notes that the next operation begins here.
    #[inline(always)]
    pub(super) fn begin_operation(&mut self) {
        if let Some(position) = self.positions.get_mut(self.count) {
            *position = self.assembler.position();
        }
        self.count += 1;
    }
}

impl Sink for Body<'_> {
    /// Emits one operation.
    ///
    /// `decode` inlines this function. The operation is a constant at each of its calls, so that the
    /// match goes away and one call of a small function stays. If those were inlined too, the
    /// compiler would optimise a copy of each at each call, which takes minutes.
    #[inline(always)]
    fn operation(&mut self, operation: Operation) {
        self.begin_operation();
        match operation {
            Operation::Nop => {}
            Operation::IaddRs { dst, src, shift, constant } => {
                self.add_shifted(dst, src, shift, constant);
            }
            Operation::IaddM { dst, address } => self.add_memory(dst, address),
            Operation::IsubR { dst, src } => self.subtract(dst, src),
            Operation::IsubC { dst, constant } => self.subtract_constant(dst, constant),
            Operation::IsubM { dst, address } => self.subtract_memory(dst, address),
            Operation::ImulR { dst, src } => self.multiply(dst, src),
            Operation::ImulC { dst, constant } => self.multiply_constant(dst, constant),
            Operation::ImulM { dst, address } => self.multiply_memory(dst, address),
            Operation::ImulhR { dst, src } => self.multiply_high(dst, src),
            Operation::ImulhM { dst, address } => self.multiply_high_memory(dst, address),
            Operation::IsmulhR { dst, src } => self.multiply_high_signed(dst, src),
            Operation::IsmulhM { dst, address } => self.multiply_high_signed_memory(dst, address),
            Operation::InegR { dst } => self.negate(dst),
            Operation::IxorR { dst, src } => self.xor(dst, src),
            Operation::IxorC { dst, constant } => self.xor_constant(dst, constant),
            Operation::IxorM { dst, address } => self.xor_memory(dst, address),
            Operation::IrorR { dst, src } => self.rotate_right(dst, src),
            Operation::IrorC { dst, count } => self.rotate_constant(dst, count),
            Operation::IrolR { dst, src } => self.rotate_left(dst, src),
            Operation::IswapR { dst, src } => self.swap(dst, src),
            Operation::FswapF { dst } => self.swap_halves(f(dst)),
            Operation::FswapE { dst } => self.swap_halves(e(dst)),
            Operation::FaddR { dst, src } => self.float_add(dst, src),
            Operation::FaddM { dst, address } => self.float_add_memory(dst, address),
            Operation::FsubR { dst, src } => self.float_subtract(dst, src),
            Operation::FsubM { dst, address } => self.float_subtract_memory(dst, address),
            Operation::FscalR { dst } => self.float_scale(dst),
            Operation::FmulR { dst, src } => self.float_multiply(dst, src),
            Operation::FdivM { dst, address } => self.float_divide_memory(dst, address),
            Operation::FsqrtR { dst } => self.float_square_root(dst),
            Operation::Cbranch { dst, constant, shift, target } => {
                self.branch(dst, constant, shift, target);
            }
            Operation::Cfround { src, count, gate } => self.set_rounding_mode(src, count, gate),
            Operation::Istore { src, address } => self.store(src, address),
        }
    }
}
