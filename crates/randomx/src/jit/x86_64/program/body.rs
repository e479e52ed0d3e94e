//! The instructions of a program (specification 5.2 to 5.5).

use super::Features;
use super::registers::{CONVERTED, E_KEPT, E_MASK, SCALE, SCRATCHPAD, a, e, f, r};
use super::turns::{ROUNDING_CONTROL, set_rounding_mode};
use crate::jit::JitError;
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Mem, Position, Scale, Xmm};
use crate::params::{JUMP_BITS, Version};
use crate::program::{Address, Operation, Program, Sink, ZERO_REGISTER, decode};

/// The bits that a branch tests, before they are shifted to where it tests them.
const CONDITION: u32 = (1 << JUMP_BITS) - 1;

/// Emits all operations of a program, one after the other.
///
/// # Errors
///
/// [`JitError::TooLong`] when there are more than any version has.
pub(super) fn emit(
    assembler: &mut Assembler,
    program: &Program,
    features: Features,
) -> Result<(), JitError> {
    const LONGEST: usize = Version::V2.program_size();
    if program.instructions.len() > LONGEST {
        return Err(JitError::TooLong);
    }
    let positions = [assembler.position(); LONGEST];
    let mut body = Body { assembler, features, positions, count: 0 };
    decode(&program.instructions, program.version, &mut body);
    Ok(())
}

struct Body<'a> {
    assembler: &'a mut Assembler,
    features: Features,
    /// Where each operation begins, of so many that have been emitted.
    positions: [Position; Version::V2.program_size()],
    count: usize,
}

impl Sink for Body<'_> {
    #[inline(always)]
    fn operation(&mut self, operation: Operation) {
        if let Some(position) = self.positions.get_mut(self.count) {
            *position = self.assembler.position();
        }
        self.count += 1;
        match operation {
            Operation::Nop => {}
            Operation::IaddRs { dst, src, shift, constant } => {
                let sum = Mem::indexed(r(dst), r(src), scale(shift), constant);
                self.assembler.lea(r(dst), sum);
            }
            Operation::IaddM { dst, address } => {
                let src = self.locate(address);
                self.assembler.add(r(dst), src);
            }
            Operation::IsubR { dst, src } => self.assembler.sub(r(dst), r(src)),
            Operation::IsubC { dst, constant } => self.assembler.sub(r(dst), constant),
            Operation::IsubM { dst, address } => {
                let src = self.locate(address);
                self.assembler.sub(r(dst), src);
            }
            Operation::ImulR { dst, src } => self.assembler.imul(r(dst), r(src)),
            Operation::ImulC { dst, constant } => self.multiply_by(r(dst), constant),
            Operation::ImulM { dst, address } => {
                let src = self.locate(address);
                self.assembler.imul(r(dst), src);
            }
            Operation::ImulhR { dst, src } => self.multiply_high(r(dst), Factor::Register(r(src))),
            Operation::ImulhM { dst, address } => {
                let src = self.locate(address);
                self.multiply_high(r(dst), Factor::Memory(src));
            }
            Operation::IsmulhR { dst, src } => {
                self.assembler.mov(Gpr::Rax, r(dst));
                self.assembler.imul_wide(r(src));
                self.assembler.mov(r(dst), Gpr::Rdx);
            }
            Operation::IsmulhM { dst, address } => {
                let src = self.locate_with(address, Gpr::Rcx);
                self.assembler.mov(Gpr::Rax, r(dst));
                self.assembler.imul_wide(src);
                self.assembler.mov(r(dst), Gpr::Rdx);
            }
            Operation::InegR { dst } => self.assembler.neg(r(dst)),
            Operation::IxorR { dst, src } => self.assembler.xor(r(dst), r(src)),
            Operation::IxorC { dst, constant } => self.assembler.xor(r(dst), constant),
            Operation::IxorM { dst, address } => {
                let src = self.locate(address);
                self.assembler.xor(r(dst), src);
            }
            Operation::IrorR { dst, src } => {
                self.assembler.mov32(Gpr::Rcx, r(src));
                self.assembler.ror_cl(r(dst));
            }
            Operation::IrorC { dst, count } => self.rotate(r(dst), r(dst), count),
            Operation::IrolR { dst, src } => {
                self.assembler.mov32(Gpr::Rcx, r(src));
                self.assembler.rol_cl(r(dst));
            }
            Operation::IswapR { dst, src } => self.assembler.xchg(r(dst), r(src)),
            Operation::FswapF { dst } => self.assembler.shufpd(f(dst), f(dst), 1),
            Operation::FswapE { dst } => self.assembler.shufpd(e(dst), e(dst), 1),
            Operation::FaddR { dst, src } => self.assembler.addpd(f(dst), a(src)),
            Operation::FaddM { dst, address } => {
                let src = self.locate(address);
                self.assembler.cvtdq2pd(CONVERTED, src);
                self.assembler.addpd(f(dst), CONVERTED);
            }
            Operation::FsubR { dst, src } => self.assembler.subpd(f(dst), a(src)),
            Operation::FsubM { dst, address } => {
                let src = self.locate(address);
                self.assembler.cvtdq2pd(CONVERTED, src);
                self.assembler.subpd(f(dst), CONVERTED);
            }
            Operation::FscalR { dst } => self.assembler.xorps(f(dst), SCALE),
            Operation::FmulR { dst, src } => self.assembler.mulpd(e(dst), a(src)),
            Operation::FdivM { dst, address } => {
                let src = self.locate(address);
                load_group_e(self.assembler, CONVERTED, src, self.features);
                self.assembler.divpd(e(dst), CONVERTED);
            }
            Operation::FsqrtR { dst } => self.assembler.sqrtpd(e(dst), e(dst)),
            Operation::Cbranch { dst, constant, shift, target } => {
                self.assembler.add(r(dst), constant);
                self.assembler.test_immediate32(r(dst), CONDITION << (shift & 31));
                self.assembler.jcc_back(Condition::Zero, self.positions[usize::from(target)]);
            }
            Operation::Cfround { src, count, gate } => self.set_rounding_mode(src, count, gate),
            Operation::Istore { src, address } => {
                let dst = self.locate(address);
                self.assembler.store(dst, r(src));
            }
        }
    }
}

impl Body<'_> {
    /// Where in the scratchpad a source or a destination is.
    #[inline(always)]
    fn locate(&mut self, address: Address) -> Mem {
        self.locate_with(address, Gpr::Rax)
    }

    #[inline(always)]
    fn locate_with(&mut self, address: Address, register: Gpr) -> Mem {
        if address.register == ZERO_REGISTER {
            return Mem::new(SCRATCHPAD, (address.offset & address.mask) as i32);
        }
        self.assembler.lea32(register, Mem::new(r(address.register), address.offset as i32));
        self.assembler.and32(register, address.mask as i32);
        Mem::indexed(SCRATCHPAD, register, Scale::One, 0)
    }

    #[inline(always)]
    fn multiply_by(&mut self, dst: Gpr, constant: u64) {
        match i32::try_from(constant as i64) {
            Ok(constant) => self.assembler.imul_immediate(dst, dst, constant),
            Err(_) => {
                self.assembler.mov_immediate(Gpr::Rax, constant);
                self.assembler.imul(dst, Gpr::Rax);
            }
        }
    }

    /// The high half of an unsigned product.
    #[inline(always)]
    fn multiply_high(&mut self, dst: Gpr, factor: Factor) {
        if self.features.bmi2 {
            self.assembler.mov(Gpr::Rdx, dst);
            match factor {
                Factor::Register(src) => self.assembler.mulx(dst, Gpr::Rcx, src),
                Factor::Memory(src) => self.assembler.mulx(dst, Gpr::Rcx, src),
            }
        } else {
            match factor {
                Factor::Register(src) => {
                    self.assembler.mov(Gpr::Rax, dst);
                    self.assembler.mul(src);
                }
                Factor::Memory(src) => {
                    // The address is in `rax`, so the other factor is loaded first.
                    self.assembler.mov(Gpr::Rax, src);
                    self.assembler.mul(dst);
                }
            }
            self.assembler.mov(dst, Gpr::Rdx);
        }
    }

    #[inline(always)]
    fn rotate(&mut self, dst: Gpr, src: Gpr, count: u8) {
        if self.features.bmi2 {
            self.assembler.rorx(dst, src, count);
        } else {
            if dst != src {
                self.assembler.mov(dst, src);
            }
            self.assembler.ror(dst, count);
        }
    }

    #[inline(always)]
    fn set_rounding_mode(&mut self, src: u8, count: u8, gate: u8) {
        // The two low bits of the rotated value go where MXCSR has them.
        self.rotate(Gpr::Rax, r(src), count.wrapping_sub(ROUNDING_CONTROL) & 63);
        if gate == 0 {
            set_rounding_mode(self.assembler);
        } else {
            let skipped = self.assembler.label();
            self.assembler.test_immediate32(Gpr::Rax, u32::from(gate) << ROUNDING_CONTROL);
            self.assembler.jcc(Condition::NotZero, skipped);
            set_rounding_mode(self.assembler);
            self.assembler.bind(skipped);
        }
    }
}

enum Factor {
    Register(Gpr),
    Memory(Mem),
}

/// Loads 8 bytes and converts them to group E (specification 4.3.2).
#[inline(always)]
pub(super) fn load_group_e(assembler: &mut Assembler, dst: Xmm, src: Mem, features: Features) {
    assembler.cvtdq2pd(dst, src);
    if features.avx512 {
        // (dst & kept) | mask, as a truth table over the three operands.
        assembler.vpternlogq(dst, E_KEPT, E_MASK, 0xea);
    } else {
        assembler.andps(dst, E_KEPT);
        assembler.orps(dst, E_MASK);
    }
}

#[inline(always)]
fn scale(shift: u8) -> Scale {
    [Scale::One, Scale::Two, Scale::Four, Scale::Eight][usize::from(shift & 3)]
}
