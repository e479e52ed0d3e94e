//! The status in a JSON answer.

use crate::epee::{FormatError, check_status};

/// Checks the status of an answer in JSON, at its top or in the result of JSON-RPC. An error of JSON-RPC has no
/// status, but a message.
///
/// Nodes write bytes, such as the pool's hashes, into texts as they are, which is not JSON: the fields are searched
/// for. In a text, the quotes around a name would be escaped.
pub(super) fn check_json(answer: &[u8]) -> Result<(), FormatError> {
    if let Some(status) = text_after(answer, b"\"status\"") {
        return check_status(Some(status));
    }
    let message = text_after(answer, b"\"message\"").filter(|message| *message != "OK");
    check_status(message)
}

/// Returns the text after a name and a colon.
fn text_after<'a>(answer: &'a [u8], name: &[u8]) -> Option<&'a str> {
    let places = answer.windows(name.len()).enumerate().filter(|(_, part)| *part == name);
    // The same word may be a value, such as the id of a request.
    places.map(|(at, _)| &answer[at + name.len()..]).find_map(|rest| {
        let value = rest.trim_ascii_start().strip_prefix(b":")?;
        let text = value.trim_ascii_start().strip_prefix(b"\"")?;
        str::from_utf8(text.split(|byte| *byte == b'"').next()?).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that an answer has failed for a reason.
    fn assert_failed(answer: &str, reason: &str) {
        let failure = check_json(answer.as_bytes()).expect_err("no success").to_string();
        assert_eq!(failure, format!("the node answered {reason:?}"));
    }

    #[test]
    fn answers_of_nodes_succeed() {
        for answer in [
            r#"{"status":"OK"}"#,
            "{\r\n  \"credits\": 0,\r\n  \"status\": \"OK\",\r\n  \"untrusted\": false\r\n}",
            r#"{"id":"0","jsonrpc":"2.0","result":{"histogram":[],"status":"OK"}}"#,
            r#"{"id":"status","jsonrpc":"2.0","result":{"histogram":[],"status":"OK"}}"#,
        ] {
            assert!(check_json(answer.as_bytes()).is_ok(), "{answer}");
        }
        // Bytes as `monerod` writes them: only quotes and some control characters are escaped.
        let hashes =
            b"{\"tx_hashes\": \"\x00\xd1\\\"status\\\"\\v\\b\x01\xff\",\r\n \"status\": \"OK\"}";
        assert!(check_json(hashes).is_ok());
    }

    #[test]
    fn failures_of_nodes_name_their_reason() {
        assert_failed(r#"{"credits":0,"status":"Failed"}"#, "Failed");
        let restricted = "Restricted RPC will not serve histograms on the whole blockchain.";
        assert_failed(&format!(r#"{{"result":{{"status":"{restricted}"}}}}"#), restricted);
        let error = r#"{"error":{"code":-5,"message":"Failed to get output distribution"}}"#;
        assert_failed(error, "Failed to get output distribution");
        for nothing in ["", "{}", "null", "<html>502 Bad Gateway</html>", r#"{"message":"OK"}"#] {
            assert_failed(nothing, "");
        }
        for malformed in [r#"{"status"}"#, r#"{"status":1}"#, r#"{"status":"#, r#"{"status":""#] {
            assert_failed(malformed, "");
        }
    }
}
