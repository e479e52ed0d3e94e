//! Conversions of results to plain JavaScript objects.

use js_sys::{Array, Object, Reflect, Uint8Array};
use randomx_monero::{Check, Examination, Hash, HashingBlob, Outcome, Status};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::argument::MAX_SAFE_INTEGER;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** One check. */
export interface PlainCheck {
  name: string;
  /** `null` if it was not made. */
  passed: boolean | null;
  detail: string;
}

/** The checks that need only the block. */
export interface PlainExamination {
  /** `unproven`, `update-needed` or `invalid`: the proof of work is not among the checks. */
  status: string;
  checks: PlainCheck[];
  hashingBlob: Uint8Array<ArrayBuffer> | null;
  id: Uint8Array<ArrayBuffer> | null;
  /** The height in the block, or else the given one. `null` without both, or above 2^53 - 1. */
  height: number | null;
  /** The ids of the transactions, the miner's first. Empty for a hashing blob. */
  transactionIds: Uint8Array<ArrayBuffer>[];
}
"#;

#[wasm_bindgen]
extern "C" {
    /// A check.
    #[wasm_bindgen(typescript_type = "PlainCheck")]
    pub type PlainCheck;
    /// An examination.
    #[wasm_bindgen(typescript_type = "PlainExamination")]
    pub type PlainExamination;
}

pub(crate) fn check(check: &Check) -> PlainCheck {
    let passed = match check.outcome {
        Outcome::Passed => JsValue::TRUE,
        Outcome::Failed | Outcome::UpdateNeeded => JsValue::FALSE,
        Outcome::NotChecked => JsValue::NULL,
    };
    object([
        ("name", check.name.as_str().into()),
        ("passed", passed),
        ("detail", check.detail.as_str().into()),
    ])
}

pub(crate) fn examination(examination: &Examination) -> PlainExamination {
    let blob = examination.hashing_blob.as_ref().map(HashingBlob::as_bytes);
    // A block can claim a height of 64 bits.
    let height = examination.height.filter(|height| *height <= MAX_SAFE_INTEGER);
    object([
        ("status", Status::of(&examination.checks).as_str().into()),
        ("checks", checks(&examination.checks)),
        ("hashingBlob", bytes(blob)),
        ("id", bytes(examination.id.as_ref().map(<[u8; 32]>::as_slice))),
        ("height", height.map_or(JsValue::NULL, number)),
        ("transactionIds", hashes(&examination.transaction_ids)),
    ])
}

pub(crate) fn hashes(hashes: &[Hash]) -> JsValue {
    hashes.iter().map(|hash| bytes(Some(hash))).collect::<Array>().into()
}

pub(crate) fn checks(checks: &[Check]) -> JsValue {
    checks.iter().map(check).collect::<Array>().into()
}

/// Converts a number of at most 53 bits.
pub(crate) fn number(number: u64) -> JsValue {
    (number as f64).into()
}

pub(crate) fn bytes(bytes: Option<&[u8]>) -> JsValue {
    bytes.map_or(JsValue::NULL, |bytes| Uint8Array::from(bytes).into())
}

pub(crate) fn object<T: JsCast, const N: usize>(fields: [(&str, JsValue); N]) -> T {
    let object = Object::new();
    for (name, value) in fields {
        // A fresh object is extensible: the property is always set.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.unchecked_into()
}
