//! Checks arguments from JavaScript and copies them into wasm memory.

use js_sys::Uint8Array;
use randomx::Version;

use crate::failure::Failure;

/// The longest key or input, in bytes: 1 MiB.
const MAX_BYTES: u32 = 1 << 20;

/// Copies at most 1 MiB.
pub(crate) fn bytes(name: &str, array: &Uint8Array) -> Result<Vec<u8>, Failure> {
    match array.length() {
        0..=MAX_BYTES => Ok(array.to_vec()),
        length => Err(Failure::InvalidArgument(format!(
            "{name}: expected at most {MAX_BYTES} bytes, got {length}"
        ))),
    }
}

/// Checks a version, 1 or 2.
pub(crate) fn version(name: &str, number: u32) -> Result<Version, Failure> {
    Version::try_from(u64::from(number))
        .map_err(|_| Failure::InvalidArgument(format!("{name}: expected 1 or 2, got {number}")))
}

/// Checks an index below `count`.
pub(crate) fn index(name: &str, number: u32, count: usize) -> Result<usize, Failure> {
    let index = number as usize;
    if index < count {
        return Ok(index);
    }
    let last = count - 1;
    Err(Failure::InvalidArgument(format!("{name}: expected 0 to {last}, got {number}")))
}
