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
    high_of_halves::<32>(a, b)
}

/// Returns the high half of a product of numbers of `2 * HALF` bits, from four products of halves.
///
/// No sum exceeds `2 * HALF` bits: a product of halves plus two more halves fits.
#[inline(always)]
fn high_of_halves<const HALF: u32>(a: u64, b: u64) -> u64 {
    let low = (1 << HALF) - 1;
    let (a0, a1, b0, b1) = (a & low, a >> HALF, b & low, b >> HALF);
    let middle = a1 * b0 + ((a0 * b0) >> HALF);
    a1 * b1 + (middle >> HALF) + ((a0 * b1 + (middle & low)) >> HALF)
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

    /// All numbers of 2 to 12 bits, and in the full tests of 14 and 16.
    #[test]
    fn halves_make_the_high_half_of_every_product() {
        fn all<const HALF: u32>() {
            // In so few bits a sum that is too large would show in the result.
            for a in 0..1 << (2 * HALF) {
                for b in 0..1 << (2 * HALF) {
                    assert_eq!(high_of_halves::<HALF>(a, b), (a * b) >> (2 * HALF), "{a} * {b}");
                }
            }
        }
        all::<1>();
        all::<2>();
        all::<3>();
        all::<4>();
        all::<5>();
        all::<6>();
        if randomx_testing::is_full() {
            all::<7>();
            all::<8>();
        }
    }

    #[test]
    fn no_sum_of_halves_exceeds_the_width() {
        for half in 1..=32 {
            let most = (1_u128 << half) - 1;
            assert!(most * most + 2 * most < 1 << (2 * half), "{half} bits");
        }
    }

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
