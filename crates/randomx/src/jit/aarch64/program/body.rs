//! The instructions of a program (specification 5.2 to 5.5).

use super::literals::Literals;
use super::registers::{e, f};
use crate::jit::JitError;
use crate::jit::aarch64::assembler::{Assembler, Position};
use crate::params::Version;
use crate::program::{Operation, Program, Sink, decode};

const LONGEST: usize = Version::V2.program_size();

/// Emits all operations of a program, in order. Returns where in the code each begins.
///
/// # Errors
///
/// [`JitError::TooLong`] if there are more operations than in any version.
#[inline(always)]
pub(super) fn emit(
    assembler: &mut Assembler,
    literals: &mut Literals,
    program: &Program,
) -> Result<[Position; LONGEST], JitError> {
    if program.instructions.len() > LONGEST {
        return Err(JitError::TooLong);
    }
    let positions = [assembler.position(); LONGEST];
    let mut body = Body { assembler, literals, positions, count: 0 };
    decode(&program.instructions, program.version, &mut body);
    Ok(body.positions)
}

/// Receives a program's operations and emits their code.
pub(super) struct Body<'a> {
    pub(super) assembler: &'a mut Assembler,
    pub(super) literals: &'a mut Literals,
    /// Where each operation begins, for the first `count`.
    pub(super) positions: [Position; LONGEST],
    count: usize,
}

impl Sink for Body<'_> {
    /// Emits one operation.
    ///
    /// `decode` inlines this function. The operation is a constant at each of its calls, so that the
    /// match goes away and one call of a small function stays. If those were inlined too, the
    /// compiler would optimise a copy of each at each call, which takes minutes.
    #[inline(always)]
    fn operation(&mut self, operation: Operation) {
        if let Some(position) = self.positions.get_mut(self.count) {
            *position = self.assembler.position();
        }
        self.count += 1;
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
