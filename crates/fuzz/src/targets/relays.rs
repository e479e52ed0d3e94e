//! A relay's answers, and its file of headers.

use std::fs;

use randomx_client::Answer;
use randomx_client::internals::{open_records, parse_relay_answer};
use randomx_monero::client::Query;

use super::json;
use crate::{Target, vectors};

/// The length of a record, and of the blob in it with its own length.
const RECORD: usize = 109;
const BLOB: usize = 93;

pub(super) const RELAYS: Target = Target { name: "relays", longest: 2048, quick: 1000, run, seeds };

fn run(data: &[u8]) -> bool {
    let Some((kind, rest)) = data.split_first() else { return false };
    match kind % 4 {
        0 => tip(rest),
        1 => headers(rest),
        2 => difficulties(rest),
        _ => records(rest),
    }
}

fn tip(answer: &[u8]) -> bool {
    let Some(parsed) = parse_relay_answer(Query::Tip, answer) else { return false };
    let Answer::Tip(height, id) = parsed else { panic!("another kind: {parsed:?}") };
    let Some(json) = json::accepted(answer) else { return true };
    assert_eq!(json["height"].as_u64(), Some(height));
    let text = json["id"].as_str().expect("a text");
    assert_eq!(hex::encode(id), text.to_ascii_lowercase());
    true
}

fn headers(answer: &[u8]) -> bool {
    let parsed = parse_relay_answer(Query::Headers { first: 1, count: 9 }, answer);
    let Some(Answer::Headers(blobs)) = parsed else {
        assert_eq!(parsed, None);
        return false;
    };
    let prefixed = blobs.iter().flat_map(|blob| [&[blob.len() as u8], &blob[..]].concat());
    assert_eq!(prefixed.collect::<Vec<u8>>(), answer);
    true
}

fn difficulties(answer: &[u8]) -> bool {
    let parsed = parse_relay_answer(Query::Difficulties { first: 1, count: 9 }, answer);
    let Some(Answer::Difficulties(numbers)) = parsed else {
        assert!(parsed.is_none() && !answer.len().is_multiple_of(16));
        return false;
    };
    assert_eq!(numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>(), answer);
    true
}

/// Opens a file of headers, which a relay refuses or repairs. Opening a repaired file drops its last block
/// and changes nothing else.
fn records(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("headers");
    fs::write(&file, bytes).expect("a file");
    let Ok((first, last)) = open_records(&file) else { return false };
    let repaired = fs::read(&file).expect("a file");
    let before = last.and_then(|last| last.checked_sub(1)).filter(|&before| before >= first);
    assert_eq!(open_records(&file).expect("a repaired file"), (first, before));
    let dropped = if last.is_some() { RECORD } else { 0 };
    assert_eq!(fs::read(&file).expect("a file"), repaired[..repaired.len() - dropped]);
    true
}

fn seeds() -> Vec<Vec<u8>> {
    let blobs = vectors::hashing_blobs();
    let prefixed = blobs.iter().take(4).flat_map(|blob| [&[blob.len() as u8], &blob[..]].concat());
    let tip = format!(r#"{{"first":0,"height":7,"id":"{}"}}"#, "0A".repeat(32));
    let mut records = b"RXMrelay\x01\0\0\0\0\0\0\0".to_vec();
    for blob in blobs.iter().take(3) {
        let mut record = [0; RECORD];
        record[0] = blob.len() as u8;
        record[1..=blob.len()].copy_from_slice(blob);
        record[BLOB] = 1;
        records.extend(record);
    }
    let of = |kind: u8, bytes: &[u8]| [&[kind], bytes].concat();
    vec![
        of(0, tip.as_bytes()),
        of(1, &prefixed.collect::<Vec<_>>()),
        of(2, &[7; 48]),
        of(3, &records),
    ]
}
