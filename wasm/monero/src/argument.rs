//! Checks of arguments from JavaScript, which are copied into wasm memory.

use js_sys::{Error, Reflect, Uint8Array};
use randomx_monero::{Difficulty, Hash, Network};
use wasm_bindgen::JsValue;

/// The limit for a block blob in bytes: room for the hashes of 32,000 transactions.
const MAX_BYTES: u32 = 1 << 20;

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

/// Returns a network by its name.
pub(crate) fn network(name: &str, network: &str) -> Result<Network, InvalidArgument> {
    network.parse().map_err(|error| InvalidArgument::new(name, error))
}
