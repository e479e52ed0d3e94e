//! The code of operations on integer registers (specification 5.2 and 5.5).

use super::Function;
use crate::jit::wasm::assembler::{Body, Local};
use crate::jit::wasm::high_product::{self, Halves, SIGNED, Sign, UNSIGNED};
use crate::program::{Address, ZERO_REGISTER};

/// Emits an operation on the two operands on top of the stack.
type Binary = fn(&mut Body);

impl Function {
    #[inline(never)]
    pub(super) fn combine(&mut self, dst: u8, src: u8, operation: Binary) {
        self.body.local_get(self.r(dst));
        self.body.local_get(self.r(src));
        operation(&mut self.body);
        self.body.local_set(self.r(dst));
    }

    #[inline(never)]
    pub(super) fn combine_constant(&mut self, dst: u8, constant: i64, operation: Binary) {
        self.body.local_get(self.r(dst));
        self.body.i64_const(constant);
        operation(&mut self.body);
        self.body.local_set(self.r(dst));
    }

    #[inline(never)]
    pub(super) fn combine_memory(&mut self, dst: u8, address: Address, operation: Binary) {
        self.body.local_get(self.r(dst));
        let offset = self.locate(address);
        self.body.i64_load(offset);
        operation(&mut self.body);
        self.body.local_set(self.r(dst));
    }

    #[inline(never)]
    pub(super) fn add_shifted(&mut self, dst: u8, src: u8, shift: u8, constant: i32) {
        self.body.local_get(self.r(dst));
        self.body.local_get(self.r(src));
        if shift > 0 {
            self.body.i64_const(shift.into());
            self.body.i64_shl();
        }
        self.body.i64_add();
        if constant != 0 {
            self.body.i64_const(constant.into());
            self.body.i64_add();
        }
        self.body.local_set(self.r(dst));
    }

    /// Emits a rotation by a register as two shifts: `shift` in its direction, `back` in the other one. V8's first compiler
    /// would call a C++ function for a rotation, and save all registers. Counts of shifts are modulo 64.
    #[inline(never)]
    pub(super) fn rotate(&mut self, dst: u8, src: u8, shift: Binary, back: Binary) {
        let (dst, src) = (self.r(dst), self.r(src));
        self.body.local_get(dst);
        self.body.local_get(src);
        shift(&mut self.body);
        self.body.local_get(dst);
        self.body.i64_const(0);
        self.body.local_get(src);
        self.body.i64_sub();
        back(&mut self.body);
        self.body.i64_or();
        self.body.local_set(dst);
    }

    /// Emits a rotation to the right by a constant.
    pub(super) fn rotate_constant(&mut self, dst: u8, count: u8) {
        self.push_rotated(self.r(dst), count);
        self.body.local_set(self.r(dst));
    }

    /// Pushes a number, rotated to the right by `count`.
    #[inline(never)]
    pub(super) fn push_rotated(&mut self, number: Local, count: u8) {
        self.body.local_get(number);
        self.body.i64_const(count.into());
        self.body.i64_shr_u();
        self.body.local_get(number);
        self.body.i64_const(64 - i64::from(count));
        self.body.i64_shl();
        self.body.i64_or();
    }

    #[inline(never)]
    pub(super) fn negate(&mut self, dst: u8) {
        self.body.i64_const(0);
        self.body.local_get(self.r(dst));
        self.body.i64_sub();
        self.body.local_set(self.r(dst));
    }

    #[inline(never)]
    pub(super) fn swap(&mut self, dst: u8, src: u8) {
        self.body.local_get(self.r(dst));
        self.body.local_get(self.r(src));
        self.body.local_set(self.r(dst));
        self.body.local_set(self.r(src));
    }

    #[inline(never)]
    pub(super) fn store(&mut self, src: u8, address: Address) {
        let offset = self.locate(address);
        self.body.local_get(self.r(src));
        self.body.i64_store(offset);
    }

    pub(super) fn multiply_high(&mut self, dst: u8, src: u8) {
        self.high_product(dst, self.r(src), UNSIGNED);
    }

    pub(super) fn multiply_high_signed(&mut self, dst: u8, src: u8) {
        self.high_product(dst, self.r(src), SIGNED);
    }

    pub(super) fn multiply_high_memory(&mut self, dst: u8, address: Address) {
        let source = self.load_integer(address);
        self.high_product(dst, source, UNSIGNED);
    }

    pub(super) fn multiply_high_signed_memory(&mut self, dst: u8, address: Address) {
        let source = self.load_integer(address);
        self.high_product(dst, source, SIGNED);
    }

    fn high_product(&mut self, dst: u8, source: Local, sign: Sign) {
        let [low_dst, high_dst, low_src, high_src] = self.locals.halves;
        let halves = Halves {
            low: [low_dst, low_src],
            high: [high_dst, high_src],
            middle: self.locals.word,
        };
        let halves = (!self.features.wide_arithmetic).then_some(halves);
        let dst = self.r(dst);
        high_product::multiply(&mut self.body, dst, source, sign, halves);
    }

    #[inline(never)]
    fn load_integer(&mut self, address: Address) -> Local {
        let offset = self.locate(address);
        self.body.i64_load(offset);
        self.body.local_set(self.locals.source);
        self.locals.source
    }

    /// Pushes an address, and returns the constant offset to add to it in the load or store.
    #[inline(never)]
    pub(super) fn locate(&mut self, address: Address) -> u32 {
        let Address { register, offset, mask } = address;
        let scratchpad = self.locals.scratchpad;
        if register == ZERO_REGISTER {
            self.body.local_get(scratchpad);
            return offset & mask;
        }
        self.body.local_get(self.r(register));
        self.body.i32_wrap_i64();
        // Bits above the mask have no effect on the result.
        let offset = offset & (mask | 7);
        if offset != 0 {
            self.body.i32_const(offset as i32);
            self.body.i32_add();
        }
        self.body.i32_const(mask as i32);
        self.body.i32_and();
        self.body.local_get(scratchpad);
        self.body.i32_add();
        0
    }

    #[inline(always)]
    pub(super) fn r(&self, register: u8) -> Local {
        self.locals.r[usize::from(register & 7)]
    }
}
