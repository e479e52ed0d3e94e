//! `randomx follow` and `randomx guard` when nobody reads what they print, files that the program does
//! not replace, and names of files that are not text.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::common::fake_node::{FakeChain, Reply, serve};
use randomx_testing::Running;
use serde_json::Value;

const BLOCKS: u64 = 20;

/// The longest that a run may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn honest(_: &str, _: &Value, result: Value) -> Reply {
    Reply::Result(result)
}

fn node() -> String {
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

#[test]
fn a_folder_that_cannot_hold_evidence_is_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "x").expect("writable");
    let file = file.to_str().expect("UTF-8");
    let chain = ["--network", "regtest", "--node", "http://127.0.0.1:1"];
    let mut run =
        crate::common::randomx(&[&["follow", "--once", "--evidence", file][..], &chain].concat());
    let refused = format!("error: {file}: cannot write evidence: ");
    let refused = predicates::str::starts_with(refused);
    run.assert().code(2).stdout("").stderr(refused);
}

/// A source chooses when it sends false data: the disk may be full then.
#[test]
fn events_and_the_exit_code_do_not_depend_on_evidence_that_cannot_be_written() {
    let node = node();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (store, evidence) = (path("store"), path("evidence"));
    let chain = ["--network", "regtest", "--fixed-difficulty", "1", "--node", &node];
    let once = ["follow", "--once", "--store", &store];
    crate::common::randomx(&[&once[..], &chain].concat()).assert().code(0);

    // No hash of these blocks meets the second difficulty.
    let disagreeing = ["--store", &store, "--node", &node];
    let runs = [("1", 0, &disagreeing[..]), ("1000000000000000", 1, &[])];
    for (difficulty, code, more) in runs {
        let is_gone = Arc::new(AtomicBool::new(false));
        let gone = Arc::clone(&is_gone);
        let longer = serve(Arc::new(FakeChain::forked(10, BLOCKS + 5)), move |_, _, result| {
            while !gone.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(10));
            }
            Reply::Result(result)
        });
        let arguments = ["--once", "--evidence", &evidence, "--node", &longer];
        let mut follower = Follower::start(difficulty, &[&arguments[..], more].concat());
        let mut lines = BufReader::new(follower.0.stdout.take().expect("a pipe")).lines();
        lines.next().expect("the tip at the start").expect("UTF-8");
        fs::remove_dir(&evidence).expect("an empty folder");
        fs::write(&evidence, "x").expect("writable");
        is_gone.store(true, Ordering::Relaxed);
        let events = lines.map(|line| line.expect("UTF-8").parse().expect("JSON"));
        let events: Vec<Value> = events.collect();
        let has_evidence = |event: &&Value| event.get("evidence").is_some();
        let accused: Vec<&Value> = events.iter().filter(has_evidence).collect();
        assert!(!accused.is_empty(), "{events:?}");
        assert!(accused.iter().all(|event| event["evidence"].is_null()), "{events:?}");
        let (status, messages) = follower.end();
        assert_eq!(status.code(), Some(code), "{messages}");
        let note = format!("note: {evidence}: cannot write evidence: ");
        assert!(messages.starts_with(&note), "{messages}");
        assert_eq!(messages.lines().count(), 1, "{messages}");
        fs::remove_file(&evidence).expect("a file");
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
        crate::common::randomx(&arguments).assert().code(2).stdout("").stderr(refused.clone());
    }
    assert!(fs::metadata(&pipe).expect("the pipe").file_type().is_fifo());

    symlink("file", &link).expect("a link");
    for command in [&["follow", "--once"][..], &["verify", "--to", "10", "--from", "1"]] {
        let arguments = [command, &chain, &["--node", &node, "--checkpoint", &link]].concat();
        crate::common::randomx(&arguments).assert().code(0);
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert!(fs::symlink_metadata(&file).expect("its target").is_file());
        fs::remove_file(&file).expect("a file");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "the pipe and the link");
}

#[cfg(target_os = "linux")]
#[test]
fn evidence_is_reported_also_from_a_folder_whose_name_is_not_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let node = node();
    let longer = serve(Arc::new(FakeChain::forked(10, BLOCKS + 5)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join(OsStr::from_bytes(b"gr\xf6\xdfe"));
    let chain = ["--network", "regtest", "--fixed-difficulty", "1", "--threads", "2"];
    let follow = |nodes: &[&str]| {
        let arguments = [&["follow", "--once", "--json"][..], &chain, nodes].concat();
        crate::common::randomx(&arguments).arg("--store").arg(&store).assert().code(0)
    };
    follow(&["--node", &node]);
    let run = follow(&["--node", &node, "--node", &longer]);
    let events = crate::common::parse_jsonl(&run.get_output().stdout);
    let files: Vec<_> = events.iter().filter_map(|event| event["evidence"].as_str()).collect();
    assert!(!files.is_empty() && files.iter().all(|file| file.contains("gr\u{fffd}\u{fffd}e")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_guard_answers_also_if_its_results_cannot_be_written() {
    use std::os::fd::OwnedFd;

    let is_closed = Arc::new(AtomicBool::new(false));
    let closed = Arc::clone(&is_closed);
    // There is nothing to report before.
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |_, _, result| {
        while !closed.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
        }
        Reply::Result(result)
    });
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let stdout = TcpStream::connect(address).expect("a connection");
    let (reader, _) = listener.accept().expect("a connection");
    let folder = tempfile::tempdir().expect("a folder");
    let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
        .args(["guard", "--network", "regtest", "--fixed-difficulty", "1", "--threads", "2"])
        .args(["--listen", "127.0.0.1:0", "--node", &node, "--store"])
        .arg(folder.path())
        .stdout(OwnedFd::from(stdout))
        .stderr(Stdio::piped())
        .spawn();
    let mut guard = Running(child.expect("the program starts"));
    let mut line = [0; 100];
    let line = loop {
        let length = reader.peek(&mut line).expect("a line");
        assert!(length > 0, "it has ended");
        if let Some(line) = line[..length].strip_suffix(b"\n") {
            break String::from_utf8_lossy(line).into_owned();
        }
    };
    let host = line.strip_prefix("listening on http://").expect("an address");
    // Closing a socket with unread bytes resets the connection, which is another error than a closed pipe.
    drop(reader);
    is_closed.store(true, Ordering::Relaxed);
    let messages = BufReader::new(guard.stderr.take().expect("a pipe")).lines();
    let mut messages = messages.map(|line| line.expect("UTF-8"));
    let message =
        messages.find(|line| line.contains("cannot write the results")).expect("a message");
    assert!(message.starts_with("note: "), "{message}");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET /guard/status HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// A terminal that is stopped with Ctrl-S reads nothing, and neither does a service manager that hangs.
#[cfg(unix)]
#[test]
fn a_guard_follows_and_answers_also_if_nobody_reads_what_it_prints() {
    use std::os::{fd::OwnedFd, unix::net::UnixStream};

    const FIRST: u64 = 15;
    let height = Arc::new(AtomicU64::new(0));
    let known = Arc::clone(&height);
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |method, _, mut result| {
        // There is nothing to report before the first height.
        let height = loop {
            match known.load(Ordering::Relaxed) {
                0 => thread::sleep(Duration::from_millis(10)),
                height => break height,
            }
        };
        if method == "get_info" {
            result["height"] = (height + 1).into();
        }
        if height > BLOCKS { Reply::Raw(500, Vec::new()) } else { Reply::Result(result) }
    });
    let (mut reader, theirs) = UnixStream::pair().expect("a pair of sockets");
    let [mut filler, stderr] = [(); 2].map(|()| theirs.try_clone().expect("a handle"));
    let folder = tempfile::tempdir().expect("a folder");
    let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
        .args(["guard", "--network", "regtest", "--fixed-difficulty", "1", "--threads", "2"])
        .args(["--poll", "1", "--listen", "127.0.0.1:0", "--node", &node, "--store"])
        .arg(folder.path())
        .stdout(OwnedFd::from(theirs))
        .stderr(OwnedFd::from(stderr))
        .spawn();
    let _guard = Running(child.expect("the program starts"));
    let mut line = String::new();
    BufReader::new(&mut reader).read_line(&mut line).expect("a line");
    let host = line.trim().strip_prefix("listening on http://").expect("an address");
    // The guard shares this mode, and prints nothing meanwhile.
    filler.set_nonblocking(true).expect("a socket");
    while filler.write(&[b'\n'; 1024]).is_ok() {}
    filler.set_nonblocking(false).expect("a socket");

    let ask = |request: &str, body: &str| {
        let mut stream = TcpStream::connect(host).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a duration");
        let head = format!("Host: {host}\r\nConnection: close\r\nContent-Length: {}", body.len());
        write!(stream, "{request} HTTP/1.1\r\n{head}\r\n\r\n{body}").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer");
        serde_json::from_str::<Value>(body).expect("JSON")
    };
    for reached in [FIRST, BLOCKS] {
        height.store(reached, Ordering::Relaxed);
        let start = Instant::now();
        while ask("GET /guard/status", "")["tip"]["height"] != reached {
            assert!(start.elapsed() < PATIENCE, "it does not follow the chain");
            thread::sleep(Duration::from_millis(100));
        }
    }
    // Each of these failures has a message.
    height.store(BLOCKS + 1, Ordering::Relaxed);
    for _ in 0..3 {
        let request = r#"{"jsonrpc":"2.0","id":"0","method":"get_block","params":{"height":5}}"#;
        let answer = ask("POST /json_rpc", request);
        let problem = answer["result"]["status"].as_str().expect("a status");
        assert!(problem.ends_with("HTTP status 500"), "{answer}");
    }
}
