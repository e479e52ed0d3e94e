//! The code of each operation.

use super::body::Body;
use super::fpcr::ROUNDING_MODE;
use super::literals::is_literal;
use super::registers::{CONVERTED, E_CONVERTED, E_MASK, SCALE, SCRATCHPAD, T, a, e, f, r};
use crate::jit::aarch64::assembler::{Condition, Gpr, Neon, Shift};
use crate::program::{Address, ZERO_REGISTER};

/// The temporary of addresses and of their operands.
const ADDRESS: Gpr = T[0];

/// The bits of a register that CBRANCH tests, before their shift.
const CONDITION: u64 = 0xff;

/// A place in the scratchpad.
enum Place {
    /// At an offset from a register.
    Offset(Gpr, usize),
    /// At the offset in [`ADDRESS`].
    Indexed,
}

impl Body<'_> {
    #[inline(never)]
    pub(super) fn add_shifted(&mut self, dst: u8, src: u8, shift: u8, constant: i32) {
        self.assembler.add_shifted(r(dst), r(dst), r(src), Shift::Lsl(shift));
        self.assembler.add_value(r(dst), r(dst), i64::from(constant), T[0]);
    }

    #[inline(never)]
    pub(super) fn add_memory(&mut self, dst: u8, address: Address) {
        let operand = self.load(address);
        self.assembler.add(r(dst), r(dst), operand);
    }

    #[inline(never)]
    pub(super) fn subtract(&mut self, dst: u8, src: u8) {
        self.assembler.sub(r(dst), r(dst), r(src));
    }

    /// The constant is extended before it is negated: the negative of -2^31 has 33 bits.
    #[inline(never)]
    pub(super) fn subtract_constant(&mut self, dst: u8, constant: i32) {
        self.assembler.add_value(r(dst), r(dst), -i64::from(constant), T[0]);
    }

    #[inline(never)]
    pub(super) fn subtract_memory(&mut self, dst: u8, address: Address) {
        let operand = self.load(address);
        self.assembler.sub(r(dst), r(dst), operand);
    }

    #[inline(never)]
    pub(super) fn multiply(&mut self, dst: u8, src: u8) {
        self.assembler.mul(r(dst), r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn multiply_constant(&mut self, dst: u8, constant: u64) {
        let factor = if is_literal(constant) {
            self.literals.load(self.assembler, constant, T[0])
        } else {
            self.assembler.mov_value(T[0], constant);
            T[0]
        };
        self.assembler.mul(r(dst), r(dst), factor);
    }

    #[inline(never)]
    pub(super) fn multiply_memory(&mut self, dst: u8, address: Address) {
        let operand = self.load(address);
        self.assembler.mul(r(dst), r(dst), operand);
    }

    #[inline(never)]
    pub(super) fn multiply_high(&mut self, dst: u8, src: u8) {
        self.assembler.umulh(r(dst), r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn multiply_high_memory(&mut self, dst: u8, address: Address) {
        let operand = self.load(address);
        self.assembler.umulh(r(dst), r(dst), operand);
    }

    #[inline(never)]
    pub(super) fn multiply_high_signed(&mut self, dst: u8, src: u8) {
        self.assembler.smulh(r(dst), r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn multiply_high_signed_memory(&mut self, dst: u8, address: Address) {
        let operand = self.load(address);
        self.assembler.smulh(r(dst), r(dst), operand);
    }

    #[inline(never)]
    pub(super) fn negate(&mut self, dst: u8) {
        self.assembler.neg(r(dst), r(dst));
    }

    #[inline(never)]
    pub(super) fn xor(&mut self, dst: u8, src: u8) {
        self.assembler.eor(r(dst), r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn xor_constant(&mut self, dst: u8, constant: i32) {
        self.assembler.eor_value(r(dst), r(dst), constant as u64, T[0]);
    }

    #[inline(never)]
    pub(super) fn xor_memory(&mut self, dst: u8, address: Address) {
        let operand = self.load(address);
        self.assembler.eor(r(dst), r(dst), operand);
    }

    #[inline(never)]
    pub(super) fn rotate_right(&mut self, dst: u8, src: u8) {
        self.assembler.ror_by(r(dst), r(dst), r(src));
    }

    #[inline(never)]
    pub(super) fn rotate_constant(&mut self, dst: u8, count: u8) {
        if count & 63 != 0 {
            self.assembler.ror(r(dst), r(dst), count);
        }
    }

    #[inline(never)]
    pub(super) fn rotate_left(&mut self, dst: u8, src: u8) {
        self.assembler.neg(T[0], r(src));
        self.assembler.ror_by(r(dst), r(dst), T[0]);
    }

    #[inline(never)]
    pub(super) fn swap(&mut self, dst: u8, src: u8) {
        self.assembler.mov(T[0], r(dst));
        self.assembler.mov(r(dst), r(src));
        self.assembler.mov(r(src), T[0]);
    }

    #[inline(never)]
    pub(super) fn swap_halves(&mut self, register: Neon) {
        self.assembler.swap_halves(register, register);
    }

    #[inline(never)]
    pub(super) fn float_add(&mut self, dst: u8, src: u8) {
        self.assembler.fadd(f(dst), f(dst), a(src));
    }

    #[inline(never)]
    pub(super) fn float_add_memory(&mut self, dst: u8, address: Address) {
        self.load_converted(address);
        self.assembler.fadd(f(dst), f(dst), CONVERTED);
    }

    #[inline(never)]
    pub(super) fn float_subtract(&mut self, dst: u8, src: u8) {
        self.assembler.fsub(f(dst), f(dst), a(src));
    }

    #[inline(never)]
    pub(super) fn float_subtract_memory(&mut self, dst: u8, address: Address) {
        self.load_converted(address);
        self.assembler.fsub(f(dst), f(dst), CONVERTED);
    }

    #[inline(never)]
    pub(super) fn float_scale(&mut self, dst: u8) {
        self.assembler.eor_v(f(dst), f(dst), SCALE);
    }

    #[inline(never)]
    pub(super) fn float_multiply(&mut self, dst: u8, src: u8) {
        self.assembler.fmul(e(dst), e(dst), a(src));
    }

    #[inline(never)]
    pub(super) fn float_divide_memory(&mut self, dst: u8, address: Address) {
        self.load_converted(address);
        self.assembler.bif(CONVERTED, E_MASK, E_CONVERTED);
        self.assembler.fdiv(e(dst), e(dst), CONVERTED);
    }

    #[inline(never)]
    pub(super) fn float_square_root(&mut self, dst: u8) {
        self.assembler.fsqrt(e(dst), e(dst));
    }

    #[inline(never)]
    pub(super) fn branch(&mut self, dst: u8, constant: i32, shift: u8, target: u16) {
        self.assembler.add_value(r(dst), r(dst), i64::from(constant), T[0]);
        self.assembler.tst_mask(r(dst), CONDITION << (shift & 31));
        self.assembler.b_if_back(Condition::Zero, self.positions[usize::from(target)]);
    }

    #[inline(never)]
    pub(super) fn set_rounding_mode(&mut self, src: u8, count: u8, gate: u8) {
        // Rotates the two bits of `fprc` to where their reversal puts them into FPCR.
        const PLACE: u8 = 62 - ROUNDING_MODE;
        let mode = T[0];
        self.assembler.ror(mode, r(src), count.wrapping_sub(PLACE) & 63);
        let skipped = (gate != 0).then(|| self.assembler.label());
        if let Some(skipped) = skipped {
            self.assembler.tst_mask(mode, u64::from(gate) << PLACE);
            self.assembler.b_if(Condition::NotZero, skipped);
        }
        self.assembler.rbit(mode, mode);
        self.assembler.and_mask(mode, mode, 3 << ROUNDING_MODE);
        self.assembler.write_fpcr(mode);
        if let Some(skipped) = skipped {
            self.assembler.bind(skipped);
        }
    }

    #[inline(never)]
    pub(super) fn store(&mut self, src: u8, address: Address) {
        match self.locate(address) {
            Place::Offset(base, offset) => self.assembler.str(r(src), base, offset),
            Place::Indexed => self.assembler.str_indexed(r(src), SCRATCHPAD, ADDRESS),
        }
    }
}

impl Body<'_> {
    /// Emits a load of 8 bytes, and returns their register.
    fn load(&mut self, address: Address) -> Gpr {
        match self.locate(address) {
            Place::Offset(base, offset) => self.assembler.ldr(ADDRESS, base, offset),
            Place::Indexed => self.assembler.ldr_indexed(ADDRESS, SCRATCHPAD, ADDRESS),
        }
        ADDRESS
    }

    /// Emits a load of two integers as doubles, into [`CONVERTED`].
    fn load_converted(&mut self, address: Address) {
        match self.locate(address) {
            Place::Offset(base, offset) => self.assembler.ldr_d(CONVERTED, base, offset),
            Place::Indexed => self.assembler.ldr_d_indexed(CONVERTED, SCRATCHPAD, ADDRESS),
        }
        self.assembler.sxtl(CONVERTED, CONVERTED);
        self.assembler.scvtf(CONVERTED, CONVERTED);
    }

    /// Emits the computation of a scratchpad address.
    fn locate(&mut self, address: Address) -> Place {
        if address.register == ZERO_REGISTER {
            const REACH: u32 = 1 << 12;
            let offset = address.offset & address.mask;
            let (upper, lower) = (offset & !(REACH - 1), offset & (REACH - 1));
            if offset < 8 * REACH {
                return Place::Offset(SCRATCHPAD, offset as usize);
            }
            self.assembler.add_value(ADDRESS, SCRATCHPAD, i64::from(upper), ADDRESS);
            return Place::Offset(ADDRESS, lower as usize);
        }
        let base = r(address.register);
        match shortest(address.offset, address.mask) {
            0 => self.assembler.and_mask32(ADDRESS, base, address.mask),
            offset => {
                self.assembler.add_value32(ADDRESS, base, offset);
                self.assembler.and_mask32(ADDRESS, ADDRESS, address.mask);
            }
        }
        Place::Indexed
    }
}

/// Returns a number that changes the masked bits of a sum as `offset` does, and that takes the fewest
/// instructions to add.
fn shortest(offset: u32, mask: u32) -> i32 {
    // Lower bits matter for their carry.
    let modulus = (mask | 7) + 1;
    let positive = (offset % modulus) as i32;
    let negative = positive - modulus as i32;
    let additions = |value: i32| {
        let magnitude = value.unsigned_abs();
        u32::from(magnitude & 0xfff != 0) + u32::from(magnitude >> 12 != 0)
    };
    if additions(negative) < additions(positive) { negative } else { positive }
}
