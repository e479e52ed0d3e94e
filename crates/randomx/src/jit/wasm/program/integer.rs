//! Operations on integer registers (specification 5.2 and 5.5).

use super::Function;
use crate::jit::wasm::assembler::{Body, Local};
use crate::program::{Address, ZERO_REGISTER};

/// An operation of two operands on the stack.
type Binary = fn(&mut Body);

impl Function<'_> {
    #[inline(never)]
    pub(super) fn combine(&mut self, dst: u8, src: u8, operation: Binary) {
        self.body.local_get(self.r(dst));
        self.body.local_get(self.r(src));
        operation(self.body);
        self.body.local_set(self.r(dst));
    }

    #[inline(never)]
    pub(super) fn combine_constant(&mut self, dst: u8, constant: i64, operation: Binary) {
        self.body.local_get(self.r(dst));
        self.body.i64_const(constant);
        operation(self.body);
        self.body.local_set(self.r(dst));
    }

    #[inline(never)]
    pub(super) fn combine_memory(&mut self, dst: u8, address: Address, operation: Binary) {
        self.body.local_get(self.r(dst));
        let offset = self.locate(address);
        self.body.i64_load(offset);
        operation(self.body);
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
        self.high_product(dst, self.r(src), Body::i64_shr_u, Body::i64_mul_wide_u);
    }

    pub(super) fn multiply_high_signed(&mut self, dst: u8, src: u8) {
        self.high_product(dst, self.r(src), Body::i64_shr_s, Body::i64_mul_wide_s);
    }

    pub(super) fn multiply_high_memory(&mut self, dst: u8, address: Address) {
        let source = self.load_integer(address);
        self.high_product(dst, source, Body::i64_shr_u, Body::i64_mul_wide_u);
    }

    pub(super) fn multiply_high_signed_memory(&mut self, dst: u8, address: Address) {
        let source = self.load_integer(address);
        self.high_product(dst, source, Body::i64_shr_s, Body::i64_mul_wide_s);
    }

    /// The high half of a product. Of the halves that it is made of where there is no wide product,
    /// the upper ones have the sign, so that `shift` is the only difference that a sign makes.
    #[inline(never)]
    fn high_product(&mut self, dst: u8, source: Local, shift: Binary, wide: Binary) {
        let factor = self.r(dst);
        let body = &mut *self.body;
        if self.features.wide_arithmetic {
            body.local_get(factor);
            body.local_get(source);
            wide(body);
            body.local_set(factor);
            body.drop_();
            return;
        }
        let [factor_low, factor_high, source_low, source_high] = self.locals.halves;
        for (whole, low, high) in
            [(factor, factor_low, factor_high), (source, source_low, source_high)]
        {
            body.local_get(whole);
            low_half(body);
            body.local_set(low);
            body.local_get(whole);
            body.i64_const(32);
            shift(body);
            body.local_set(high);
        }
        let middle = self.locals.word;
        body.local_get(factor_high);
        body.local_get(source_low);
        body.i64_mul();
        body.local_get(factor_low);
        body.local_get(source_low);
        body.i64_mul();
        body.i64_const(32);
        body.i64_shr_u();
        body.i64_add();
        body.local_set(middle);

        body.local_get(factor_high);
        body.local_get(source_high);
        body.i64_mul();
        body.local_get(middle);
        body.i64_const(32);
        shift(body);
        body.i64_add();
        body.local_get(factor_low);
        body.local_get(source_high);
        body.i64_mul();
        body.local_get(middle);
        low_half(body);
        body.i64_add();
        body.i64_const(32);
        shift(body);
        body.i64_add();
        body.local_set(factor);
    }

    #[inline(never)]
    fn load_integer(&mut self, address: Address) -> Local {
        let offset = self.locate(address);
        self.body.i64_load(offset);
        self.body.local_set(self.locals.source);
        self.locals.source
    }

    /// Pushes an address in the scratchpad, and gives the offset from there.
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
        // Bits above those of the mask have no influence.
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

/// A move of 32 bits, which engines know to clear the others.
fn low_half(body: &mut Body) {
    body.i32_wrap_i64();
    body.i64_extend_i32_u();
}
