//! Conversions of a chain's results to plain JavaScript objects.

use js_sys::{Array, Float64Array};
use randomx_monero::{Checkpoint, Verdict, Work};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::object::{bytes, checks, hashes, number, object};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
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
