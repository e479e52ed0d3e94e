//! Checks of arguments from JavaScript, which are copied into wasm memory.

use crate::error::Failure;
use crate::text::{digits, entry};
use js_sys::{Uint8Array, Uint32Array};
use randomx::params::DATASET_ITEMS;
use randomx::{HASH_SIZE, Version};

/// The limit for the bytes of a key or an input: 1 MiB.
const MAX_BYTES: usize = 1 << 20;

/// The limit for the dataset items of one call: 4 MiB of them.
const MAX_ITEMS: u32 = 1 << 16;

/// The largest integer that a JavaScript number holds exactly: 2^53 - 1.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Returns a copy of at most 1 MiB.
///
/// The length is checked before memory is allocated. A failed allocation is an error, not a trap.
pub(crate) fn bytes(name: &str, array: &Uint8Array) -> Result<Vec<u8>, Failure> {
    let length = at_most(name, array, MAX_BYTES)?;
    let mut copy = Vec::new();
    reserve(name, &mut copy, length)?;
    copy_into(&mut copy, array, length);
    Ok(copy)
}

fn at_most(name: &str, array: &Uint8Array, limit: usize) -> Result<usize, Failure> {
    let length = array.length() as usize;
    if length > limit {
        let expected = ["at most ", &digits(limit as f64), " bytes"].concat();
        return Err(Failure::unexpected(name, &expected, &(digits(length as f64) + " bytes")));
    }
    Ok(length)
}

fn reserve(name: &str, bytes: &mut Vec<u8>, capacity: usize) -> Result<(), Failure> {
    let more = capacity.saturating_sub(bytes.len());
    bytes.try_reserve_exact(more).map_err(|_| {
        let capacity = digits(capacity as f64);
        Failure::OutOfMemory([name, ": no memory for ", &capacity, " bytes"].concat())
    })
}

fn copy_into(bytes: &mut Vec<u8>, array: &Uint8Array, length: usize) {
    bytes.resize(length, 0);
    array.copy_to(bytes);
}

/// Returns a hash of 32 bytes.
pub(crate) fn hash(name: &str, array: &Uint8Array) -> Result<[u8; HASH_SIZE], Failure> {
    let length = array.length() as usize;
    if length != HASH_SIZE {
        return Err(Failure::unexpected(name, "32 bytes", &(digits(length as f64) + " bytes")));
    }
    let mut copy = [0; HASH_SIZE];
    array.copy_to(&mut copy);
    Ok(copy)
}

/// Returns version 1 or 2. Takes the number as it is, because a conversion would turn 257 into 1.
pub(crate) fn version(name: &str, number: f64) -> Result<Version, Failure> {
    if number == 1.0 {
        Ok(Version::V1)
    } else if number == 2.0 {
        Ok(Version::V2)
    } else {
        Err(Failure::unexpected(name, "1 or 2", &digits(number)))
    }
}

/// Returns a whole number from 0 to 2^53 - 1.
pub(crate) fn whole(name: &str, number: f64) -> Result<u64, Failure> {
    if (0.0..=MAX_SAFE_INTEGER).contains(&number) && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err(Failure::unexpected(name, "a whole number from 0 to 2^53 - 1", &digits(number)))
    }
}

/// Returns numbers of dataset items, at most 65,536.
pub(crate) fn item_numbers(name: &str, array: &Uint32Array) -> Result<Vec<u32>, Failure> {
    let length = array.length();
    if length > MAX_ITEMS {
        return Err(Failure::unexpected(name, "at most 65536 numbers", &digits(length.into())));
    }
    let numbers = array.to_vec();
    match numbers.iter().position(|&number| number >= DATASET_ITEMS) {
        Some(index) => {
            let expected = String::from("less than ") + &digits(DATASET_ITEMS.into());
            Err(Failure::unexpected(&entry(name, index), &expected, &digits(numbers[index].into())))
        }
        None => Ok(numbers),
    }
}
