//! `randomx verify`: its verdicts and exit codes.

use crate::common::{jsonl, mainnet_lines, on_lines, parse_jsonl, vectors};
use serde_json::{Value, json};

#[test]
fn mainnet_blocks_are_valid() {
    let vectors = vectors("mainnet-headers.json");
    let expected: Vec<Value> = vectors["blocks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|block| json!({"valid": true, "hash": block["pow_hash"]}))
        .collect();
    let run = on_lines("verify", jsonl(&mainnet_lines())).code(0).stderr("");
    assert_eq!(parse_jsonl(&run.get_output().stdout), expected);
}

#[test]
fn one_changed_byte_is_detected() {
    let mut lines = mainnet_lines();
    let blob = lines[2]["hashing_blob"].as_str().expect("a string");
    // A byte of the nonce, which has offset 39 to 42.
    let byte = u8::from_str_radix(&blob[80..82], 16).expect("hex");
    let tampered = format!("{}{:02x}{}", &blob[..80], byte ^ 1, &blob[82..]);
    let difficulty = lines[2]["difficulty"].as_str().expect("a string").to_owned();
    lines[2]["hashing_blob"] = json!(tampered);

    let run = on_lines("verify", jsonl(&lines)).code(1).stderr("");
    let verdicts = parse_jsonl(&run.get_output().stdout);
    let valid: Vec<bool> = verdicts.iter().map(|v| v["valid"] == true).collect();
    assert_eq!(valid, [true, true, false, true, true, true, true, true]);
    assert_eq!(
        verdicts[2]["reason"],
        json!(format!("the hash does not meet difficulty {difficulty}"))
    );
    assert_eq!(verdicts[2]["hash"].as_str().map(str::len), Some(64));
    assert_eq!(verdicts[1].get("reason"), None);
}

#[test]
fn the_seed_hash_and_the_version_matter() {
    let lines = mainnet_lines();
    let mut other_seed = lines[0].clone();
    other_seed["seed_hash"] = json!("00".repeat(32));
    let mut other_version = lines[0].clone();
    other_version["version"] = json!(2);
    let mut same_version = lines[0].clone();
    same_version["version"] = json!(1);

    let run = on_lines("verify", jsonl(&[other_seed, same_version, other_version])).code(1);
    let verdicts = parse_jsonl(&run.get_output().stdout);
    let valid: Vec<bool> = verdicts.iter().map(|v| v["valid"] == true).collect();
    assert_eq!(valid, [false, true, false]);
}

#[test]
fn difficulty_is_a_number_of_any_size_or_its_digits() {
    let blob = mainnet_lines()[0].clone();
    let (seed_hash, hashing_blob) = (&blob["seed_hash"], &blob["hashing_blob"]);
    let greatest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let line = |difficulty: &str| {
        format!(
            r#"{{"seed_hash":{seed_hash},"hashing_blob":{hashing_blob},"difficulty":{difficulty}}}"#
        )
    };
    let difficulties = ["1", "\"1\"", "716071628829", "\"716071628829\"", greatest];
    let lines: Vec<String> = difficulties.iter().map(|difficulty| line(difficulty)).collect();
    let run = on_lines("verify", lines.join("\n")).code(1);
    let verdicts = parse_jsonl(&run.get_output().stdout);
    let valid: Vec<bool> = verdicts.iter().map(|v| v["valid"] == true).collect();
    assert_eq!(valid, [true, true, true, true, false]);
    let reason = json!(format!("the hash does not meet difficulty {greatest}"));
    assert_eq!(verdicts[4]["reason"], reason);
}

#[test]
fn no_lines_are_an_error() {
    let sentence = "stdin: expected at least one line, got none";
    crate::common::assert_refused(on_lines("verify", ""), sentence);
}
