//! `randomx bench`: its reports, its records, and what it refuses.

use std::fs;
#[cfg(unix)]
use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::{assert_refused, randomx};
use assert_cmd::assert::Assert;
use predicates::prelude::*;
#[cfg(unix)]
use randomx_testing::Running;
use serde_json::Value;

/// The shortest benchmark.
const SHORT: [&str; 5] = ["bench", "--seconds=1", "--warmup=0", "--threads=1", "--mode=light"];

/// Whether the binary has the reference.
const REFERENCE: bool = cfg!(feature = "reference");

#[test]
fn results_are_printed_recorded_and_compared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let record = folder.path().join("record.json");
    let record = record.to_str().expect("a UTF-8 path");
    let options = ["--no-microbenchmarks", "--version=v1", "--json", "--record", record];
    let report = json(randomx(&SHORT).args(options).assert());
    let hashes = ["Hash v1 light, one at a time", "Hash v1 light, 1 thread"];
    let efficiency = ["Efficiency v1 light, 1 thread"];
    assert_eq!(names(&report), [&hashes[..], &efficiency].concat());
    for row in &rows(&report)[..hashes.len()] {
        assert!(row["value"].as_f64().is_some_and(|value| value > 0.0), "{row}");
        assert_eq!(row["unit"], "H/s");
        assert_eq!(row.get("ratio"), None);
    }
    assert!(report["machine"]["processor"].is_string(), "{report}");
    // The fastest number is measured.
    let lanes = report["machine"]["lanes"].as_str();
    assert!(lanes.is_some_and(|lanes| ["light v1 4", "light v1 8"].contains(&lanes)), "{lanes:?}");
    let recorded: Value =
        serde_json::from_slice(&fs::read(record).expect("the record")).expect("JSON");
    assert_eq!(recorded, report);

    let options = ["--no-microbenchmarks", "--version=v1", "--json", "--compare", record];
    let compared = json(randomx(&SHORT).args(options).assert());
    for (row, then) in rows(&compared).iter().zip(rows(&report)).take(hashes.len()) {
        assert_eq!(row["earlier"], then["value"]);
        assert!(row["change"].as_f64().is_some_and(|change| change > 0.0), "{row}");
    }
}

#[test]
fn every_microbenchmark_has_a_row() {
    let report = json(randomx(&SHORT).args(["--json"]).assert());
    let expected = [
        "Blake2b",
        "Blake2bLong",
        "Aes1R",
        "Aes4R",
        "AesHash1R",
        "Superscalar",
        "Compile v1",
        "Compile v2",
        "Argon2d",
        "Cache",
        "Dataset, 1 thread",
        "Hash v1 light, one at a time",
        "Hash v1 light, 1 thread",
        "Efficiency v1 light, 1 thread",
        "Hash v2 light, one at a time",
        "Hash v2 light, 1 thread",
        "Efficiency v2 light, 1 thread",
    ];
    assert_eq!(names(&report), expected);
}

#[test]
fn phases_of_a_hash_add_up() {
    let run = randomx(&SHORT).args(["--trace", "--version=v2", "--json"]).assert();
    let report = json(run);
    let phases: Vec<f64> = rows(&report)
        .iter()
        .filter(|row| row["name"].as_str().is_some_and(|name| name.starts_with("Trace v2 light")))
        .map(|row| {
            assert_eq!(row["unit"], "µs");
            row["value"].as_f64().expect("a number")
        })
        .collect();
    assert_eq!(phases.len(), 6);
    let hash = rows(&report).iter().find(|row| row["name"] == "Hash v2 light, 1 thread");
    let rate = hash.and_then(|row| row["value"].as_f64()).expect("a hash rate");
    // The phases together take as long as a hash; other load may disturb either measurement.
    let sum = phases.iter().sum::<f64>() * 1e-6 * rate;
    assert!(sum > 0.25 && sum < 4.0, "{sum}");
}

#[test]
fn verbose_adds_to_the_table() {
    let options = ["--no-microbenchmarks", "--version=v1"];
    for (verbose, machine, spread) in [("0", false, false), ("2", true, true)] {
        let run = randomx(&SHORT).args(options).args(["--verbose", verbose]).assert();
        let run = run.success().stderr("");
        let text = str::from_utf8(&run.get_output().stdout).expect("UTF-8").to_owned();
        assert!(text.contains("Hash v1 light, 1 thread"), "{text}");
        assert_eq!(text.contains("machine"), machine, "{text}");
        assert_eq!(text.contains("slowest"), spread, "{text}");
    }
}

#[test]
fn the_reference_is_measured_if_it_is_linked() {
    let options = ["--no-microbenchmarks", "--version=v1", "--against=reference", "--json"];
    let run = randomx(&SHORT).args(options).assert();
    if !REFERENCE {
        let sentence = "--against reference: expected a binary with the reference, built by \
                        `cargo build --release -p randomx-cli --features reference`";
        assert_refused(run, sentence);
        return;
    }
    let report = json(run);
    assert!(report["machine"]["reference"].is_string());
    let hashes = |row: &&Value| row["unit"] == "H/s";
    for row in rows(&report).iter().filter(hashes) {
        assert!(row["reference"].as_f64().is_some_and(|value| value > 0.0), "{row}");
        assert!(row["ratio"].as_f64().is_some_and(|value| value > 0.0), "{row}");
    }
}

#[test]
fn a_wrong_option_is_named_before_anything_is_measured() {
    for (option, value) in [
        ("--seconds", "0"),
        ("--seconds", "7201"),
        ("--warmup", "16"),
        ("--verbose", "3"),
        ("--threads", "0"),
        ("--threads", "10000"),
        ("--lanes", "9"),
        ("--mode", "slow"),
        ("--version", "3"),
        ("--against", "another"),
        ("--xmrig", "xmrig"),
    ] {
        let run = randomx(&["bench", option, value]).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(option));
    }
}

/// An XMRig in light mode that computes 100 hashes a second, and what else it may do.
#[cfg(unix)]
fn fake_xmrig(folder: &Path, last: &str) -> String {
    use std::os::unix::fs::PermissionsExt;

    let script = format!(
        "#!/bin/sh\n\
         if [ \"$1\" = --version ]; then echo 'XMRig 6.26.0'; echo ' built with tests'; exit; fi\n\
         echo \"$@\" >> '{}'\n\
         echo '[time]  randomx  dataset ready (400 ms)'\n\
         for second in 1 2 3 4 5 {last}",
        folder.join("arguments").display()
    );
    let path = folder.join("xmrig");
    fs::write(&path, script).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    path.to_str().expect("a UTF-8 path").to_owned()
}

#[cfg(unix)]
const REPORTS: &str =
    "do echo \"[time]  bench     0.00% ${second}00/10000000 (${second}.000s)\"; done\n";

#[cfg(unix)]
#[test]
fn xmrig_is_measured_by_its_own_offline_benchmark() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Its turns have at least five seconds by its own clock, which is not ours.
    let xmrig = fake_xmrig(folder.path(), &format!("6 7 8 9; {REPORTS}exec sleep 60"));
    let options = ["--version=v2", "--against=xmrig", "--xmrig", &xmrig];
    let report = json(randomx(&SHORT).args(options).arg("--json").assert());
    let expected = [
        "Hash v2 light, one at a time",
        "Hash v2 light, 1 thread",
        "Efficiency v2 light, 1 thread",
    ];
    assert_eq!(names(&report), expected);
    let [single, many, _] = rows(&report) else { panic!("three rows: {report}") };
    assert_eq!(single.get("reference"), None);
    assert_eq!(many["reference"], 100.0);
    let [value, ratio] = ["value", "ratio"].map(|name| many[name].as_f64().expect("a number"));
    assert!(ratio > 0.0 && value > 0.0, "{many}");
    let description = report["machine"]["reference"].as_str();
    assert!(description.is_some_and(|text| text.starts_with("XMRig 6.26.0, ")), "{description:?}");

    let turns = fs::read_to_string(folder.path().join("arguments")).expect("arguments");
    let arguments = "--bench=10M --algo=rx/2 --threads=1 --randomx-init=1 --randomx-mode=light \
                     --randomx-wrmsr=-1 --randomx-no-rdmsr --print-time=1 --no-color";
    assert!(turns.lines().count() >= 3, "{turns}");
    assert!(turns.lines().all(|turn| turn == arguments), "{turns}");

    let run = randomx(&SHORT).args(options).assert().success();
    run.stdout(predicate::str::contains(" XMRig "));
}

#[cfg(unix)]
#[test]
fn an_xmrig_that_does_not_work_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refused = |path: &str, problem: &str| {
        let run = randomx(&SHORT).args(["--against=xmrig", "--xmrig", path]).assert();
        assert_refused(run, &format!("--xmrig {path}: {problem}"));
    };
    refused("/bin/echo", "expected a program whose --version prints `XMRig`");
    let xmrig = fake_xmrig(folder.path(), &format!("; {REPORTS}"));
    refused(&xmrig, "it ended before its turn was over");
    let missing = randomx(&SHORT).args(["--against=xmrig", "--xmrig", "/no/xmrig"]).assert();
    missing
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("--xmrig /no/xmrig: cannot start: "));
    let other = randomx(&SHORT).args(["--against=reference", "--xmrig", &xmrig]).assert();
    assert_refused(other, "--xmrig: expected --against xmrig, got --against reference");
    let without = randomx(&SHORT).arg("--against=xmrig").assert().code(2).stdout("");
    without.stderr(predicate::str::contains("--xmrig <PATH>"));
}

/// A terminal would send its signal to both programs.
#[cfg(unix)]
#[test]
fn xmrig_ends_with_a_bench_that_is_terminated() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    // It ends with the test's folder, also if the test fails.
    let xmrig = fake_xmrig(
        folder.path(),
        &format!(
            "6; {REPORTS}echo $$ > '{0}.new'; mv '{0}.new' '{0}'; while [ -e '{0}' ]; do sleep 1; done",
            pid.display()
        ),
    );
    let mut bench = Command::new(env!("CARGO_BIN_EXE_randomx"));
    bench.args(SHORT).args(["--version=v2", "--against=xmrig", "--xmrig", &xmrig]);
    let bench = bench.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut bench = Running(bench.expect("a bench"));
    // The bench measures first, beside the other tests.
    let within = Instant::now() + Duration::from_secs(300);
    while !pid.is_file() {
        assert!(Instant::now() < within, "XMRig was not started");
        thread::sleep(Duration::from_millis(20));
    }
    let terminated = Command::new("kill").arg(bench.id().to_string()).status().expect("kill");
    assert!(terminated.success());
    assert_eq!(bench.wait().expect("an exit code").code(), Some(128 + 15));
    let pid = fs::read_to_string(pid).expect("a process id");
    let probe = Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status();
    assert!(!probe.expect("kill").success(), "XMRig still runs");
}

#[test]
fn a_wrong_record_is_named_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("record.json");
    let name = file.to_str().expect("a UTF-8 path");
    let refused = |problem: &str| {
        let named = predicate::str::starts_with(format!("error: {name}: {problem}"));
        randomx(&["bench", "--compare", name]).assert().code(2).stdout("").stderr(named);
    };
    refused("cannot read it: ");
    for content in ["", "{}", "[]", r#"{"machine":{},"results":[{"name":1}]}"#] {
        fs::write(&file, content).expect("a file");
        refused("not a record of `randomx bench`: ");
    }
}

#[test]
fn a_record_that_cannot_be_written_is_named_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("no/such/folder/record.json");
    let name = file.to_str().expect("a UTF-8 path");
    let named = predicate::str::starts_with(format!("error: {name}: cannot write it: "));
    randomx(&["bench", "--record", name]).assert().code(2).stdout("").stderr(named);
}

#[test]
fn a_record_is_written_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("record.json");
    let name = file.to_str().expect("a UTF-8 path");
    let files = || fs::read_dir(folder.path()).expect("a folder").count();
    let failing = ["--against=xmrig", "--xmrig=/no/xmrig", "--record", name];
    randomx(&SHORT).args(failing).assert().code(2).stdout("");
    assert_eq!(files(), 0, "a run that fails leaves nothing");

    fs::write(&file, "an older record").expect("a file");
    randomx(&SHORT).args(failing).assert().code(2);
    // Within the limit on the size of files, which stands for a full disk, nothing can be written.
    #[cfg(target_os = "linux")]
    {
        let mut shell = assert_cmd::Command::new("sh");
        shell.args(["-c", "trap '' XFSZ && ulimit -f 0 && exec \"$0\" \"$@\""]);
        shell.arg(assert_cmd::cargo::cargo_bin!("randomx")).args(SHORT);
        shell.args(["--no-microbenchmarks", "--version=v1", "--json", "--record", name]);
        let named = predicate::str::starts_with(format!("error: {name}: cannot write it: "));
        let run = shell.assert().code(2).stderr(named);
        let report = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
        assert_eq!(rows(&report).len(), 3, "the results are printed nevertheless: {report}");
    }
    assert_eq!(fs::read(&file).expect("a file"), b"an older record");
    assert_eq!(files(), 1, "no other file is left");
}

#[cfg(unix)]
#[test]
fn a_record_does_not_replace_a_device() {
    let sentence = "/dev/null: cannot write it: expected a regular file, or none yet";
    assert_refused(randomx(&["bench", "--record", "/dev/null"]).assert(), sentence);
}

fn json(run: Assert) -> Value {
    let run = run.success().stderr("");
    serde_json::from_slice(&run.get_output().stdout).expect("JSON")
}

fn rows(report: &Value) -> &[Value] {
    report["results"].as_array().expect("a list")
}

fn names(report: &Value) -> Vec<&str> {
    rows(report).iter().map(|row| row["name"].as_str().expect("a string")).collect()
}
