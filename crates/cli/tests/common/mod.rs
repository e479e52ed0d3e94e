//! Helpers for the tests of the command line.

#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod fake_node;

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{self, Stdio},
};

use assert_cmd::{
    Command,
    assert::Assert,
    cargo::{cargo_bin, cargo_bin_cmd},
};
use randomx_testing::Running;
use serde_json::{Value, json};

/// The command with these arguments.
pub(crate) fn randomx(arguments: &[&str]) -> Command {
    let mut command = cargo_bin_cmd!("randomx");
    command.args(arguments);
    command
}

/// Starts a subcommand that serves others, and returns it with its first line, which says where it listens.
pub(crate) fn start(arguments: &[&str], stderr: Stdio) -> (Running, String) {
    let child = process::Command::new(cargo_bin!("randomx"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn();
    let mut child = Running(child.expect("the program starts"));
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    (child, line)
}

/// Runs a subcommand on JSON lines from stdin.
pub(crate) fn on_lines(subcommand: &str, lines: impl Into<Vec<u8>>) -> Assert {
    randomx(&[subcommand, "--jsonl", "-"]).write_stdin(lines).assert()
}

/// Verifies a node's chain, in which every block has difficulty 1.
pub(crate) fn verify_node(node: &str, arguments: &[&str]) -> Assert {
    let chain = ["verify", "--network", "regtest", "--fixed-difficulty", "1", "--retries", "0"];
    randomx(&[&chain[..], &["--node", node], arguments].concat()).assert()
}

/// The lines of JSON that a run has printed.
pub(crate) fn lines(run: &Assert) -> Vec<Value> {
    parse_jsonl(&run.get_output().stdout)
}

/// Asserts exit code 2, an empty stdout, and one message on stderr.
pub(crate) fn assert_refused(run: Assert, sentence: &str) {
    run.code(2).stdout("").stderr(format!("error: {sentence}\n"));
}

/// A file of `tests/vectors`.
pub(crate) fn vectors(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let text = fs::read_to_string(path).expect("the vectors are part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

/// The blocks of `mainnet-headers.json` as lines for `verify`.
pub(crate) fn mainnet_lines() -> Vec<Value> {
    let vectors = vectors("mainnet-headers.json");
    let blocks = vectors["blocks"].as_array().expect("a list");
    let line = |block: &Value| {
        json!({
            "seed_hash": vectors["seed_hash"],
            "hashing_blob": block["hashing_blob"],
            "difficulty": block["difficulty"],
        })
    };
    blocks.iter().map(line).collect()
}

/// JSON lines of these values.
pub(crate) fn jsonl<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().map(|value| format!("{value}\n")).collect()
}

/// Parses JSON lines.
pub(crate) fn parse_jsonl(text: &[u8]) -> Vec<Value> {
    let text = str::from_utf8(text).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}
