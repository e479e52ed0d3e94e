//! Answers to wallets.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::epee::Writer;
use crate::refusal::Refusal;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A JSON object.
    Json,
    /// Epee's binary format.
    Binary,
}

impl Form {
    /// Returns the media type, which nodes send too.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Form::Json => "application/json",
            Form::Binary => "application/octet-stream",
        }
    }

    /// Returns the answer to a request that is refused.
    pub(crate) fn refuse(self, refusal: &Refusal) -> Vec<u8> {
        match self {
            Form::Json => {
                json!({ "status": refusal.status(), "untrusted": false }).to_string().into()
            }
            Form::Binary => {
                let mut writer = Writer::new();
                writer.bytes("status", refusal.status().as_bytes());
                writer.flag("untrusted", false);
                writer.finish()
            }
        }
    }
}

/// Returns a result of JSON-RPC. The id is written as the wallet sent it: a `Value` cannot hold every id.
pub(crate) fn json_rpc(id: &RawValue, result: &Value) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into()
}

/// Returns the answer to a JSON-RPC request that is refused. Only an unknown method is an error: of
/// others wallets would not show the text.
pub(crate) fn refuse_json_rpc(id: &RawValue, refusal: &Refusal) -> Vec<u8> {
    if let Refusal::Unknown(_) = refusal {
        let error = json!({ "code": -32601, "message": "Method not found" });
        return format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into();
    }
    json_rpc(id, &json!({ "status": refusal.status(), "untrusted": false }))
}
