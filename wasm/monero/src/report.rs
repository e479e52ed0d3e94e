//! Conversions of the client's actions to plain JavaScript objects. Ids are hex, because users compare
//! and print them; work has decimal digits.

use std::fmt::Write as _;

use js_sys::Array;
use randomx_monero::client::{
    Action, Alarm, Branch, Evidence, Fork, KeptBlock, Query, Report, SourceState, Tip,
};
use randomx_monero::{Hash, HashingBlob};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::argument::MAX_SAFE_INTEGER;
use crate::object::{bytes, number, object};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** A block of the chain. */
export interface PlainTip {
  height: number;
  id: string;
  timestamp: number;
  work: string;
}

/** A kept block. */
export interface PlainHeader {
  height: number;
  id: string;
  majorVersion: number;
  minorVersion: number;
  timestamp: number;
  previousId: string;
  nonce: number;
  /** At most 2^53 - 1, which only a false count exceeds. */
  transactions: number;
  difficulty: string;
  work: string;
}

/** One side of a fork. */
export interface PlainBranch {
  ids: string[];
  work: string;
}

/** A fork: the last common block, and both sides. */
export interface PlainFork {
  height: number;
  id: string;
  ours: PlainBranch;
  theirs: PlainBranch;
}

/** News for the user. */
export type PlainReport =
  | { report: "tip"; tip: PlainTip }
  | { report: "reorg"; tip: PlainTip; fork: PlainFork }
  | { report: "deep-reorg"; source: number; fork: PlainFork }
  | { report: "disagreement"; source: number; fork: PlainFork; evidence: Uint8Array<ArrayBuffer> }
  | {
      report: "source";
      source: number;
      state: string;
      /** Why it is `invalid`. */
      reason: string | null;
      evidence: Uint8Array<ArrayBuffer> | null;
      /** The height of the first block of an unknown version, and 0 in other states. */
      height: number;
      version: number;
    }
  | { report: "alarm"; alarm: string; age: number; took: number; expected: number };

/** Something to do. */
export type PlainAction =
  | {
      action: "request";
      source: number;
      request: number;
      query: "tip" | "headers" | "difficulties";
      first: number;
      count: number;
    }
  | {
      action: "hash";
      job: number;
      seedHash: Uint8Array<ArrayBuffer>;
      blob: Uint8Array<ArrayBuffer>;
      fresh: boolean;
    }
  | { action: "store"; state: Uint8Array<ArrayBuffer> }
  | ({ action: "report" } & PlainReport);
"#;

#[wasm_bindgen]
extern "C" {
    /// An action, or `null`.
    #[wasm_bindgen(typescript_type = "PlainAction | null")]
    pub type PlainAction;
    /// A tip, or `null`.
    #[wasm_bindgen(typescript_type = "PlainTip | null")]
    pub type PlainTip;
}

pub(crate) fn action(action: Option<Action>) -> PlainAction {
    match action {
        None => JsValue::NULL.unchecked_into(),
        Some(Action::Request { source, request, query }) => {
            let (query, first, count) = match query {
                Query::Tip => ("tip", 0, 0),
                Query::Headers { first, count } => ("headers", first, count),
                Query::Difficulties { first, count } => ("difficulties", first, count),
            };
            object([
                ("action", "request".into()),
                ("source", index(source.index())),
                ("request", number(request.number())),
                ("query", query.into()),
                ("first", number(first)),
                ("count", number(count)),
            ])
        }
        Some(Action::Hash { job, seed_hash, blob, fresh }) => object([
            ("action", "hash".into()),
            ("job", number(job.number())),
            ("seedHash", bytes(Some(&seed_hash))),
            ("blob", bytes(Some(&blob))),
            ("fresh", fresh.into()),
        ]),
        Some(Action::Store(state)) => {
            object([("action", "store".into()), ("state", bytes(Some(&state)))])
        }
        Some(Action::Report(report)) => self::report(&report),
    }
}

pub(crate) fn tip(tip: Option<&Tip>) -> PlainTip {
    let Some(tip) = tip else { return JsValue::NULL.unchecked_into() };
    object([
        ("height", number(tip.height)),
        ("id", hex(&tip.id)),
        ("timestamp", number(tip.timestamp)),
        ("work", tip.work.to_string().into()),
    ])
}

/// Returns a kept block. Its blob was parsed before it was kept.
pub(crate) fn header(block: &KeptBlock<'_>) -> Option<JsValue> {
    let HashingBlob { header, transactions, .. } = HashingBlob::parse(block.blob).ok()?;
    Some(object([
        ("height", number(block.height)),
        ("id", hex(&block.id)),
        ("majorVersion", header.major_version.into()),
        ("minorVersion", header.minor_version.into()),
        ("timestamp", number(header.timestamp)),
        ("previousId", hex(&header.previous_id)),
        ("nonce", header.nonce.into()),
        ("transactions", number(transactions.min(MAX_SAFE_INTEGER))),
        ("difficulty", block.difficulty.to_string().into()),
        ("work", block.work.to_string().into()),
    ]))
}

fn report(report: &Report) -> PlainAction {
    let kind = |name: &str| [("action", "report".into()), ("report", name.into())];
    match report {
        Report::Tip(new) => {
            let [action, report] = kind("tip");
            object([action, report, ("tip", tip(Some(new)).into())])
        }
        Report::Reorganised { fork, tip: new } => {
            let [action, report] = kind("reorg");
            object([action, report, ("tip", tip(Some(new)).into()), ("fork", self::fork(fork))])
        }
        Report::DeepReorganisation { source, fork } => {
            let [action, report] = kind("deep-reorg");
            let source = ("source", index(source.index()));
            object([action, report, source, ("fork", self::fork(fork))])
        }
        Report::Disagreement { source, fork, evidence } => {
            let [action, report] = kind("disagreement");
            let source = ("source", index(source.index()));
            let evidence = ("evidence", self::evidence(Some(evidence)));
            object([action, report, source, ("fork", self::fork(fork)), evidence])
        }
        Report::Source { source, state } => {
            let [action, report] = kind("source");
            let (reason, proof) = match state {
                SourceState::Invalid { reason, evidence } => {
                    (reason.as_str().into(), evidence.as_deref())
                }
                _ => (JsValue::NULL, None),
            };
            let (height, version) = match state {
                SourceState::UpdateNeeded { height, version } => (*height, *version),
                _ => (0, 0),
            };
            object([
                action,
                report,
                ("source", index(source.index())),
                ("state", state.as_str().into()),
                ("reason", reason),
                ("evidence", evidence(proof)),
                ("height", number(height)),
                ("version", version.into()),
            ])
        }
        Report::Alarm(alarm) => {
            let [action, report] = kind("alarm");
            let (name, age, took, expected) = match *alarm {
                Alarm::Cleared => ("cleared", 0, 0, 0),
                Alarm::Stale { age } => ("stale", age, 0, 0),
                Alarm::SlowWork { took, expected } => ("slow", 0, took, expected),
            };
            object([
                action,
                report,
                ("alarm", name.into()),
                ("age", number(age)),
                ("took", number(took)),
                ("expected", number(expected)),
            ])
        }
    }
}

fn fork(fork: &Fork) -> JsValue {
    object([
        ("height", number(fork.height)),
        ("id", hex(&fork.id)),
        ("ours", branch(&fork.ours)),
        ("theirs", branch(&fork.theirs)),
    ])
}

fn branch(branch: &Branch) -> JsValue {
    let ids: Array = branch.ids.iter().map(hex).collect();
    object([("ids", ids.into()), ("work", branch.work.to_string().into())])
}

fn evidence(evidence: Option<&Evidence>) -> JsValue {
    evidence.map_or(JsValue::NULL, |evidence| bytes(Some(&evidence.to_bytes())))
}

fn hex(id: &Hash) -> JsValue {
    let mut digits = String::with_capacity(2 * id.len());
    for byte in id {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits.into()
}

fn index(index: usize) -> JsValue {
    (index as u32).into()
}
