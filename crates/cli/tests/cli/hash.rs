//! `randomx hash`: its hashes.

use std::fs;

use crate::common::{jsonl, on_lines, parse_jsonl, randomx, vectors};
use predicates::prelude::*;
use randomx_testing::say;
use serde_json::{Value, json};

/// From RandomX's specification: key "test key 000", input "This is a test".
const TEST_HASH: &str = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f\n";

#[test]
fn text_and_hex_of_the_same_bytes_have_the_same_hash() {
    let text = ["hash", "--key-text", "test key 000", "--input-text", "This is a test"];
    randomx(&text).assert().success().stdout(TEST_HASH).stderr("");
    let hex = [
        "hash",
        "--key=74657374206B657920303030",
        "--input=5468697320697320612074657374",
        "--version=v1",
    ];
    randomx(&hex).assert().success().stdout(TEST_HASH).stderr("");
}

#[test]
fn key_and_input_may_be_empty() {
    for version in [1, 2] {
        let vectors = vectors("reference-hashes.json");
        let empty = reference(&vectors)
            .iter()
            .find(|v| v["key"] == "" && v["input"] == "" && v["version"] == version)
            .expect("a vector with an empty key and input");
        let expected = format!("{}\n", empty["hash"].as_str().expect("a string"));
        let version = format!("v{version}");
        let command = ["hash", "--key", "", "--input-text", "", "--version", &version];
        randomx(&command).assert().success().stdout(expected);
    }
}

#[test]
fn reference_hashes_come_in_the_order_of_their_lines() {
    let vectors = vectors("reference-hashes.json");
    let interleaved = interleave(reference(&vectors));
    let lines = jsonl(&interleaved.iter().map(job).collect::<Vec<_>>());
    let run = on_lines("hash", lines).success().stderr("");
    assert_eq!(parse_jsonl(&run.get_output().stdout), hashes(&interleaved));
}

#[test]
fn engine_threads_and_lanes_change_no_hash() {
    let vectors = vectors("reference-hashes.json");
    let jobs: Vec<Value> =
        reference(&vectors).iter().filter(|v| v["key"] == "").take(11).cloned().collect();
    assert_eq!(jobs.len(), 11);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("the jobs, Größe 空.jsonl");
    fs::write(&file, jsonl(&jobs.iter().map(job).collect::<Vec<_>>())).expect("a file");
    let file = file.to_str().expect("a UTF-8 path");
    for options in [
        ["--threads=1", "--lanes=8", "--engine=auto"],
        ["--threads=3", "--lanes=1", "--engine=interpreter"],
        ["--threads=1024", "--lanes=3", "--secure"],
        ["--threads=2", "--without=aes", "--engine=auto"],
        ["--threads=2", "--without=avx2,bmi2", "--engine=auto"],
    ] {
        let run = randomx(&["hash", "--jsonl", file]).args(options).assert().success();
        assert_eq!(parse_jsonl(&run.get_output().stdout), hashes(&jobs), "{options:?}");
    }
}

#[test]
#[ignore = "full tests: computes a dataset"]
fn a_dataset_changes_no_hash() {
    let vectors = vectors("reference-hashes.json");
    let of_a_key = |v: &&Value| v["key"] == reference(&vectors)[0]["key"];
    let jobs: Vec<Value> = reference(&vectors).iter().filter(of_a_key).cloned().collect();
    assert!([1, 2].iter().all(|version| jobs.iter().any(|job| job["version"] == *version)));
    let lines = jsonl(&jobs.iter().map(job).collect::<Vec<_>>());
    let run = randomx(&["hash", "--jsonl", "-", "--mode", "fast"]).write_stdin(lines).assert();
    if run.get_output().stderr.starts_with(b"error: no memory for the RandomX dataset") {
        say("skipped: this machine has no memory for a dataset");
        return;
    }
    let run = run.success().stderr("");
    assert_eq!(parse_jsonl(&run.get_output().stdout), hashes(&jobs));
}

#[test]
fn the_longest_key_and_input_fit_in_a_line() {
    let most = "00".repeat(1 << 20);
    let run = on_lines("hash", jsonl(&[json!({"version": 2, "key": most, "input": most})]));
    let run = run.success();
    let hashes = parse_jsonl(&run.get_output().stdout);
    assert_eq!(hashes.len(), 1);
    assert_eq!(hashes[0]["hash"].as_str().map(str::len), Some(64));
}

#[test]
fn version_is_1_where_a_line_has_none_and_line_endings_may_be_windows() {
    let with = r#"{"version":1,"key":"","input":"00"}"#;
    let without = r#" {"input":"00", "key":"" } "#;
    let run = on_lines("hash", format!("{with}\r\n{without}")).success();
    let hashes = parse_jsonl(&run.get_output().stdout);
    assert_eq!(hashes.len(), 2);
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn no_lines_have_no_hashes() {
    on_lines("hash", "").success().stdout("").stderr("");
}

#[test]
fn help_explains_the_commands() {
    let word = predicate::str::contains;
    randomx(&["--help"])
        .assert()
        .success()
        .stdout(word("256 MiB").and(word("Exit codes")).and(word("seed hash")));
    for subcommand in ["hash", "verify", "bench"] {
        randomx(&[subcommand, "--help"])
            .assert()
            .success()
            .stdout(word("Examples").and(word("Exit codes")).and(word("--lanes")));
    }
    randomx(&["--version"]).assert().success().stdout(word(env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_guards_help_starts_wallets_as_its_readme_does() {
    let readme = include_str!("../../../guard/README.md");
    let wallet = readme.lines().find(|line| line.starts_with("monero-wallet-cli ")).expect("one");
    assert!(wallet.contains("--untrusted-daemon"));
    randomx(&["guard", "--help"]).assert().success().stdout(predicate::str::contains(wallet));
}

fn reference(vectors: &Value) -> &[Value] {
    vectors["vectors"].as_array().expect("a list")
}

/// The vectors so that neighbours differ in key: 37 has no factor in common with their number.
fn interleave(vectors: &[Value]) -> Vec<Value> {
    assert_eq!(vectors.len(), 80);
    (0..vectors.len()).map(|i| vectors[i * 37 % vectors.len()].clone()).collect()
}

fn job(vector: &Value) -> Value {
    json!({"version": vector["version"], "key": vector["key"], "input": vector["input"]})
}

fn hashes(vectors: &[Value]) -> Vec<Value> {
    vectors.iter().map(|vector| json!({"hash": vector["hash"]})).collect()
}
