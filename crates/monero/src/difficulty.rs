//! Difficulty: the average number of hashes that a proof of work takes.

use std::{error, fmt, str::FromStr};

use ruint::aliases::U256;

/// The number of decimal digits of 2^256 - 1.
const MAX_DIGITS: usize = 78;

/// A difficulty between 1 and 2^256 - 1.
///
/// Parses from decimal digits (`"716071628829".parse()`, leading zeros allowed, nothing else)
/// and displays as decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Difficulty(U256);

impl Difficulty {
    /// Whether `hash` meets the difficulty: as a 256-bit little-endian integer, times the
    /// difficulty, it is below 2^256.
    pub fn is_met_by(&self, hash: &[u8; 32]) -> bool {
        U256::from_le_bytes(*hash).checked_mul(self.0).is_some()
    }

    /// Returns the difficulty as a number, or `None` above 128 bits, which no Monero block reaches.
    pub fn as_u128(&self) -> Option<u128> {
        u128::try_from(self.0).ok()
    }
}

impl TryFrom<u128> for Difficulty {
    type Error = DifficultyError;

    /// Fails for zero.
    fn try_from(difficulty: u128) -> Result<Self, DifficultyError> {
        match difficulty {
            0 => Err(DifficultyError::Zero),
            _ => Ok(Self(U256::from(difficulty))),
        }
    }
}

impl FromStr for Difficulty {
    type Err = DifficultyError;

    fn from_str(text: &str) -> Result<Self, DifficultyError> {
        if text.is_empty() {
            return Err(DifficultyError::Empty);
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DifficultyError::NotDecimal);
        }
        let digits = text.trim_start_matches('0');
        if digits.is_empty() {
            return Err(DifficultyError::Zero);
        }
        if digits.len() > MAX_DIGITS {
            return Err(DifficultyError::TooLarge);
        }
        // Only an overflow can fail here.
        let value = U256::from_str_radix(digits, 10).map_err(|_| DifficultyError::TooLarge)?;
        Ok(Difficulty(value))
    }
}

impl fmt::Display for Difficulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The reason why a text is not a difficulty. Messages follow the name of the argument:
/// `difficulty: expected at least 1, got 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifficultyError {
    /// The text is empty.
    Empty,
    /// The text has other characters than the digits 0 to 9.
    NotDecimal,
    /// The number is zero.
    Zero,
    /// The number is 2^256 or more.
    TooLarge,
}

impl fmt::Display for DifficultyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "expected decimal digits, got nothing",
            Self::NotDecimal => "expected only decimal digits (no sign, fraction or exponent)",
            Self::Zero => "expected at least 1, got 0",
            Self::TooLarge => "expected at most 2^256 - 1, got more",
        })
    }
}

impl error::Error for DifficultyError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^256 - 1 and 2^256.
    const MAX: &str =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    const OVER: &str =
        "115792089237316195423570985008687907853269984665640564039457584007913129639936";

    fn difficulty(text: &str) -> Difficulty {
        text.parse().expect(text)
    }

    /// The hash whose little-endian value is `value`.
    fn hash(value: U256) -> [u8; 32] {
        value.to_le_bytes()
    }

    #[test]
    fn every_hash_meets_one() {
        let one = difficulty("1");
        assert!(one.is_met_by(&[0; 32]));
        assert!(one.is_met_by(&[0xff; 32]));
    }

    #[test]
    fn the_zero_hash_meets_every_difficulty() {
        for text in ["1", "2", "716071628829", MAX] {
            assert!(difficulty(text).is_met_by(&[0; 32]), "{text}");
        }
    }

    #[test]
    fn only_zero_and_one_meet_the_greatest_difficulty() {
        let greatest = difficulty(MAX);
        assert!(greatest.is_met_by(&hash(U256::from(1))));
        assert!(!greatest.is_met_by(&hash(U256::from(2))));
        assert!(!greatest.is_met_by(&[0xff; 32]));
    }

    #[test]
    fn a_product_of_exactly_two_to_the_256_does_not_meet() {
        for power in 1..256_usize {
            let two = U256::from(2);
            let difficulty = Difficulty(two.pow(U256::from(power)));
            let edge = two.pow(U256::from(256 - power));
            assert!(!difficulty.is_met_by(&hash(edge)), "2^{power}");
            assert!(difficulty.is_met_by(&hash(edge - U256::from(1))), "2^{power}");
        }
    }

    #[test]
    fn the_edge_is_the_quotient_for_any_difficulty() {
        // hash * d < 2^256 exactly when hash <= (2^256 - 1) / d.
        for text in ["2", "3", "7", "1000", "716071628829", "18446744073709551615"] {
            let difficulty = difficulty(text);
            let edge = U256::MAX / difficulty.0;
            assert!(difficulty.is_met_by(&hash(edge)), "{text}");
            assert!(!difficulty.is_met_by(&hash(edge + U256::from(1))), "{text}");
        }
    }

    #[test]
    fn the_hash_is_little_endian() {
        let mut small = [0; 32];
        small[0] = 0xff;
        let mut large = [0; 32];
        large[31] = 0xff;
        let two = difficulty("2");
        assert!(two.is_met_by(&small));
        assert!(!two.is_met_by(&large));
    }

    #[test]
    fn parses_and_displays_the_whole_range() {
        for text in ["1", "9", "10", "18446744073709551616", MAX] {
            assert_eq!(difficulty(text).to_string(), text);
        }
        assert_eq!(difficulty("0001"), difficulty("1"));
        assert_eq!(difficulty(&format!("{}{MAX}", "0".repeat(1000))).to_string(), MAX);
    }

    #[test]
    fn numbers_convert_both_ways() {
        for number in [1, u128::from(u64::MAX) + 1, u128::MAX] {
            assert_eq!(Difficulty::try_from(number).map(|d| d.as_u128()), Ok(Some(number)));
        }
        assert_eq!(Difficulty::try_from(0), Err(DifficultyError::Zero));
        assert_eq!(difficulty(MAX).as_u128(), None);
    }

    #[test]
    fn other_texts_are_refused() {
        let cases = [
            ("", DifficultyError::Empty),
            ("0", DifficultyError::Zero),
            ("000", DifficultyError::Zero),
            ("-1", DifficultyError::NotDecimal),
            ("+1", DifficultyError::NotDecimal),
            ("1.5", DifficultyError::NotDecimal),
            ("1e3", DifficultyError::NotDecimal),
            ("0x10", DifficultyError::NotDecimal),
            ("1_000", DifficultyError::NotDecimal),
            (" 1", DifficultyError::NotDecimal),
            ("1\n", DifficultyError::NotDecimal),
            ("١", DifficultyError::NotDecimal),
            ("NaN", DifficultyError::NotDecimal),
            (OVER, DifficultyError::TooLarge),
            (&"9".repeat(78), DifficultyError::TooLarge),
            (&"9".repeat(79), DifficultyError::TooLarge),
            (&"9".repeat(1 << 20), DifficultyError::TooLarge),
        ];
        for (text, error) in cases {
            assert_eq!(text.parse::<Difficulty>(), Err(error), "{:.90}", text);
        }
    }
}
