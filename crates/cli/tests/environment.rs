//! What the surroundings can do to a run: too little memory, a closed pipe, a full disk.

#![cfg(target_os = "linux")]

mod common;

use std::{
    fs::OpenOptions,
    io::{Read, Write},
    process::{Command, Stdio},
};

use assert_cmd::cargo::cargo_bin;
use common::{assert_refused, jsonl, mainnet_lines, randomx};
use predicates::prelude::*;
use serde_json::{Value, json};

/// The command under a limit on its address space.
fn limited(kibibytes: u32, arguments: &[&str]) -> assert_cmd::Command {
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\"")]);
    shell.arg(cargo_bin!("randomx")).args(arguments);
    shell
}

#[test]
fn no_memory_for_the_cache_is_said() {
    let sentence = "no memory for the RandomX cache: 256 MiB needed";
    assert_refused(limited(200_000, &["hash", "--key", "", "--input", ""]).assert(), sentence);
    let verify =
        limited(200_000, &["verify", "--jsonl", "-"]).write_stdin(jsonl(&mainnet_lines())).assert();
    assert_refused(verify, sentence);
}

#[test]
fn no_memory_for_the_dataset_is_said() {
    let sentence = "no memory for the RandomX dataset: 2080 MiB needed";
    let fast = ["hash", "--key", "", "--input", "", "--mode", "fast"];
    assert_refused(limited(1_500_000, &fast).assert(), sentence);
    let bench = ["bench", "--mode", "fast", "--seconds", "1", "--no-microbenchmarks"];
    assert_refused(limited(1_500_000, &bench).assert(), sentence);
}

#[test]
fn a_benchmark_of_both_modes_goes_on_without_a_dataset() {
    let options = ["--seconds=1", "--warmup=0", "--no-microbenchmarks", "--threads=1", "--json"];
    let run = limited(1_500_000, &[&["bench"], &options[..]].concat()).assert().success();
    let run = run.stderr("note: no memory for the RandomX dataset: 2080 MiB needed\n");
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    for row in report["results"].as_array().expect("a list") {
        let fast = row["name"].as_str().is_some_and(|name| name.contains("fast"));
        assert_eq!(row["value"].is_null(), fast, "{row}");
    }
}

#[test]
fn no_memory_for_the_scratchpads_is_said() {
    let jobs: Vec<_> = (0..64).map(|_| json!({"key": "", "input": ""})).collect();
    limited(350_000, &["hash", "--jsonl", "-", "--threads", "64"])
        .write_stdin(jsonl(&jobs))
        .assert()
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("no memory for the RandomX scratchpads"))
        .stderr(predicate::str::contains("for each of 64 threads; fewer --threads or --lanes"));
}

#[test]
fn a_closed_pipe_ends_quietly_and_keeps_the_verdict() {
    let mut tampered = mainnet_lines();
    tampered[0]["difficulty"] = json!("9".repeat(77));
    for (lines, code) in [(mainnet_lines(), 0), (tampered, 1)] {
        let mut child = Command::new(cargo_bin!("randomx"))
            .args(["verify", "--jsonl", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(jsonl(&lines).as_bytes()).expect("the lines are read");
        drop(stdin);
        let mut stderr = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("UTF-8");
        assert_eq!(stderr, "");
        assert_eq!(child.wait().expect("an exit").code(), Some(code));
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let run = Command::new(cargo_bin!("randomx"))
        .args(["hash", "--key", "", "--input", ""])
        .stdout(full)
        .output()
        .expect("the binary starts");
    assert_eq!(run.status.code(), Some(2));
    let stderr = String::from_utf8(run.stderr).expect("UTF-8");
    assert!(stderr.starts_with("error: cannot write the results: "), "{stderr}");
}

#[test]
fn without_a_terminal_there_are_no_bars() {
    randomx(&["hash", "--key", "", "--input", ""]).assert().success().stderr("");
}
