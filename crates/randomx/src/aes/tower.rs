//! GF(2^8) as pairs of elements of GF(2^4), in tables of 16 bytes.
//!
//! GF(2^4) consists of the polynomials in z modulo z^4 + z + 1. `T` is a root of t^2 + A t + A,
//! which has no root in GF(2^4). So every element of GF(2^8) is `i T + k`, which is here the byte
//! `16 i + k`. Its inverse is `(k + A i + i T) / d` with `d = k^2 + A i k + A i^2`. With
//! `j = i + k`,
//!
//! ```text
//! p = j + 1 / (1 / i + A / k)    is    d / (k + A i),
//! q = i + 1 / (1 / j + A / k)    is    d / (k + A i + A k),
//! ```
//!
//! and the inverse is a linear function of `1 / p` and `1 / q`. `1 / 0` is [`INFINITY`], which any
//! sum preserves: a lookup beyond the end of a table returns zero, and so does `1 / INFINITY`.

use super::field::multiply;

/// A function of an element of GF(2^4).
pub(super) type Table = [u8; 16];

/// The parts of SubBytes, or of its inverse, before and after the inversion.
pub(super) struct Substitution {
    /// The pair of a byte is the sum of both nibbles' entries and `before`.
    pub(super) low: Table,
    pub(super) high: Table,
    pub(super) before: u8,
    /// The result is the sum of both entries and `after`.
    pub(super) from_p: Table,
    pub(super) from_q: Table,
    pub(super) after: u8,
}

pub(super) const FORWARD: Substitution = substitution(&identity(), &affine(), 0, 0x63);

pub(super) const INVERSE: Substitution =
    substitution(&inverse_affine(), &identity(), to_pair(apply(&inverse_affine(), 0x63)), 0);

/// `1 / x`.
pub(super) const ONE_OVER: Table = over(1);

/// `A / x`.
pub(super) const A_OVER: Table = over(A);

const INFINITY: u8 = 0x80;

/// An element `a` for which t^2 + a t + a has no root in GF(2^4).
const A: u8 = irreducible();

/// The element z in GF(2^8), a root of x^4 + x + 1.
const Z: u8 = root(1, 1, true);
/// A root of t^2 + A t + A in GF(2^8).
const T: u8 = root(embed(A), embed(A), false);

/// A linear function of bytes, as the images of the bits.
type Linear = [u8; 8];

const fn substitution(first: &Linear, last: &Linear, before: u8, after: u8) -> Substitution {
    let mut s = Substitution {
        low: [0; 16],
        high: [0; 16],
        before,
        from_p: [0; 16],
        from_q: [0; 16],
        after,
    };
    let square = small_multiply(A, A);
    let mut x = 0;
    while x < 16 {
        s.low[x] = to_pair(apply(first, x as u8));
        s.high[x] = to_pair(apply(first, (x as u8) << 4));
        if x > 0 {
            // k / d = (1 / p + 1 / q) / A and i / d = (1 / p + k / d) / A.
            let over = small_divide(1, x as u8);
            let low = over;
            let high = small_divide(over, A) ^ small_divide(over, square);
            s.from_p[x] = apply(last, from_pair(high << 4 | low));
            s.from_q[x] = apply(last, from_pair(small_divide(over, square) << 4));
        }
        x += 1;
    }
    s
}

const fn identity() -> Linear {
    let mut images = [0; 8];
    let mut bit = 0;
    while bit < 8 {
        images[bit] = 1 << bit;
        bit += 1;
    }
    images
}

/// Returns the linear part of the S-box (FIPS 197, 5.1.1).
const fn affine() -> Linear {
    let mut images = identity();
    let mut bit = 0;
    while bit < 8 {
        let x = images[bit];
        images[bit] = x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4);
        bit += 1;
    }
    images
}

const fn inverse_affine() -> Linear {
    let mut images = identity();
    let mut bit = 0;
    while bit < 8 {
        let x = images[bit];
        images[bit] = x.rotate_left(1) ^ x.rotate_left(3) ^ x.rotate_left(6);
        bit += 1;
    }
    images
}

const fn apply(linear: &Linear, x: u8) -> u8 {
    let mut sum = 0;
    let mut bit = 0;
    while bit < 8 {
        if x >> bit & 1 != 0 {
            sum ^= linear[bit];
        }
        bit += 1;
    }
    sum
}

const fn from_pair(pair: u8) -> u8 {
    multiply(embed(pair >> 4), T) ^ embed(pair & 15)
}

const fn to_pair(x: u8) -> u8 {
    let mut pair = 0;
    while from_pair(pair) != x {
        pair += 1;
    }
    pair
}

/// Returns the element of GF(2^8) that represents one of GF(2^4).
const fn embed(x: u8) -> u8 {
    let (mut sum, mut power) = (0, 1);
    let mut bit = 0;
    while bit < 4 {
        if x >> bit & 1 != 0 {
            sum ^= power;
        }
        power = multiply(power, Z);
        bit += 1;
    }
    sum
}

/// Returns a root in GF(2^8) of x^4 + b x + c or of x^2 + b x + c.
const fn root(b: u8, c: u8, fourth: bool) -> u8 {
    let mut x = 1;
    loop {
        let square = multiply(x, x);
        let power = if fourth { multiply(square, square) } else { square };
        if power ^ multiply(b, x) ^ c == 0 {
            return x;
        }
        x += 1;
    }
}

const fn irreducible() -> u8 {
    let mut a = 2;
    loop {
        let mut x = 0;
        while x < 16 && small_multiply(x, x) ^ small_multiply(a, x) ^ a != 0 {
            x += 1;
        }
        if x == 16 {
            return a;
        }
        a += 1;
    }
}

const fn over(numerator: u8) -> Table {
    let mut table = [INFINITY; 16];
    let mut x = 1;
    while x < 16 {
        table[x] = small_divide(numerator, x as u8);
        x += 1;
    }
    table
}

/// Returns the product in GF(2^4).
const fn small_multiply(a: u8, b: u8) -> u8 {
    let mut product = 0;
    let mut bit = 4;
    while bit > 0 {
        bit -= 1;
        product <<= 1;
        if product & 16 != 0 {
            product ^= 0b10011;
        }
        if b >> bit & 1 != 0 {
            product ^= a;
        }
    }
    product
}

/// Returns `a / b`; `b` must not be zero.
const fn small_divide(a: u8, b: u8) -> u8 {
    let mut quotient = 0;
    while small_multiply(quotient, b) != a {
        quotient += 1;
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aes::soft::{INVERSE_SBOX, SBOX};

    /// Substitutes one byte as the vector lookups do.
    fn substitute(s: &Substitution, byte: u8) -> u8 {
        let look_up = |table: &Table, at: u8| table.get(usize::from(at)).copied().unwrap_or(0);
        let pair = look_up(&s.low, byte & 15) ^ look_up(&s.high, byte >> 4) ^ s.before;
        let (i, k) = (pair >> 4, pair & 15);
        let quotient = look_up(&A_OVER, k);
        let invert = |at| look_up(&ONE_OVER, at);
        let p = invert(invert(i) ^ quotient) ^ i ^ k;
        let q = invert(invert(i ^ k) ^ quotient) ^ i;
        look_up(&s.from_p, p) ^ look_up(&s.from_q, q) ^ s.after
    }

    #[test]
    fn substitution_equals_the_s_box() {
        for byte in 0..=255 {
            assert_eq!(substitute(&FORWARD, byte), SBOX[usize::from(byte)]);
            assert_eq!(substitute(&INVERSE, byte), INVERSE_SBOX[usize::from(byte)]);
        }
    }
}
