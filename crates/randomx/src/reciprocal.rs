//! The reciprocal of IMUL_RCP (specification 5.2.6).

/// Returns `2^x / divisor` for the largest `x` that keeps the quotient below 2^64, or `None` where
/// IMUL_RCP is a no-op: for zero and for powers of two.
pub const fn reciprocal(divisor: u32) -> Option<u64> {
    if !has_reciprocal(divisor) {
        return None;
    }
    // The divisor has `bits` significant bits, so 2^(63 + bits) / divisor lies in [2^63, 2^64).
    // Two divisions of 64 bits are much faster than one of 128.
    let bits = 32 - divisor.leading_zeros();
    let (divisor, half) = (divisor as u64, 1u64 << 63);
    Some(((half / divisor) << bits) + ((half % divisor) << bits) / divisor)
}

/// Returns whether `divisor` has a [`reciprocal`], found without a division.
pub(crate) const fn has_reciprocal(divisor: u32) -> bool {
    divisor != 0 && !divisor.is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all divisors in the full tests, and for a thousandth of them in the quick ones.
    #[test]
    fn no_other_quotient_fits_any_divisor() {
        let step = randomx_testing::amount(1009, 1);
        // Unlike a range that includes its end, this one is counted before the loop.
        for divisor in (0..1u64 << 32).step_by(step).map(|divisor| divisor as u32) {
            let Some(quotient) = reciprocal(divisor) else {
                assert!(divisor.count_ones() <= 1, "{divisor}");
                continue;
            };
            assert!(quotient >= 1 << 63 && divisor.count_ones() > 1, "{divisor}");
            // 2^x / divisor, rounded down, where x is the greatest that keeps it below 2^64.
            let power = 1u128 << (95 - divisor.leading_zeros());
            let rest = power - u128::from(quotient) * u128::from(divisor);
            assert!(rest < u128::from(divisor), "{divisor}");
        }
    }

    #[test]
    fn reciprocals_are_quotients() {
        let mut divisors: Vec<u32> = (0..2000).chain(u32::MAX - 2000..=u32::MAX).collect();
        divisors.extend((0..32).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]));
        divisors.extend((0..100_000u32).map(|i| i.wrapping_mul(2_654_435_761)));
        for divisor in divisors {
            let expected = (divisor.count_ones() > 1).then(|| {
                let bits = 32 - divisor.leading_zeros();
                ((1u128 << (63 + bits)) / u128::from(divisor)) as u64
            });
            assert_eq!(reciprocal(divisor), expected, "{divisor}");
        }
    }
}
