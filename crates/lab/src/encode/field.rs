//! Addition in the scalar field of BLS12-381, with plain numbers and in Montgomery form.

use super::Half;

/// Four words, the lowest first.
type Number = [u64; 4];

/// The number of elements.
const MODULUS: Number =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// The negative inverse of the modulus, modulo 2^64.
const NEGATIVE_INVERSE: u64 = {
    // Each step of Newton's method doubles the number of correct bits.
    let (mut inverse, mut step) = (1u64, 0);
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(MODULUS[0].wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
};

/// 2^512 modulo the modulus, the factor that converts a number to Montgomery form.
const R_SQUARED: Number = {
    let (mut power, mut step) = ([1, 0, 0, 0], 0);
    while step < 512 {
        power = sum(power, power);
        step += 1;
    }
    power
};

/// Whether the bytes are an element of the field.
pub(super) fn contains(bytes: &Half) -> bool {
    less(&number(bytes), &MODULUS)
}

/// Returns the sum of two elements.
pub(super) fn add(a: &Half, b: &Half) -> Half {
    bytes(sum(number(a), number(b)))
}

/// Returns the sum by way of Montgomery form, as general field libraries compute it.
pub(super) fn add_in_montgomery_form(a: &Half, b: &Half) -> Half {
    let [a, b] = [a, b].map(|bytes| multiply(&number(bytes), &R_SQUARED));
    bytes(multiply(&sum(a, b), &[1, 0, 0, 0]))
}

/// Returns the difference of two elements.
pub(super) fn subtract(a: &Half, b: &Half) -> Half {
    let (difference, borrow) = minus(number(a), number(b));
    bytes(if borrow { plus(difference, MODULUS).0 } else { difference })
}

const fn sum(a: Number, b: Number) -> Number {
    // Both are below 2^255, so the sum does not overflow.
    let (sum, _) = plus(a, b);
    let (reduced, borrow) = minus(sum, MODULUS);
    if borrow { sum } else { reduced }
}

/// Returns the product of two elements, divided by 2^256.
fn multiply(a: &Number, b: &Number) -> Number {
    let mut t = [0u64; 6];
    for &a in a {
        accumulate(&mut t, a, b);
        let factor = t[0].wrapping_mul(NEGATIVE_INVERSE);
        accumulate(&mut t, factor, &MODULUS);
        // The lowest word is now zero.
        t = [t[1], t[2], t[3], t[4], t[5], 0];
    }
    let product = [t[0], t[1], t[2], t[3]];
    let (reduced, borrow) = minus(product, MODULUS);
    if borrow { product } else { reduced }
}

/// Adds `factor` times `number` to `t`.
#[inline(always)]
fn accumulate(t: &mut [u64; 6], factor: u64, number: &Number) {
    let mut carry = 0;
    for (t, &word) in t.iter_mut().zip(number) {
        let wide = u128::from(factor) * u128::from(word) + u128::from(*t) + u128::from(carry);
        (*t, carry) = (wide as u64, (wide >> 64) as u64);
    }
    let (sum, carried) = t[4].overflowing_add(carry);
    (t[4], t[5]) = (sum, t[5] + u64::from(carried));
}

const fn plus(a: Number, b: Number) -> (Number, bool) {
    let (mut sum, mut carry, mut i) = ([0; 4], false, 0);
    while i < 4 {
        let (once, first) = a[i].overflowing_add(b[i]);
        let (twice, second) = once.overflowing_add(carry as u64);
        sum[i] = twice;
        carry = first | second;
        i += 1;
    }
    (sum, carry)
}

const fn minus(a: Number, b: Number) -> (Number, bool) {
    let (mut difference, mut borrow, mut i) = ([0; 4], false, 0);
    while i < 4 {
        let (once, first) = a[i].overflowing_sub(b[i]);
        let (twice, second) = once.overflowing_sub(borrow as u64);
        difference[i] = twice;
        borrow = first | second;
        i += 1;
    }
    (difference, borrow)
}

fn less(a: &Number, b: &Number) -> bool {
    minus(*a, *b).1
}

fn number(bytes: &Half) -> Number {
    bytemuck::must_cast::<_, [[u8; 8]; 4]>(*bytes).map(u64::from_le_bytes)
}

fn bytes(number: Number) -> Half {
    bytemuck::must_cast(number.map(u64::to_le_bytes))
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;
    use crate::randen::Randen;

    fn elements() -> Vec<Half> {
        let mut generator = Randen::default();
        let mut elements: Vec<Half> = (0..60)
            .map(|_| {
                let mut element = [0; 32];
                generator.fill_bytes(&mut element);
                element[31] &= 0x7f;
                element
            })
            .filter(contains)
            .collect();
        let largest = minus(MODULUS, [1, 0, 0, 0]).0;
        elements.extend([[0, 0, 0, 0], [1, 0, 0, 0], largest, [u64::MAX, 0, 0, 0]].map(bytes));
        elements
    }

    #[test]
    fn both_additions_agree() {
        let elements = elements();
        assert!(elements.len() > 40);
        for a in &elements {
            for b in &elements {
                let sum = add(a, b);
                assert_eq!(sum, add_in_montgomery_form(a, b));
                assert!(contains(&sum));
                assert_eq!(subtract(&sum, b), *a);
                assert_eq!(sum, add(b, a));
            }
        }
    }

    #[test]
    fn sums_are_reduced() {
        let largest = bytes(minus(MODULUS, [1, 0, 0, 0]).0);
        let one = bytes([1, 0, 0, 0]);
        assert_eq!(add(&largest, &one), [0; 32]);
        assert_eq!(subtract(&[0; 32], &one), largest);
        assert!(!contains(&bytes(MODULUS)));
        assert!(!contains(&[0xff; 32]));
        // 3 * 5 = 15 with Montgomery products.
        let [three, five] = [3, 5].map(|n| multiply(&[n, 0, 0, 0], &R_SQUARED));
        assert_eq!(multiply(&multiply(&three, &five), &[1, 0, 0, 0]), [15, 0, 0, 0]);
    }
}
