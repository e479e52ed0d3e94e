//! JSON lines as a stream: a program that keeps a pipe open gets its answers line by line.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use crate::common::{mainnet_lines, vectors};
use assert_cmd::cargo::cargo_bin;
use randomx_testing::{Running, say};
use serde_json::{Value, json};

/// The longest that an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run that a test writes lines to.
struct Helper {
    child: Running,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl Helper {
    fn start(arguments: &[&str]) -> Helper {
        let child = Command::new(cargo_bin!("randomx"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = Running(child.expect("the program starts"));
        let (sender, output) = mpsc::channel();
        let stdout = child.stdout.take().expect("a pipe");
        thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.map_while(|line| sender.send(line).ok()).for_each(drop);
        });
        Helper { input: child.stdin.take(), child, output }
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(text.as_bytes()).expect("the program reads");
    }

    /// The next line of output.
    fn answer(&self) -> Value {
        let line = self.output.recv_timeout(PATIENCE).expect("an answer while the input is open");
        serde_json::from_str(&line).expect("a JSON line")
    }

    /// Ends the input; returns the exit code, what else was printed, and stderr.
    fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        drop(self.input.take());
        let rest = self.output.iter().collect();
        let mut stderr = String::new();
        let mut errors = self.child.stderr.take().expect("a pipe");
        errors.read_to_string(&mut stderr).expect("UTF-8");
        (self.child.wait().expect("an exit").code(), rest, stderr)
    }

    /// The most memory that the program had so far, in MiB.
    #[cfg(target_os = "linux")]
    fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("Linux has it");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        peak.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") >> 10
    }
}

/// Lines for `hash` with one key, and their hashes.
fn jobs(key: &str, count: usize) -> Vec<(String, Value)> {
    let vectors = vectors("reference-hashes.json");
    let all = vectors["vectors"].as_array().expect("a list");
    let of_key = all.iter().filter(|vector| vector["key"] == key);
    let jobs: Vec<_> = of_key
        .take(count)
        .map(|vector| {
            let (version, input) = (&vector["version"], &vector["input"]);
            let line = json!({ "version": version, "key": key, "input": input });
            (format!("{line}\n"), json!({ "hash": vector["hash"] }))
        })
        .collect();
    assert_eq!(jobs.len(), count);
    jobs
}

/// Two keys of the vectors.
fn keys() -> [String; 2] {
    let vectors = vectors("reference-hashes.json");
    let all = vectors["vectors"].as_array().expect("a list");
    let key = |vector: &Value| vector["key"].as_str().expect("a string").to_owned();
    [key(&all[0]), key(all.last().expect("a vector"))]
}

#[test]
fn a_helper_answers_each_line_while_its_input_is_open() {
    let [first, second] = keys();
    let mut helper = Helper::start(&["hash", "--jsonl", "-"]);
    // One at a time, with keys that alternate and are expanded once.
    for ((line, hash), (other_line, other_hash)) in jobs(&first, 4).iter().zip(&jobs(&second, 4)) {
        helper.write(line);
        assert_eq!(helper.answer(), *hash);
        helper.write(other_line);
        assert_eq!(helper.answer(), *other_hash);
    }
    // Several at once, and a line in two parts.
    let jobs = jobs(&second, 9);
    let text: String = jobs.iter().map(|(line, _)| line.as_str()).collect();
    let (begun, rest) = text.split_at(text.len() - 10);
    helper.write(begun);
    for (_, hash) in &jobs[..8] {
        assert_eq!(helper.answer(), *hash);
    }
    helper.write(rest);
    assert_eq!(helper.answer(), jobs[8].1);
    assert_eq!(helper.end(), (Some(0), vec![], String::new()));
}

#[test]
fn verdicts_come_while_the_input_is_open_and_count_at_its_end() {
    let mut lines = mainnet_lines();
    let mut helper = Helper::start(&["verify", "--jsonl", "-"]);
    helper.write(&format!("{}\n", lines[0]));
    assert_eq!(helper.answer()["valid"], true);
    lines[1]["difficulty"] = json!("9".repeat(77));
    helper.write(&format!("{}\n{}\n", lines[1], lines[2]));
    assert_eq!(helper.answer()["valid"], false);
    assert_eq!(helper.answer()["valid"], true);
    assert_eq!(helper.end(), (Some(1), vec![], String::new()));
}

#[test]
fn lines_before_a_malformed_one_are_answered() {
    let [key, _] = keys();
    let jobs = jobs(&key, 9);
    let mut helper = Helper::start(&["hash", "--jsonl", "-"]);
    let text: String = jobs.iter().map(|(line, _)| line.as_str()).collect();
    helper.write(&format!("{text}{{}}\n{}", jobs[0].0));
    for (_, hash) in &jobs {
        assert_eq!(helper.answer(), *hash);
    }
    let error = "error: stdin: line 10: missing field `key` (column 2)\n";
    assert_eq!(helper.end(), (Some(2), vec![], error.to_owned()));
}

#[test]
fn a_closed_output_ends_hash_although_the_input_is_open() {
    let [key, _] = keys();
    let (line, _) = &jobs(&key, 1)[0];
    let child = Command::new(cargo_bin!("randomx"))
        .args(["hash", "--jsonl", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Running(child.expect("the program starts"));
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(line.as_bytes()).expect("the program reads");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut String::new()).expect("an answer");
    drop::<BufReader<ChildStdout>>(output);
    input.write_all(line.as_bytes()).expect("the program reads");
    assert_eq!(child.wait().expect("an exit").code(), Some(0));
    drop(input);
}

#[cfg(unix)]
const SIGINT: i32 = 2;

/// Returns whether this process ignores SIGINT, as programs do that a script starts in the background.
#[cfg(unix)]
fn ignores_interrupts() -> bool {
    // Systems without such a file run the test.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 << (SIGINT - 1) != 0)
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_run_between_whole_lines() {
    use std::os::unix::process::ExitStatusExt;

    if ignores_interrupts() {
        say("skipped: a test of SIGINT, which this process and all that it starts ignore");
        return;
    }
    let [key, _] = keys();
    let jobs = jobs(&key, 9);
    let text: String = jobs.iter().map(|(line, _)| line.as_str()).collect();
    // While it waits for input, and while it hashes.
    for repetitions in [1, 300] {
        let mut helper = Helper::start(&["hash", "--jsonl", "-"]);
        helper.write(&text.repeat(repetitions));
        for (_, hash) in &jobs {
            assert_eq!(helper.answer(), *hash);
        }
        let id = helper.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().expect("a signal");
        assert!(sent.success());
        let status = helper.child.wait().expect("an exit");
        assert_eq!(status.signal(), Some(SIGINT));
        for line in helper.output.iter() {
            let answer: Value = serde_json::from_str(&line).expect("a whole line");
            assert_eq!(answer["hash"].as_str().map(str::len), Some(64));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_whatever_the_input_holds() {
    // Inputs of 1 MiB arrive faster than one interpreted lane hashes them, so the window fills after some lines.
    const LINES: usize = 85;
    const MOST: usize = 2000;
    const WINDOW: usize = 64;
    let slow = ["--threads=1", "--lanes=1", "--engine=interpreter"];
    let mut helper = Helper::start(&[&["hash", "--jsonl", "-"][..], &slow].concat());
    let zeros = "0".repeat((2 << 20) - 8);
    let (mut written, mut answers, mut most) = (0, 0, 0);
    let end = Instant::now() + PATIENCE;
    while written < LINES || most < WINDOW && written < MOST && Instant::now() < end {
        written += 1;
        helper.write(&format!("{{\"key\":\"\",\"input\":\"{written:08x}{zeros}\"}}\n"));
        answers += helper.output.try_iter().count();
        most = most.max(written - answers);
    }
    // The reader holds one line more, and an answer may be on its way.
    assert!((WINDOW..=WINDOW + 4).contains(&most), "{most} lines without an answer");
    // The cache and the window take 320 MiB.
    let peak = helper.peak_memory();
    assert!(peak < 360, "{peak} MiB");
    assert_eq!(helper.answer()["hash"].as_str().map(str::len), Some(64));
}
