//! Arguments as JavaScript hands them over, checked and copied into wasm memory.

use crate::error::Failure;
use js_sys::Uint8Array;
use randomx::{HASH_SIZE, Version};

/// The longest key or input, in bytes: 1 MiB.
const MAX_BYTES: usize = 1 << 20;

/// The largest integer that a JavaScript number holds exactly: 2^53 - 1.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// A copy of at most 1 MiB.
///
/// The length is read before any memory is taken, and memory that is not to be had is an
/// error, not a trap.
pub(crate) fn bytes(name: &str, array: &Uint8Array) -> Result<Vec<u8>, Failure> {
    let length = array.length() as usize;
    if length > MAX_BYTES {
        return Err(Failure::InvalidArgument(format!(
            "{name}: expected at most {MAX_BYTES} bytes, got {length} bytes"
        )));
    }
    let mut copy = Vec::new();
    copy.try_reserve_exact(length)
        .map_err(|_| Failure::OutOfMemory(format!("{name}: no memory for {length} bytes")))?;
    copy.resize(length, 0);
    array.copy_to(&mut copy);
    Ok(copy)
}

/// A hash of 32 bytes.
pub(crate) fn hash(name: &str, array: &Uint8Array) -> Result<[u8; HASH_SIZE], Failure> {
    let length = array.length() as usize;
    if length != HASH_SIZE {
        return Err(Failure::InvalidArgument(format!(
            "{name}: expected {HASH_SIZE} bytes, got {length} bytes"
        )));
    }
    let mut copy = [0; HASH_SIZE];
    array.copy_to(&mut copy);
    Ok(copy)
}

/// Version 1 or 2. A number of any other value stays one: no wrapping of 257 to 1.
pub(crate) fn version(name: &str, number: f64) -> Result<Version, Failure> {
    if number == 1.0 {
        Ok(Version::V1)
    } else if number == 2.0 {
        Ok(Version::V2)
    } else {
        Err(Failure::InvalidArgument(format!("{name}: expected 1 or 2, got {number}")))
    }
}

/// A whole number from 0 to 2^53 - 1.
pub(crate) fn whole(name: &str, number: f64) -> Result<u64, Failure> {
    if number >= 0.0 && number <= MAX_SAFE_INTEGER && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err(Failure::InvalidArgument(format!(
            "{name}: expected a whole number from 0 to 2^53 - 1, got {number}"
        )))
    }
}
