//! The reciprocal of IMUL_RCP (specification 5.2.6).

/// `2^x / divisor` for the largest `x` that keeps the quotient below 2^64, or `None` where
/// IMUL_RCP is a no-op: `divisor` zero or a power of two.
pub const fn reciprocal(divisor: u32) -> Option<u64> {
    if !has_reciprocal(divisor) {
        return None;
    }
    // The divisor has `bits` significant bits, so 2^(63 + bits) / divisor lies in [2^63, 2^64).
    let bits = 32 - divisor.leading_zeros();
    Some(((1u128 << (63 + bits)) / divisor as u128) as u64)
}

/// Whether there is a [`reciprocal`]: no division is needed to know.
pub(crate) const fn has_reciprocal(divisor: u32) -> bool {
    divisor != 0 && !divisor.is_power_of_two()
}
