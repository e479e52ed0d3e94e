//! `randomx follow` when nobody reads what it prints, and files that the program does not replace.

mod common;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, ExitStatus, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use common::fake_node::{FakeChain, Reply, serve};
use randomx_testing::Running;
use serde_json::Value;

const BLOCKS: u64 = 20;

/// The longest that a run may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn node() -> String {
    let honest = |_: &str, _: &Value, result| Reply::Result(result);
    serve(Arc::new(FakeChain::new(BLOCKS)), honest)
}

/// A follower that ends with the test.
struct Follower(Running);

impl Follower {
    fn start(difficulty: &str, arguments: &[&str]) -> Follower {
        let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
            .args(["follow", "--network", "regtest", "--threads", "2", "--json"])
            .args(["--fixed-difficulty", difficulty])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Follower(Running(child.expect("the program starts")))
    }

    /// Reads a number of lines, and closes the pipe.
    fn read(&mut self, lines: usize) {
        let stdout = BufReader::new(self.0.stdout.take().expect("a pipe"));
        assert_eq!(stdout.lines().take(lines).flatten().count(), lines);
    }

    /// Waits for the end. Returns the exit status and the messages.
    fn end(mut self) -> (ExitStatus, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait().expect("a process") {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "it runs on");
            thread::sleep(Duration::from_millis(50));
        };
        let mut messages = String::new();
        let mut stderr = self.0.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut messages).expect("UTF-8");
        (status, messages)
    }
}

#[test]
fn a_follower_without_a_reader_ends_and_frees_its_store() {
    let node = node();
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().to_str().expect("UTF-8");
    for lines in [0, 1] {
        let mut follower = Follower::start("1", &["--node", &node, "--store", store]);
        follower.read(lines);
        let (status, messages) = follower.end();
        assert_eq!((status.code(), messages.as_str()), (Some(0), ""), "after {lines} lines");
    }
    let mut once = Follower::start("1", &["--node", &node, "--store", store, "--once"]);
    once.read(0);
    assert_eq!(once.end().0.code(), Some(0));
}

#[test]
fn a_run_with_once_goes_on_without_a_reader_until_its_exit_code_is_known() {
    let node = node();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("checkpoint.json");
    let checkpoint = ["--checkpoint", file.to_str().expect("UTF-8")];
    let arguments = [&["--once", "--node", &node][..], &checkpoint].concat();
    let evidence = ["--evidence", folder.path().to_str().expect("UTF-8")];
    let arguments = [&arguments[..], &evidence].concat();
    // No hash of these blocks meets the second difficulty.
    for (difficulty, code) in [("1", 0), ("1000000000000000", 1)] {
        let mut follower = Follower::start(difficulty, &arguments);
        follower.read(0);
        let (status, messages) = follower.end();
        assert_eq!((status.code(), messages.as_str()), (Some(code), ""));
        assert_eq!(file.exists(), code == 0);
        let files = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 1, "the checkpoint or the evidence");
        let _ = fs::remove_file(&file);
    }
}

#[cfg(unix)]
#[test]
fn a_checkpoint_replaces_regular_files_only() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let node = node();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (pipe, link, file) = (path("pipe"), path("link"), path("file"));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is `mkfifo`").success());
    let chain = ["--network", "regtest", "--fixed-difficulty", "1", "--threads", "2"];
    // Nothing listens there.
    let nowhere = ["--node", "http://127.0.0.1:1"];
    let refused = format!("error: {pipe}: cannot write it: expected a regular file, or none yet\n");
    for command in [&["follow", "--once"][..], &["verify", "--from", "1"]] {
        let arguments = [command, &chain, &nowhere, &["--checkpoint", &pipe]].concat();
        common::randomx(&arguments).assert().code(2).stdout("").stderr(refused.clone());
    }
    assert!(fs::metadata(&pipe).expect("the pipe").file_type().is_fifo());

    symlink("file", &link).expect("a link");
    for command in [&["follow", "--once"][..], &["verify", "--to", "10", "--from", "1"]] {
        let arguments = [command, &chain, &["--node", &node, "--checkpoint", &link]].concat();
        common::randomx(&arguments).assert().code(0);
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert!(fs::symlink_metadata(&file).expect("its target").is_file());
        fs::remove_file(&file).expect("a file");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "the pipe and the link");
}
