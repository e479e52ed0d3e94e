//! Pairs of doubles in plain Rust.

#[cfg_attr(test, allow(dead_code, reason = "the oracle of another implementation"))]
pub(super) const NAME: &str = "portable";

pub(super) type Vector = [f64; 2];

pub(super) const ZERO: Vector = [0.0; 2];

pub(super) fn from_bits(bits: [u64; 2]) -> Vector {
    bits.map(f64::from_bits)
}

pub(super) fn to_bits(a: Vector) -> [u64; 2] {
    a.map(f64::to_bits)
}

pub(super) fn from_integers(integers: u64) -> Vector {
    [f64::from(integers as i32), f64::from((integers >> 32) as i32)]
}

pub(super) fn swap(a: Vector) -> Vector {
    [a[1], a[0]]
}

pub(super) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1]]
}

pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn mul(a: Vector, b: Vector) -> Vector {
    [a[0] * b[0], a[1] * b[1]]
}

pub(super) fn div(a: Vector, b: Vector) -> Vector {
    [a[0] / b[0], a[1] / b[1]]
}

pub(super) fn sqrt(a: Vector) -> Vector {
    a.map(f64::sqrt)
}

pub(super) fn less_than(a: Vector, b: Vector) -> Vector {
    let mask = |less: bool| f64::from_bits(if less { u64::MAX } else { 0 });
    [mask(a[0] < b[0]), mask(a[1] < b[1])]
}

pub(super) fn and(a: Vector, b: Vector) -> Vector {
    bitwise(a, b, |a, b| a & b)
}

pub(super) fn or(a: Vector, b: Vector) -> Vector {
    bitwise(a, b, |a, b| a | b)
}

pub(super) fn xor(a: Vector, b: Vector) -> Vector {
    bitwise(a, b, |a, b| a ^ b)
}

pub(super) fn add_bits(a: Vector, b: Vector) -> Vector {
    bitwise(a, b, u64::wrapping_add)
}

pub(super) fn sub_bits(a: Vector, b: Vector) -> Vector {
    bitwise(a, b, u64::wrapping_sub)
}

fn bitwise(a: Vector, b: Vector, f: impl Fn(u64, u64) -> u64) -> Vector {
    [0, 1].map(|i| f64::from_bits(f(a[i].to_bits(), b[i].to_bits())))
}
