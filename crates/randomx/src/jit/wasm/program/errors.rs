//! The excess of products, quotients and roots of group E over their exact values.
//!
//! The excess of mirrored operands is mirrored too. It is infinite if the result overflowed, since the
//! exact value is finite. It is NaN if an operand is infinite, which compares as no error.
//!
//! The excess has the right sign where the operands of group E are at least 2^-841. For the root of a smaller number,
//! parts of the excess would be below the least number, and without fused operations they are lost. Smaller numbers
//! take more than 586 divisions of one register in an iteration, so more than 195 instructions. A random program has as
//! many with a probability below 2^-1100. See [`crate::rounding`].

use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{Body, Local, Type};

/// Emits the excess: by a fused operation, or by exact products of halves.
pub(super) struct Errors {
    halves: Option<Halves>,
}

/// Variables for halves of numbers, whose products are exact (Dekker), where no operation is fused.
struct Halves {
    a: [Pair; 4],
    one: Pair,
    other: Pair,
    whole: Local,
    scale: Local,
    splitter: Local,
}

#[derive(Clone, Copy)]
struct Pair {
    high: Local,
    low: Local,
}

/// 2^-64: a number of group E scaled by it can be multiplied by one of group A, or split, without
/// overflow.
const SCALE: f64 = 1.0 / (1u128 << 64) as f64;
/// 2^27 + 1: splits a number into halves of 26 bits (Veltkamp).
const SPLITTER: f64 = 134_217_729.0;

impl Errors {
    pub(super) fn new(body: &mut Body, features: Features) -> Errors {
        Errors { halves: (!features.fused_multiply_add).then(|| Halves::new(body)) }
    }

    /// Emits constants.
    pub(super) fn set_constants(&self, body: &mut Body) {
        if let Some(halves) = &self.halves {
            halves.set_constants(body);
        }
    }

    /// Emits the splitting of group A.
    pub(super) fn split_a(&self, body: &mut Body, a: &[Local; 4]) {
        let Some(halves) = &self.halves else { return };
        for (&whole, pair) in a.iter().zip(halves.a) {
            halves.split(body, whole, pair);
        }
    }

    /// Returns the halves of group A.
    pub(super) fn a(&self) -> impl Iterator<Item = Local> {
        self.halves.iter().flat_map(|halves| halves.a.map(|pair| [pair.high, pair.low])).flatten()
    }

    /// Pushes `product - factor * a`, where `a` is register `src` of group A.
    #[inline(never)]
    pub(super) fn excess_of_product(
        &self,
        body: &mut Body,
        factor: Local,
        a: Local,
        src: u8,
        product: Local,
    ) {
        let Some(halves) = &self.halves else {
            body.local_get(factor);
            body.local_get(a);
            body.local_get(product);
            body.f64x2_relaxed_nmadd();
            return;
        };
        halves.split_scaled(body, factor, halves.one);
        body.local_get(product);
        halves.scale(body);
        halves.subtract_product(body, halves.one, halves.a[usize::from(src)]);
    }

    /// Pushes `quotient * denominator - numerator`.
    #[inline(never)]
    pub(super) fn excess_of_quotient(
        &self,
        body: &mut Body,
        numerator: Local,
        quotient: Local,
        denominator: Local,
    ) {
        let Some(halves) = &self.halves else {
            return fused_excess(body, numerator, quotient, denominator);
        };
        halves.split_scaled(body, quotient, halves.one);
        halves.split(body, denominator, halves.other);
        body.local_get(numerator);
        halves.scale(body);
        halves.subtract_product(body, halves.one, halves.other);
        body.f64x2_neg();
        // Infinity has no halves. For an infinite quotient, the excess is `quotient - numerator`.
        body.local_get(quotient);
        body.local_get(numerator);
        body.f64x2_sub();
        body.local_get(quotient);
        body.local_get(quotient);
        body.f64x2_sub();
        body.v128_const(0);
        body.f64x2_eq();
        body.v128_bitselect();
    }

    /// Pushes `mirrored * root - square`, where `mirrored` is `root`, negated while group E is mirrored.
    #[inline(never)]
    pub(super) fn excess_of_root(
        &self,
        body: &mut Body,
        square: Local,
        mirrored: Local,
        root: Local,
    ) {
        let Some(halves) = &self.halves else {
            return fused_excess(body, square, mirrored, root);
        };
        halves.split_scaled(body, mirrored, halves.one);
        halves.split_scaled(body, root, halves.other);
        body.local_get(square);
        halves.scale(body);
        halves.scale(body);
        halves.subtract_product(body, halves.one, halves.other);
        body.f64x2_neg();
    }
}

/// Pushes `one * other - of`.
fn fused_excess(body: &mut Body, of: Local, one: Local, other: Local) {
    body.local_get(one);
    body.local_get(other);
    body.local_get(of);
    body.f64x2_neg();
    body.f64x2_relaxed_madd();
}

impl Halves {
    fn new(body: &mut Body) -> Halves {
        let mut pair = || {
            let [high, low] = body.locals(Type::V128);
            Pair { high, low }
        };
        let (a, one, other) = ([(); 4].map(|()| pair()), pair(), pair());
        let [whole, scale, splitter] = body.locals(Type::V128);
        Halves { a, one, other, whole, scale, splitter }
    }

    fn set_constants(&self, body: &mut Body) {
        for (local, value) in [(self.scale, SCALE), (self.splitter, SPLITTER)] {
            let bits = u128::from(value.to_bits());
            body.v128_const(bits << 64 | bits);
            body.local_set(local);
        }
    }

    /// Scales the vector on top of the stack.
    fn scale(&self, body: &mut Body) {
        body.local_get(self.scale);
        body.f64x2_mul();
    }

    fn split_scaled(&self, body: &mut Body, whole: Local, into: Pair) {
        body.local_get(whole);
        self.scale(body);
        body.local_set(self.whole);
        self.split(body, self.whole, into);
    }

    #[inline(never)]
    fn split(&self, body: &mut Body, whole: Local, into: Pair) {
        body.local_get(whole);
        body.local_get(self.splitter);
        body.f64x2_mul();
        body.local_tee(into.high);
        body.local_get(into.high);
        body.local_get(whole);
        body.f64x2_sub();
        body.f64x2_sub();
        body.local_set(into.high);
        body.local_get(whole);
        body.local_get(into.high);
        body.f64x2_sub();
        body.local_set(into.low);
    }

    /// Subtracts a product from the vector on top of the stack, which is so close to it that every
    /// step is exact.
    #[inline(never)]
    fn subtract_product(&self, body: &mut Body, one: Pair, other: Pair) {
        for (one, other) in [
            (one.high, other.high),
            (one.high, other.low),
            (one.low, other.high),
            (one.low, other.low),
        ] {
            body.local_get(one);
            body.local_get(other);
            body.f64x2_mul();
            body.f64x2_sub();
        }
    }
}
