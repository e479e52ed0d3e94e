//! The code of operations on floating point registers (specification 5.3).
//!
//! WebAssembly rounds to nearest. In functions for every mode, the sign of a result's exact error shows
//! whether the result is on the wrong side for the rounding mode. If so, it moves by one unit in the last
//! place, which is the integer 1 in its encoding. The modes differ only in data: see [`super::rounding`].

use super::Function;
use super::rounding::Rounding;
use crate::jit::wasm::assembler::{Body, Local};
use crate::program::{Address, SCALE_BITS};

impl Function {
    #[inline(never)]
    pub(super) fn swap_halves(&mut self, register: Local) {
        self.body.local_get(register);
        self.body.local_get(register);
        self.body.i8x16_shuffle([8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]);
        self.body.local_set(register);
    }

    #[inline(never)]
    pub(super) fn float_scale(&mut self, dst: u8) {
        let register = self.locals.f[usize::from(dst)];
        self.body.local_get(register);
        self.body.v128_const(u128::from(SCALE_BITS) << 64 | u128::from(SCALE_BITS));
        self.body.v128_xor();
        self.body.local_set(register);
    }

    pub(super) fn float_add(&mut self, dst: u8, src: u8) {
        self.sum(dst, self.summand(src), Body::f64x2_add, Body::f64x2_sub);
    }

    pub(super) fn float_sub(&mut self, dst: u8, src: u8) {
        self.sum(dst, self.summand(src), Body::f64x2_sub, Body::f64x2_add);
    }

    #[inline(never)]
    pub(super) fn float_add_memory(&mut self, dst: u8, address: Address) {
        let source = self.load_summand(address);
        self.sum(dst, source, Body::f64x2_add, Body::f64x2_sub);
    }

    #[inline(never)]
    pub(super) fn float_sub_memory(&mut self, dst: u8, address: Address) {
        let source = self.load_summand(address);
        self.sum(dst, source, Body::f64x2_sub, Body::f64x2_add);
    }

    #[inline(never)]
    pub(super) fn float_mul(&mut self, dst: u8, src: u8) {
        let factor = self.locals.e[usize::from(dst)];
        let source = self.locals.a[usize::from(src)];
        let product = self.locals.result;
        self.body.local_get(factor);
        self.body.local_get(source);
        self.body.f64x2_mul();
        if let Some(rounding) = &self.rounding {
            self.body.local_tee(product);
            rounding.errors.excess_of_product(&mut self.body, factor, source, src, product);
            rounding.correct(&mut self.body);
        }
        self.body.local_set(factor);
    }

    #[inline(never)]
    pub(super) fn float_div(&mut self, dst: u8, address: Address) {
        let numerator = self.locals.e[usize::from(dst)];
        let denominator = self.locals.operand;
        let quotient = self.locals.result;
        let offset = self.locate(address);
        self.load_group_e(offset);
        self.body.local_set(denominator);
        self.body.local_get(numerator);
        self.body.local_get(denominator);
        self.body.f64x2_div();
        if let Some(rounding) = &self.rounding {
            self.body.local_tee(quotient);
            rounding.errors.excess_of_quotient(&mut self.body, numerator, quotient, denominator);
            rounding.correct(&mut self.body);
        }
        self.body.local_set(numerator);
    }

    #[inline(never)]
    pub(super) fn float_sqrt(&mut self, dst: u8) {
        let square = self.locals.e[usize::from(dst)];
        let (root, mirrored) = (self.locals.operand, self.locals.result);
        self.body.local_get(square);
        if let Some(rounding) = &self.rounding {
            self.body.local_get(rounding.mirror_e);
            self.body.v128_xor();
            self.body.f64x2_sqrt();
            self.body.local_tee(root);
            self.body.local_get(rounding.mirror_e);
            self.body.v128_xor();
            self.body.local_tee(mirrored);
            rounding.errors.excess_of_root(&mut self.body, square, mirrored, root);
            rounding.correct(&mut self.body);
        } else {
            self.body.f64x2_sqrt();
        }
        self.body.local_set(square);
    }

    /// Pushes 8 bytes, converted to group F (specification 4.3.1).
    #[inline(never)]
    pub(super) fn load_group_f(&mut self, offset: u32) {
        self.body.v128_load64_zero(offset);
        self.body.f64x2_convert_low_i32x4_s();
    }

    /// Pushes 8 bytes, converted to group E (specification 4.3.2).
    pub(super) fn load_group_e(&mut self, offset: u32) {
        self.load_group_f(offset);
        self.body.local_get(self.locals.kept);
        self.body.v128_and();
        self.body.local_get(self.locals.e_mask);
        self.body.v128_or();
    }

    /// Returns a register of group A as an operand of sums.
    fn summand(&self, src: u8) -> Local {
        let a = self.rounding.as_ref().map_or(self.locals.a, |rounding| rounding.a_mirrored);
        a[usize::from(src)]
    }

    /// Loads an operand of sums.
    #[inline(never)]
    fn load_summand(&mut self, address: Address) -> Local {
        let offset = self.locate(address);
        self.load_group_f(offset);
        if let Some(rounding) = &self.rounding {
            self.body.local_get(rounding.mirror_f);
            self.body.v128_xor();
        }
        self.body.local_set(self.locals.operand);
        self.locals.operand
    }

    /// Emits a sum or difference.
    #[inline(never)]
    fn sum(&mut self, dst: u8, b: Local, operation: fn(&mut Body), inverse: fn(&mut Body)) {
        let a = self.locals.f[usize::from(dst)];
        let (sum, part) = (self.locals.result, self.locals.part);
        let body = &mut self.body;
        body.local_get(a);
        body.local_get(b);
        operation(body);
        if let Some(rounding) = &self.rounding {
            body.local_tee(sum);
            body.local_get(a);
            body.f64x2_sub();
            body.local_set(part);
            // The exact sum minus `sum`, by Knuth's TwoSum.
            body.local_get(a);
            body.local_get(sum);
            body.local_get(part);
            body.f64x2_sub();
            body.f64x2_sub();
            body.local_get(b);
            body.local_get(part);
            inverse(body);
            operation(body);
            rounding.correct_sum(body, sum);
        }
        body.local_set(a);
    }
}

impl Rounding {
    /// Pops the exact sum minus `sum`. Pushes the sum for the rounding mode.
    fn correct_sum(&self, body: &mut Body, sum: Local) {
        body.local_get(self.toward_zero);
        body.local_get(sum);
        body.v128_andnot();
        body.v128_xor();
        body.local_get(self.threshold);
        body.f64x2_gt();
        body.local_get(sum);
        body.v128_const(0);
        body.i64x2_lt_s();
        body.local_get(self.step_f);
        body.v128_or();
        body.v128_and();
        body.local_get(sum);
        body.i64x2_add();
    }

    /// Pops a result's excess over the exact value, then the result. Pushes the result for the rounding mode.
    #[inline(never)]
    fn correct(&self, body: &mut Body) {
        body.local_get(self.threshold);
        body.f64x2_gt();
        body.local_get(self.step_e);
        body.v128_and();
        body.i64x2_add();
    }
}
