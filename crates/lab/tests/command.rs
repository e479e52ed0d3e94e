//! `randomx-lab`: what it lists, prints, writes and refuses.

use std::{fs, path::Path};

use assert_cmd::{Command, assert::Assert, cargo::cargo_bin_cmd};
use predicates::prelude::*;
use serde_json::Value;

/// The smallest simulation.
const SHORT: [&str; 3] = ["chain", "--samples", "1000"];

fn lab(arguments: &[&str]) -> Command {
    let mut command = cargo_bin_cmd!("randomx-lab");
    command.args(arguments);
    command
}

/// Asserts exit code 2, nothing on stdout, and this error on stderr.
fn assert_refused(run: Assert, sentence: &str) {
    run.code(2).stdout("").stderr(format!("error: {sentence}\n"));
}

#[test]
fn experiments_are_listed() {
    let listed = lab(&["--list"]).assert().success().stderr("");
    let names = predicate::str::contains("chain").and(predicate::str::contains("Appendix A"));
    listed.stdout(names);
}

#[test]
fn help_explains_the_options_and_exit_codes() {
    let mut help = lab(&["--help"]).assert().success().stderr("");
    for part in ["randomx-lab --list", "--samples", "--raw", "Exit codes:"] {
        help = help.stdout(predicate::str::contains(part));
    }
}

#[test]
fn a_report_is_printed_and_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let printed = lab(&SHORT)
        .args(["--json", &path("a.json"), "--csv", &path("a.csv")])
        .args(["--markdown", &path("a.md"), "--svg", &path("pictures")])
        .assert()
        .success()
        .stderr("");
    printed.stdout(predicate::str::contains("Speed(II), N = 8"));
    let read = |name: &str| fs::read_to_string(path(name)).expect("the file");
    let report: Value = serde_json::from_str(&read("a.json")).expect("JSON");
    assert_eq!(report["experiment"], "chain");
    assert_eq!(report["samples"], 1000);
    assert!(report["tables"][0]["rows"][0]["published"].is_number(), "{report}");
    assert!(read("a.csv").starts_with("kind,of,name,published,here,unit,x,why\n"));
    assert!(read("a.md").contains("](chain-speed.svg)"));
    let picture = Path::new(&path("pictures")).join("chain-speed.svg");
    assert!(fs::read_to_string(picture).expect("the picture").starts_with("<svg"));
}

#[test]
fn a_dash_writes_to_stdout() {
    let run = lab(&SHORT).args(["--json", "-", "--threads", "1"]).assert().success().stderr("");
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("only JSON");
    let again = lab(&SHORT).args(["--json", "-", "--threads", "2"]).assert().success();
    let again: Value = serde_json::from_slice(&again.get_output().stdout).expect("only JSON");
    assert_eq!(report["tables"], again["tables"]);
}

#[test]
fn a_stream_ends_after_the_bytes_asked_for() {
    let run = lab(&["rng", "--raw", "4r-hashed", "--bytes", "1000"]).assert().success().stderr("");
    assert_eq!(run.get_output().stdout.len(), 1000);
}

#[test]
fn invalid_arguments_are_named() {
    let names = predicate::str::starts_with("error: experiment: expected one of section2, chain");
    lab(&["alchemy"]).assert().code(2).stdout("").stderr(names);
    let most = "samples: expected 1 to 100000000 hashes of each strategy, got 0";
    assert_refused(lab(&["chain", "--samples", "0"]).assert(), most);
    let part = "only: expected nothing, as the experiment has no parts; got `half`";
    assert_refused(lab(&["chain", "--only", "half"]).assert(), part);
    let stream = "raw: expected nothing, as the experiment has no streams; got `none`";
    assert_refused(lab(&["chain", "--raw", "none"]).assert(), stream);
    for option in ["--threads=0", "--threads=1025", "--seed=-1", "--bytes=1", "--no-such"] {
        let run = lab(&["chain", option]).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(option.split('=').next().unwrap_or(option)));
    }
    lab(&[]).assert().code(2).stdout("");
}

#[test]
fn an_unwritable_file_is_reported_before_the_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("no/such/folder/report.json");
    let name = file.to_str().expect("a UTF-8 path");
    for option in ["--json", "--csv", "--markdown"] {
        let named = predicate::str::starts_with(format!("error: {name}: cannot be written: "));
        // Running this experiment would take long.
        let long = ["chain", "--samples", "100000000", option, name];
        lab(&long).assert().code(2).stdout("").stderr(named);
    }
}
