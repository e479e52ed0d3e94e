//! Ranges of heights.

use std::ops::RangeInclusive;

use randomx_monero::MAX_HEIGHT;

use crate::error::Error;

/// Returns the range from one height to another, which a chain with this tip must have.
pub fn heights(first: u64, last: u64, tip: u64) -> Result<RangeInclusive<u64>, Error> {
    // The range is divided into epochs, which take memory.
    if tip > MAX_HEIGHT {
        return Err(Error::Tip { tip });
    }
    if last > tip {
        return Err(Error::ChainEnds { tip, to: last });
    }
    if first > last {
        return Err(Error::Range { first, last });
    }
    Ok(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_makes_a_range_endless() {
        assert_eq!(heights(1, MAX_HEIGHT, MAX_HEIGHT).ok(), Some(1..=MAX_HEIGHT));
        for tip in [MAX_HEIGHT + 1, 1 << 62, u64::MAX] {
            let refused = heights(1, tip - 10, tip);
            assert!(matches!(refused, Err(Error::Tip { tip: found }) if found == tip));
        }
    }
}
