//! Ranges of heights.

use std::ops::RangeInclusive;

use crate::error::Error;

/// Returns the range from one height to another, which a chain with this tip must have.
pub fn heights(first: u64, last: u64, tip: u64) -> Result<RangeInclusive<u64>, Error> {
    if last > tip {
        return Err(Error::ChainEnds { tip, to: last });
    }
    if first > last {
        return Err(Error::Range { first, last });
    }
    Ok(first..=last)
}
