//! Checks of arguments from JavaScript, which are copied into wasm memory.

use js_sys::{Array, Error, Float64Array, Reflect, Uint8Array};
use randomx_monero::{Checkpoint, Difficulty, Hash, Network, RecentBlock, Seed};
use wasm_bindgen::JsValue;

/// The limit for a block blob in bytes: room for the hashes of 32,000 transactions.
const MAX_BYTES: u32 = 1 << 20;

/// The limit for the entries of a checkpoint's list.
const MAX_ENTRIES: u32 = randomx_monero::DIFFICULTY_BLOCKS as u32;

/// The largest integer that a JavaScript number holds exactly: 2^53 - 1.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The error that is thrown. Its message names the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidArgument(String);

impl InvalidArgument {
    pub(crate) fn new(name: &str, complaint: impl std::fmt::Display) -> Self {
        Self(format!("{name}: {complaint}"))
    }
}

impl From<InvalidArgument> for JsValue {
    fn from(InvalidArgument(message): InvalidArgument) -> Self {
        let error = Error::new(&message);
        // A fresh Error is an extensible object: the property is always set.
        let _ = Reflect::set(&error, &"code".into(), &"invalid-argument".into());
        error.into()
    }
}

/// Returns a copy of at most 1 MiB.
pub(crate) fn bytes(name: &str, array: &Uint8Array) -> Result<Vec<u8>, InvalidArgument> {
    match array.length() {
        length if length > MAX_BYTES => {
            let complaint = format!("expected at most {MAX_BYTES} bytes, got {length} bytes");
            Err(InvalidArgument::new(name, complaint))
        }
        _ => Ok(array.to_vec()),
    }
}

/// Returns a hash of 32 bytes.
pub(crate) fn hash(name: &str, array: &Uint8Array) -> Result<Hash, InvalidArgument> {
    let mut copy = Hash::default();
    match array.length() {
        32 => {
            array.copy_to(&mut copy);
            Ok(copy)
        }
        length => {
            Err(InvalidArgument::new(name, format_args!("expected 32 bytes, got {length} bytes")))
        }
    }
}

/// Checks an argument that may be missing.
pub(crate) fn optional<A, T>(
    name: &str,
    argument: Option<A>,
    check: impl FnOnce(&str, A) -> Result<T, InvalidArgument>,
) -> Result<Option<T>, InvalidArgument> {
    argument.map(|argument| check(name, argument)).transpose()
}

/// Returns a whole number from 0 to 2^53 - 1.
pub(crate) fn whole(name: &str, number: f64) -> Result<u64, InvalidArgument> {
    if (0.0..=MAX_SAFE_INTEGER as f64).contains(&number) && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err(InvalidArgument::new(name, "expected a whole number from 0 to 2^53 - 1"))
    }
}

/// Returns a difficulty from decimal digits, 1 to 2^256 - 1.
pub(crate) fn difficulty(name: &str, digits: &str) -> Result<Difficulty, InvalidArgument> {
    digits.parse().map_err(|error| InvalidArgument::new(name, error))
}

/// Returns the difficulty of every block from decimal digits, 1 to 2^128 - 1.
pub(crate) fn fixed_difficulty(digits: &str) -> Result<u128, InvalidArgument> {
    let name = "fixedDifficulty";
    let fixed = difficulty(name, digits)?.as_u128();
    fixed.ok_or_else(|| InvalidArgument::new(name, "expected less than 2^128"))
}

/// Returns a network by its name.
pub(crate) fn network(name: &str, network: &str) -> Result<Network, InvalidArgument> {
    network.parse().map_err(|error| InvalidArgument::new(name, error))
}

/// Returns a chain's work or a difficulty from decimal digits, 0 to 2^128 - 1.
pub(crate) fn work(name: &str, digits: &str) -> Result<u128, InvalidArgument> {
    let problem = || InvalidArgument::new(name, "expected decimal digits, below 2^128");
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| decimal).ok_or_else(problem)
}

/// Returns a checkpoint, made of its parts.
pub(crate) fn checkpoint(
    height: f64,
    id: &Uint8Array,
    total: &str,
    recent: (&Float64Array, &Array),
    seeds: (&Float64Array, &Array),
) -> Result<Checkpoint, InvalidArgument> {
    let (timestamps, difficulties) = recent;
    let (seed_heights, seed_ids) = seeds;
    let timestamps = numbers("timestamps", timestamps, difficulties.length())?;
    let difficulties = difficulties
        .iter()
        .map(|digits| work("difficulties", &digits.as_string().unwrap_or_default()));
    let recent = timestamps
        .into_iter()
        .zip(difficulties)
        .map(|(timestamp, difficulty)| Ok(RecentBlock { timestamp, difficulty: difficulty? }));
    let seed_heights = numbers("seeds", seed_heights, seed_ids.length())?;
    let seeds = seed_heights
        .into_iter()
        .zip(seed_ids.iter())
        .map(|(height, id)| Ok(Seed { height, id: hash("seeds", &Uint8Array::new(&id))? }));
    Ok(Checkpoint {
        height: whole("height", height)?,
        id: hash("id", id)?,
        work: work("work", total)?,
        recent: recent.collect::<Result<_, _>>()?,
        seeds: seeds.collect::<Result<_, _>>()?,
    })
}

/// Returns exactly `count` whole numbers, at most `MAX_ENTRIES`.
fn numbers(name: &str, array: &Float64Array, count: u32) -> Result<Vec<u64>, InvalidArgument> {
    let got = array.length();
    if count > MAX_ENTRIES {
        let complaint = format_args!("expected at most {MAX_ENTRIES} entries, got {got}");
        return Err(InvalidArgument::new(name, complaint));
    }
    if got != count {
        let complaint = format_args!("expected {count} entries, got {got}");
        return Err(InvalidArgument::new(name, complaint));
    }
    array.to_vec().into_iter().map(|number| whole(name, number)).collect()
}
