//! The code of each operation of a program.

use super::Features;
use super::body::Body;
use super::mxcsr::ROUNDING_CONTROL;
use super::registers::{CONVERTED, E_KEPT, E_MASK, SCALE, SCRATCHPAD, a, e, f, r};
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Mem, Scale, Xmm};
use crate::params::JUMP_BITS;
use crate::program::{Address, ZERO_REGISTER};

/// The bits that a branch tests, before the shift that the instruction asks for.
const CONDITION: u32 = (1 << JUMP_BITS) - 1;

/// One method for each kind of operation.
impl Body<'_> {
    #[inline(never)]
    pub(super) fn add_shifted(&mut self, dst: u8, src: u8, shift: u8, constant: i32) {
        let sum = Mem::indexed(r(dst), r(src), scale(shift), constant);
        self.assembler.lea(r(dst), sum);
    }

    #[inline(never)]
    pub(super) fn add_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        self.assembler.add(r(dst), src);
    }

    #[inline(never)]
    pub(super) fn subtract(&mut self, dst: u8, src: u8) {
        self.assembler.sub(r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn subtract_constant(&mut self, dst: u8, constant: i32) {
        self.assembler.sub(r(dst), constant);
    }

    #[inline(never)]
    pub(super) fn subtract_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        self.assembler.sub(r(dst), src);
    }

    #[inline(never)]
    pub(super) fn multiply(&mut self, dst: u8, src: u8) {
        self.assembler.imul(r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn multiply_constant(&mut self, dst: u8, constant: u64) {
        match i32::try_from(constant as i64) {
            Ok(constant) => self.assembler.imul_immediate(r(dst), r(dst), constant),
            Err(_) => {
                self.assembler.mov_immediate(Gpr::Rax, constant);
                self.assembler.imul(r(dst), Gpr::Rax);
            }
        }
    }

    #[inline(never)]
    pub(super) fn multiply_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        self.assembler.imul(r(dst), src);
    }

    #[inline(never)]
    pub(super) fn multiply_high(&mut self, dst: u8, src: u8) {
        if self.features.bmi2 {
            self.assembler.mov(Gpr::Rdx, r(dst));
            self.assembler.mulx(r(dst), Gpr::Rcx, r(src));
        } else {
            self.assembler.mov(Gpr::Rax, r(dst));
            self.assembler.mul(r(src));
            self.assembler.mov(r(dst), Gpr::Rdx);
        }
    }

    #[inline(never)]
    pub(super) fn multiply_high_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        if self.features.bmi2 {
            self.assembler.mov(Gpr::Rdx, r(dst));
            self.assembler.mulx(r(dst), Gpr::Rcx, src);
        } else {
            // The address is in `rax`, so the other factor is loaded first.
            self.assembler.mov(Gpr::Rax, src);
            self.assembler.mul(r(dst));
            self.assembler.mov(r(dst), Gpr::Rdx);
        }
    }

    #[inline(never)]
    pub(super) fn multiply_high_signed(&mut self, dst: u8, src: u8) {
        self.assembler.mov(Gpr::Rax, r(dst));
        self.assembler.imul_wide(r(src));
        self.assembler.mov(r(dst), Gpr::Rdx);
    }

    #[inline(never)]
    pub(super) fn multiply_high_signed_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate_with(address, Gpr::Rcx);
        self.assembler.mov(Gpr::Rax, r(dst));
        self.assembler.imul_wide(src);
        self.assembler.mov(r(dst), Gpr::Rdx);
    }

    #[inline(never)]
    pub(super) fn negate(&mut self, dst: u8) {
        self.assembler.neg(r(dst));
    }

    #[inline(never)]
    pub(super) fn xor(&mut self, dst: u8, src: u8) {
        self.assembler.xor(r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn xor_constant(&mut self, dst: u8, constant: i32) {
        self.assembler.xor(r(dst), constant);
    }

    #[inline(never)]
    pub(super) fn xor_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        self.assembler.xor(r(dst), src);
    }

    #[inline(never)]
    pub(super) fn rotate_right(&mut self, dst: u8, src: u8) {
        self.assembler.mov32(Gpr::Rcx, r(src));
        self.assembler.ror_cl(r(dst));
    }

    #[inline(never)]
    pub(super) fn rotate_left(&mut self, dst: u8, src: u8) {
        self.assembler.mov32(Gpr::Rcx, r(src));
        self.assembler.rol_cl(r(dst));
    }

    #[inline(never)]
    pub(super) fn rotate_constant(&mut self, dst: u8, count: u8) {
        self.rotate(r(dst), r(dst), count);
    }

    #[inline(never)]
    pub(super) fn swap(&mut self, dst: u8, src: u8) {
        self.assembler.xchg(r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn swap_halves(&mut self, dst: Xmm) {
        self.assembler.shufpd(dst, dst, 1);
    }

    #[inline(never)]
    pub(super) fn float_add(&mut self, dst: u8, src: u8) {
        self.assembler.addpd(f(dst), a(src));
    }

    #[inline(never)]
    pub(super) fn float_add_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        self.assembler.cvtdq2pd(CONVERTED, src);
        self.assembler.addpd(f(dst), CONVERTED);
    }

    #[inline(never)]
    pub(super) fn float_subtract(&mut self, dst: u8, src: u8) {
        self.assembler.subpd(f(dst), a(src));
    }

    #[inline(never)]
    pub(super) fn float_subtract_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        self.assembler.cvtdq2pd(CONVERTED, src);
        self.assembler.subpd(f(dst), CONVERTED);
    }

    #[inline(never)]
    pub(super) fn float_scale(&mut self, dst: u8) {
        self.assembler.xorps(f(dst), SCALE);
    }

    #[inline(never)]
    pub(super) fn float_multiply(&mut self, dst: u8, src: u8) {
        self.assembler.mulpd(e(dst), a(src));
    }

    #[inline(never)]
    pub(super) fn float_divide_memory(&mut self, dst: u8, address: Address) {
        let src = self.locate(address);
        load_group_e(self.assembler, CONVERTED, src, self.features);
        self.assembler.divpd(e(dst), CONVERTED);
    }

    #[inline(never)]
    pub(super) fn float_square_root(&mut self, dst: u8) {
        self.assembler.sqrtpd(e(dst), e(dst));
    }

    #[inline(never)]
    pub(super) fn branch(&mut self, dst: u8, constant: i32, shift: u8, target: u16) {
        self.assembler.add(r(dst), constant);
        self.assembler.test_immediate32(r(dst), CONDITION << (shift & 31));
        self.assembler.jcc_back(Condition::Zero, self.positions[usize::from(target)]);
    }

    #[inline(never)]
    pub(super) fn set_rounding_mode(&mut self, src: u8, count: u8, gate: u8) {
        // Rotates the two bits of `fprc` to their position in MXCSR.
        self.rotate(Gpr::Rax, r(src), count.wrapping_sub(ROUNDING_CONTROL) & 63);
        if gate == 0 {
            self.modes.change(self.assembler);
        } else {
            let skipped = self.assembler.label();
            self.assembler.test_immediate32(Gpr::Rax, u32::from(gate) << ROUNDING_CONTROL);
            self.assembler.jcc(Condition::NotZero, skipped);
            self.modes.change(self.assembler);
            self.assembler.bind(skipped);
        }
    }

    #[inline(never)]
    pub(super) fn store(&mut self, src: u8, address: Address) {
        let dst = self.locate(address);
        self.assembler.store(dst, r(src));
    }
}

impl Body<'_> {
    /// Emits the computation of a scratchpad address, in `rax`.
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
}

/// Emits a load of 8 bytes and their conversion to group E (specification 4.3.2).
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
