//! Runs in difficult environments: too little memory, a closed pipe, a full disk.

use std::{
    fs::{self, OpenOptions},
    io::{Read, Write},
    os::unix::fs::symlink,
    process::{Command, Stdio},
    sync::Arc,
};

use crate::common::{
    assert_refused,
    fake_node::{FakeChain, Reply, serve},
    jsonl, mainnet_lines, randomx,
};
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use randomx_testing::Running;
use serde_json::{Value, json};

/// The command under a limit on its address space.
fn limited(kibibytes: u32, arguments: &[&str]) -> assert_cmd::Command {
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\"")]);
    shell.arg(cargo_bin!("randomx")).args(arguments);
    // Otherwise glibc reserves 64 MiB of addresses for each thread, and small allocations fail first.
    shell.env("MALLOC_ARENA_MAX", "1");
    // Room for small allocations, which cannot fail, when scratchpads have taken the other addresses.
    shell.env("MALLOC_TOP_PAD_", "8388608");
    shell
}

#[test]
fn no_memory_for_the_cache_is_reported() {
    let sentence = "no memory for the RandomX cache: 256 MiB needed";
    assert_refused(limited(200_000, &["hash", "--key", "", "--input", ""]).assert(), sentence);
    let verify =
        limited(200_000, &["verify", "--jsonl", "-"]).write_stdin(jsonl(&mainnet_lines())).assert();
    assert_refused(verify, sentence);
}

#[test]
fn no_memory_for_the_dataset_is_reported() {
    let sentence = "no memory for the RandomX dataset: 2080 MiB needed";
    let fast = ["hash", "--key", "", "--input", "", "--mode", "fast"];
    assert_refused(limited(1_500_000, &fast).assert(), sentence);
    let bench = ["bench", "--mode", "fast", "--seconds", "1", "--no-microbenchmarks"];
    assert_refused(limited(1_500_000, &bench).assert(), sentence);
}

#[test]
fn a_benchmark_of_both_modes_continues_without_a_dataset() {
    let options = ["--seconds=1", "--warmup=0", "--no-microbenchmarks", "--threads=1", "--json"];
    let run = limited(1_500_000, &[&["bench"], &options[..]].concat()).assert().success();
    let run = run.stderr("note: no memory for the RandomX dataset: 2080 MiB needed\n");
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    for row in report["results"].as_array().expect("a list") {
        let fast = row["name"].as_str().is_some_and(|name| name.contains("fast"));
        let efficiency = row["unit"] == "H/J";
        assert!(row["value"].is_null() == fast || efficiency, "{row}");
    }
}

#[test]
fn a_benchmark_of_light_mode_has_a_dash_for_the_dataset() {
    let mode = ["bench", "--mode", "light", "--version", "v1"];
    let options = ["--seconds=1", "--warmup=0", "--threads=1", "--json"];
    let run = limited(1_500_000, &[&mode[..], &options].concat()).assert().success();
    let run = run.stderr("note: no memory for the RandomX dataset: 2080 MiB needed\n");
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let rows = report["results"].as_array().expect("a list");
    assert!(rows.iter().any(|row| row["name"] == "Dataset, 1 thread"), "{report}");
    for row in rows {
        let dataset = row["name"] == "Dataset, 1 thread";
        let efficiency = row["unit"] == "H/J";
        assert!(row["value"].is_null() == dataset || efficiency, "{row}");
    }
}

#[test]
fn no_memory_for_the_scratchpads_is_reported() {
    let jobs: Vec<_> = (0..64).map(|_| json!({"key": "", "input": ""})).collect();
    // The cache fits, and the reader's thread. The threads that fit may hash before another one fails. Just above some
    // limits a thread's stack fits, but not its stack for signals, and Rust's library aborts the program. These two
    // differ by much less than a thread's memory and much more than a signal stack, so at most one of them is such.
    let is_reported = |limit| {
        let run = limited(limit, &["hash", "--jsonl", "-", "--threads", "64"])
            .write_stdin(jsonl(&jobs))
            .assert();
        let is_aborted = run.get_output().status.code().is_none();
        if !is_aborted {
            run.code(2)
                .stdout(predicate::function(|answers: &str| answers.lines().count() < 64))
                .stderr(predicate::str::contains("no memory for the RandomX scratchpads"))
                .stderr(predicate::str::contains(
                    "for each of 64 threads; use fewer --threads or --lanes",
                ));
        }
        !is_aborted
    };
    assert!(is_reported(440_000) || is_reported(441_000));
}

/// The command on a system that refuses to make written pages executable: perl requests that
/// by `prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN)`, and the command inherits it.
#[cfg(target_arch = "x86_64")]
fn without_executable_pages(arguments: &[&str]) -> Option<assert_cmd::Command> {
    const REFUSE: &str = "syscall(157, 65, 1, 0, 0, 0) == 0 or exit 77;";
    let probe = Command::new("perl").args(["-e", REFUSE]).status();
    if !probe.is_ok_and(|status| status.success()) {
        randomx_testing::say("skipped: no perl, or the kernel has no PR_SET_MDWE");
        return None;
    }
    let mut perl = assert_cmd::Command::new("perl");
    perl.args(["-e", &format!("{REFUSE} exec @ARGV")]).arg(cargo_bin!("randomx")).args(arguments);
    Some(perl)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn without_executable_pages_the_interpreter_runs_or_the_refusal_is_reported() {
    let info = ["info", "--json", "--secure"];
    let Some(mut interpreter) = without_executable_pages(&info) else { return };
    let run = interpreter.assert().success().stderr("");
    let host: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    assert_eq!(host["engine"], "interpreter");

    let text = ["hash", "--key-text", "test key 000", "--input-text", "This is a test"];
    let secure = [&text[..], &["--secure"]].concat();
    let hash = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f\n";
    if let Some(mut fallback) = without_executable_pages(&secure) {
        fallback.assert().success().stdout(hash).stderr("");
    }
    let insisting = [&secure[..], &["--engine", "jit"]].concat();
    if let Some(mut insisting) = without_executable_pages(&insisting) {
        let said = predicate::str::starts_with("error: cannot map executable memory: ");
        insisting.assert().code(2).stdout("").stderr(said);
    }
}

#[test]
fn a_closed_pipe_ends_quietly_and_keeps_the_verdict() {
    let mut tampered = mainnet_lines();
    tampered[0]["difficulty"] = json!("9".repeat(77));
    for (lines, code) in [(mainnet_lines(), 0), (tampered, 1)] {
        let child = Command::new(cargo_bin!("randomx"))
            .args(["verify", "--jsonl", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = Running(child.expect("the binary starts"));
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
fn the_verdict_on_a_nodes_chain_needs_no_reader() {
    let node = serve(Arc::new(FakeChain::new(100)), |_, _, result| Reply::Result(result));
    let verify = ["verify", "--network", "regtest", "--from", "1", "--node", &node];
    // No hash of these blocks meets the second difficulty.
    for (difficulty, code) in [("1", 0), ("1000000000000000", 1)] {
        let child = Command::new(cargo_bin!("randomx"))
            .args(verify)
            .args(["--fixed-difficulty", difficulty])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = Running(child.expect("the binary starts"));
        drop(child.stdout.take());
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

#[test]
fn audits_are_a_program_of_their_own() {
    let program = cargo_bin!("randomx");
    // A link needs the same file system, and another name would lead back to the build's folder.
    let folder = tempfile::tempdir_in(program.parent().expect("a folder")).expect("a folder");
    let linked = folder.path().join("randomx");
    fs::hard_link(program, &linked).expect("a link");
    let run = |arguments: &[&str]| {
        assert_cmd::Command::new(&linked).args(arguments).env("PATH", folder.path()).assert()
    };
    for command in ["audit", "collect"] {
        let sentence = "expected the program randomx-audit beside this one or in PATH; \
                        `cargo install --locked --path crates/audit` installs it";
        assert_refused(run(&[command, "--output", "x"]), &format!("{command}: {sentence}"));
    }
    let other = folder.path().join("randomx-audit");
    symlink("/bin/echo", &other).expect("a link");
    run(&["audit", "--jsonl", "a b", "--help"]).code(0).stdout("audit --jsonl a b --help\n");
    run(&["collect", "-x"]).code(0).stdout("collect -x\n");
    fs::remove_file(&other).expect("a link");
    symlink("/bin/false", &other).expect("a link");
    run(&["audit"]).code(1).stdout("");
}
