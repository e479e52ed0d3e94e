//! Conversions of results to plain JavaScript objects.

use js_sys::{Array, Float64Array, Object, Reflect, Uint8Array};
use randomx_monero::{Check, Checkpoint, Examination, Hash, HashingBlob, Outcome, Verdict, Work};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

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
  checks: PlainCheck[];
  hashingBlob: Uint8Array<ArrayBuffer> | null;
  id: Uint8Array<ArrayBuffer> | null;
  height: number | null;
  /** The ids of the transactions, the miner's first. Empty for a hashing blob. */
  transactionIds: Uint8Array<ArrayBuffer>[];
}

/** A proof of work to check. */
export interface PlainWork {
  seedHash: Uint8Array<ArrayBuffer>;
  hashingBlob: Uint8Array<ArrayBuffer>;
  difficulty: string;
}

/** The verdict on a block of a chain. */
export interface PlainVerdict {
  /** `valid`, `unproven`, `update-needed` or `invalid`. */
  status: string;
  /** Decimal digits. */
  difficulty: string | null;
  work: string;
  completeStart: boolean;
  transactionIds: Uint8Array<ArrayBuffer>[];
  height: number;
  id: Uint8Array<ArrayBuffer> | null;
  hash: Uint8Array<ArrayBuffer> | null;
  checks: PlainCheck[];
}

/** A chain up to a block. */
export interface PlainCheckpoint {
  height: number;
  id: Uint8Array<ArrayBuffer>;
  /** Decimal digits. 0 if it is unknown. */
  work: string;
  timestamps: Float64Array<ArrayBuffer>;
  difficulties: string[];
  seedHeights: Float64Array<ArrayBuffer>;
  seedIds: Uint8Array<ArrayBuffer>[];
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
    /// Work, or `null`.
    #[wasm_bindgen(typescript_type = "PlainWork | null")]
    pub type PlainWork;
    /// A verdict.
    #[wasm_bindgen(typescript_type = "PlainVerdict")]
    pub type PlainVerdict;
    /// A checkpoint, or `null`.
    #[wasm_bindgen(typescript_type = "PlainCheckpoint | null")]
    pub type PlainCheckpoint;
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
    object([
        ("checks", checks(&examination.checks)),
        ("hashingBlob", bytes(blob)),
        ("id", bytes(examination.id.as_ref().map(<[u8; 32]>::as_slice))),
        ("height", examination.height.map_or(JsValue::NULL, number)),
        ("transactionIds", hashes(&examination.transaction_ids)),
    ])
}

pub(crate) fn work(work: Option<&Work>) -> PlainWork {
    let Some(work) = work else { return JsValue::NULL.unchecked_into() };
    object([
        ("seedHash", bytes(Some(&work.seed_hash))),
        ("hashingBlob", bytes(Some(&work.hashing_blob))),
        ("difficulty", work.difficulty.to_string().into()),
    ])
}

pub(crate) fn verdict(verdict: &Verdict) -> PlainVerdict {
    object([
        ("status", verdict.status.as_str().into()),
        ("difficulty", verdict.difficulty.map_or(JsValue::NULL, |d| d.to_string().into())),
        ("work", verdict.work.to_string().into()),
        ("completeStart", verdict.complete_start.into()),
        ("transactionIds", hashes(&verdict.transaction_ids)),
        ("height", number(verdict.height)),
        ("id", bytes(verdict.id.as_ref().map(<[u8; 32]>::as_slice))),
        ("hash", bytes(verdict.hash.as_ref().map(<[u8; 32]>::as_slice))),
        ("checks", checks(&verdict.checks)),
    ])
}

pub(crate) fn checkpoint(checkpoint: Option<&Checkpoint>) -> PlainCheckpoint {
    let Some(checkpoint) = checkpoint else { return JsValue::NULL.unchecked_into() };
    let recent = &checkpoint.recent;
    let timestamps: Vec<f64> = recent.iter().map(|block| block.timestamp as f64).collect();
    let difficulties: Array =
        recent.iter().map(|block| JsValue::from(block.difficulty.to_string())).collect();
    let seed_heights: Vec<f64> = checkpoint.seeds.iter().map(|seed| seed.height as f64).collect();
    let seed_ids: Array = checkpoint.seeds.iter().map(|seed| bytes(Some(&seed.id))).collect();
    object([
        ("height", number(checkpoint.height)),
        ("id", bytes(Some(&checkpoint.id))),
        ("work", checkpoint.work.to_string().into()),
        ("timestamps", Float64Array::from(timestamps.as_slice()).into()),
        ("difficulties", difficulties.into()),
        ("seedHeights", Float64Array::from(seed_heights.as_slice()).into()),
        ("seedIds", seed_ids.into()),
    ])
}

fn hashes(hashes: &[Hash]) -> JsValue {
    hashes.iter().map(|hash| bytes(Some(hash))).collect::<Array>().into()
}

fn checks(checks: &[Check]) -> JsValue {
    checks.iter().map(check).collect::<Array>().into()
}

/// A block can claim a height of more than 53 bits, which is rounded here. No rule uses the result.
pub(crate) fn number(height: u64) -> JsValue {
    (height as f64).into()
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
