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

/// A folder in which nobody creates files, not even root.
#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_folder_is_reported_before_the_work() {
    let named = predicate::str::starts_with("error: /proc/self: cannot be written: ");
    lab(&SHORT).args(["--svg", "/proc/self"]).assert().code(2).stdout("").stderr(named);
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error() {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 1000000; exec \"$0\" \"$@\""]);
    limited.arg(assert_cmd::cargo::cargo_bin!("randomx-lab"));
    let run = limited.args(["encode", "--samples", "134217728"]).assert();
    assert_refused(run, "no memory for the graph: 15104 MiB needed");
}

/// The system refuses each thread, because no memory is large enough for its stack.
#[cfg(unix)]
#[test]
fn an_experiment_needs_no_further_thread() {
    let mut run = lab(&SHORT);
    run.env("RUST_MIN_STACK", (usize::MAX / 4).to_string());
    let printed = predicate::str::contains("Speed(II), N = 8");
    run.assert().success().stdout(printed).stderr("");
}

#[test]
fn two_reports_in_one_file_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let long = ["chain", "--samples", "100000000"];
    let both = ["--json", "-", "--csv", "-"];
    let sentence = "json and csv: expected different files, got `-` and `-`";
    assert_refused(lab(&long).args(both).assert(), sentence);
    for same in ["a", "./a"] {
        let both = ["--csv", "a", "--markdown", same];
        let sentence = format!("csv and markdown: expected different files, got `a` and `{same}`");
        assert_refused(lab(&long).current_dir(&folder).args(both).assert(), &sentence);
    }
    assert_is_empty(folder.path());
}

#[test]
fn a_run_that_fails_leaves_files_as_they_were() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut failing = lab(&["chain", "--samples", "0", "--json", "report"]);
    failing.current_dir(&folder).assert().code(2);
    assert_is_empty(folder.path());
    fs::write(folder.path().join("report"), "earlier").expect("a file");
    failing.assert().code(2);
    assert_eq!(names_in(folder.path()), ["report"]);
    assert_eq!(fs::read(folder.path().join("report")).expect("the file"), b"earlier");
}

/// Files may grow to 512 or 1024 bytes.
#[cfg(unix)]
#[test]
fn tables_are_printed_and_earlier_files_stay_if_a_disk_is_full() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("report"), "earlier").expect("a file");
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]);
    limited.arg(assert_cmd::cargo::cargo_bin!("randomx-lab")).args(SHORT);
    let run = limited.current_dir(&folder).args(["--json", "report", "--csv", "absent"]).assert();
    let run = run.code(2).stderr(predicate::str::starts_with("error: report: cannot be written: "));
    run.stdout(predicate::str::contains("Speed(II), N = 8"));
    assert_eq!(names_in(folder.path()), ["report"]);
    assert_eq!(fs::read(folder.path().join("report")).expect("the file"), b"earlier");
}

/// A link, a pipe and the permissions of a file stay.
#[cfg(unix)]
#[test]
fn only_the_content_of_a_file_changes() {
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("file"), "earlier").expect("a file");
    fs::set_permissions(path("file"), PermissionsExt::from_mode(0o640)).expect("its owner");
    symlink("file", path("link")).expect("a link");
    Command::new("mkfifo").arg(path("pipe")).assert().success();
    // A reader that is also a writer waits for no other.
    let pipe = fs::File::options().read(true).write(true).open(path("pipe"));

    let options = ["--json", "link", "--csv", "pipe"];
    lab(&SHORT).current_dir(&folder).args(options).assert().success();
    assert_eq!(names_in(folder.path()), ["file", "link", "pipe"]);
    assert!(fs::symlink_metadata(path("link")).expect("the link").is_symlink());
    assert_eq!(fs::metadata(path("file")).expect("the file").permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(path("file")).expect("the file").starts_with('{'));
    assert!(fs::metadata(path("pipe")).expect("the pipe").file_type().is_fifo());
    let mut start = [0; 4];
    pipe.expect("a pipe").read_exact(&mut start).expect("the report");
    assert_eq!(&start, b"kind");
}

fn assert_is_empty(folder: &Path) {
    assert_eq!(names_in(folder), [""; 0]);
}

fn names_in(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder");
    let name = |file: std::io::Result<fs::DirEntry>| file.expect("a file").file_name();
    let mut names: Vec<_> = files.map(|file| name(file).into_string().expect("UTF-8")).collect();
    names.sort();
    names
}
