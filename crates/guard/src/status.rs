//! `GET /guard/status`, and a page that shows the same.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::paid::MULTIPLE;
use crate::service::{Service, SourceStatus};

/// The style of the page.
const STYLE: &str = include_str!("status/style.css");

/// Returns the media type and the content of a page.
type Page = fn(&Service) -> (&'static str, String);

/// Returns the page at a path.
pub(crate) fn find(path: &str) -> Option<Page> {
    match path {
        "/guard/status" => Some(|service| ("application/json", describe(service).to_string())),
        "/" | "/guard" => Some(|service| ("text/html; charset=utf-8", page(&describe(service)))),
        "/guard/style.css" => Some(|_| ("text/css; charset=utf-8", STYLE.to_owned())),
        _ => None,
    }
}

/// Describes the state of a guard.
fn describe(service: &Service) -> Value {
    let view = service.chain.view().ok();
    let tip = view.as_ref().map(|view| {
        let (height, id) = view.tip();
        json!({
            "height": height,
            "id": hex::encode(id),
            "timestamp": view.timestamp,
            "work": view.work.to_string(),
        })
    });
    let mut described = service.journal.describe();
    described["version"] = json!(env!("CARGO_PKG_VERSION"));
    described["network"] = json!(view.as_ref().map(|view| view.network.as_str()));
    described["tip"] = json!(tip);
    let caught_up = service.is_followed();
    described["caughtUp"] = json!(caught_up);
    described["awaited"] = json!((!caught_up).then(|| service.awaited()));
    described["sources"] = service.sources().iter().map(SourceStatus::describe).collect();
    described["nodes"] = json!(service.nodes.describe());
    described["headers"] = service.chain.archive().describe();
    described["feeMultiple"] = json!(MULTIPLE);
    described
}

/// Returns the page. All texts are escaped, since nodes wrote some of them.
fn page(status: &Value) -> String {
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>randomx guard</title>\
         <link rel=\"stylesheet\" href=\"/guard/style.css\"><h1>randomx guard</h1>\
         <p><a href=\"/\">Reload</a></p>",
    );
    let tip = &status["tip"];
    let state = if tip.is_null() {
        "The guard has not verified a block yet.".to_owned()
    } else {
        let (height, id, work) = (&tip["height"], text(&tip["id"]), text(&tip["work"]));
        format!("Block {height} {id} is verified. The chain's work is {work}.")
    };
    paragraph(&mut page, &state);
    if let Some(awaited) = status["awaited"].as_str() {
        paragraph(&mut page, &format!("Wallets get the status BUSY: {awaited}."));
    }
    if let Some(failure) = status["headers"]["failure"].as_str() {
        paragraph(&mut page, &format!("Older headers cannot be read: {failure}."));
    }
    table(&mut page, "Sources of headers", &status["sources"], &["source", "state", "problem"]);
    table(&mut page, "Nodes that are asked", &status["nodes"], &["node", "dropped", "failure"]);
    table(
        &mut page,
        "Refused answers",
        &status["refused"],
        &["node", "method", "reason", "evidence"],
    );
    counts(&mut page, "Verified answers", &status["verified"]);
    counts(&mut page, "Answers that nobody can verify", &status["notVerified"]);
    page
}

fn paragraph(page: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = write!(page, "<p>{}</p>", escape(text));
}

fn table(page: &mut String, title: &str, rows: &Value, columns: &[&str]) {
    let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
    let _ = write!(page, "<h2>{title}</h2>");
    if rows.is_empty() {
        return paragraph(page, "None.");
    }
    let _ = write!(page, "<table><tr>");
    for column in columns {
        let _ = write!(page, "<th>{column}");
    }
    for row in rows {
        let _ = write!(page, "<tr>");
        for column in columns {
            let _ = write!(page, "<td>{}", escape(&text(&row[*column])));
        }
    }
    let _ = write!(page, "</table>");
}

fn counts(page: &mut String, title: &str, counts: &Value) {
    let rows: Vec<Value> = counts.as_object().map_or_else(Vec::new, |counts| {
        counts.iter().map(|(method, count)| json!({ "method": method, "count": count })).collect()
    });
    table(page, title, &json!(rows), &["method", "count"]);
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nodes_wrote_is_escaped() {
        let status = json!({
            "refused": [{ "node": "<script>&\"", "method": "get_info", "reason": "<b>" }],
            "awaited": "the guard reads <b>",
            "headers": { "failure": "cannot store headers in <b>" },
        });
        let page = page(&status);
        assert!(page.contains("<td>&lt;script&gt;&amp;&quot;<td>get_info<td>&lt;b&gt;<td>"));
        assert!(page.contains("<p>Wallets get the status BUSY: the guard reads &lt;b&gt;.</p>"));
        assert!(
            page.contains(
                "<p>Older headers cannot be read: cannot store headers in &lt;b&gt;.</p>"
            )
        );
        assert!(!page.contains("<b>"));
    }

    #[test]
    fn the_reader_decides_when_the_page_is_read_anew() {
        let page = page(&json!({}));
        assert!(page.contains("<a href=\"/\">Reload</a>"));
        assert!(!page.contains("http-equiv"));
    }
}
