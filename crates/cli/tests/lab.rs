//! `randomx lab`: what it lists, prints, writes and refuses.

mod common;

use std::{fs, path::Path};

use common::{assert_refused, randomx};
use predicates::prelude::*;
use serde_json::Value;

/// As little as can be simulated.
const SHORT: [&str; 4] = ["lab", "chain", "--samples", "1000"];

#[test]
fn experiments_are_listed() {
    let listed = randomx(&["lab", "--list"]).assert().success().stderr("");
    let names = predicate::str::contains("chain").and(predicate::str::contains("Appendix A"));
    listed.stdout(names);
}

#[test]
fn a_report_is_printed_and_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let printed = randomx(&SHORT)
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
fn a_file_can_be_stdout() {
    let run = randomx(&SHORT).args(["--json", "-", "--threads", "1"]).assert().success().stderr("");
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("only JSON");
    let again = randomx(&SHORT).args(["--json", "-", "--threads", "2"]).assert().success();
    let again: Value = serde_json::from_slice(&again.get_output().stdout).expect("only JSON");
    assert_eq!(report["tables"], again["tables"]);
}

#[test]
fn what_cannot_be_met_is_named() {
    let names = predicate::str::starts_with("error: experiment: expected one of section2, chain");
    randomx(&["lab", "alchemy"]).assert().code(2).stdout("").stderr(names);
    let most = "samples: expected 1 to 100000000 hashes of each strategy, got 0";
    assert_refused(randomx(&["lab", "chain", "--samples", "0"]).assert(), most);
    let part = "only: `half` is no part of this experiment, which has none";
    assert_refused(randomx(&["lab", "chain", "--only", "half"]).assert(), part);
    let stream = "raw: `none` is no stream of this experiment, which has none";
    assert_refused(randomx(&["lab", "chain", "--raw", "none"]).assert(), stream);
    for option in ["--threads=0", "--seed=-1", "--bytes=1", "--no-such"] {
        let run = randomx(&["lab", "chain", option]).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(option.split('=').next().unwrap_or(option)));
    }
    randomx(&["lab"]).assert().code(2).stdout("");
}

#[test]
fn a_file_that_cannot_be_written_is_named_before_the_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("no/such/folder/report.json");
    let name = file.to_str().expect("a UTF-8 path");
    for option in ["--json", "--csv", "--markdown"] {
        let named = predicate::str::starts_with(format!("error: {name}: cannot be written: "));
        // What would take long, if it were begun.
        let long = ["lab", "chain", "--samples", "100000000", option, name];
        randomx(&long).assert().code(2).stdout("").stderr(named);
    }
}
