//! High halves of 64-bit products (specification 5.2.5), in scalar and in vectorisable form.

/// Returns the high half of the unsigned product.
#[inline(always)]
pub(crate) fn multiply_high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// Returns the high half of the unsigned product, from four 32-bit products, which vector units
/// have.
#[inline(always)]
pub(crate) fn multiply_high_in_parts(a: u64, b: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    let (a0, a1, b0, b1) = (a & LOW, a >> 32, b & LOW, b >> 32);
    let middle = a1 * b0 + ((a0 * b0) >> 32);
    a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & LOW)) >> 32)
}

/// Returns the unsigned high half minus the signed one: each negative factor contributes the
/// other factor.
#[inline(always)]
pub(crate) fn signed_excess(a: u64, b: u64) -> u64 {
    (negative(a) & b).wrapping_add(negative(b) & a)
}

/// Returns all ones for a negative number, else zero.
#[inline(always)]
fn negative(x: u64) -> u64 {
    (x as i64 >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_halves_are_those_of_128_bits() {
        let edges =
            [0, 1, 2, 0xffff_ffff, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX, 0x1234_5678_9abc_def0];
        for a in edges {
            for b in edges {
                let signed = (i128::from(a as i64) * i128::from(b as i64)) >> 64;
                assert_eq!(multiply_high_in_parts(a, b), multiply_high(a, b));
                assert_eq!(multiply_high(a, b).wrapping_sub(signed_excess(a, b)), signed as u64);
            }
        }
    }
}
