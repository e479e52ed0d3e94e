//! `randomx relay` before nodes that fail, or that have another chain, and without a reader of its messages.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use crate::common::{
    assert_refused,
    fake_node::{FakeChain, Reply, serve},
    randomx,
};
use predicates::prelude::*;
use randomx_testing::Running;
use serde_json::{Value, json};

/// The longest wait on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A relay reads and stores 64 blocks at a time.
const PART: u64 = 64;
const BLOCKS: u64 = 100;

/// The sizes of a file's head and of a record in it.
const HEAD: usize = 16;
const RECORD: usize = 109;

/// Reads the JSON at a path.
fn get(address: &str, path: &str) -> Value {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("writable");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// Serves a chain on loopback. Returns the node's address.
fn honest(chain: FakeChain) -> String {
    serve(Arc::new(chain), |_, _, result| Reply::Result(result))
}

/// Serves a chain on loopback, and another one once the flag is set. Returns the node's address, and the flag.
fn changing(first: FakeChain, other: FakeChain) -> (String, Arc<AtomicBool>) {
    let is_other = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&is_other);
    let node = serve(Arc::new(first), move |method, params, result| {
        let is_other = answers.load(Ordering::Relaxed);
        Reply::Result(if is_other { other.answer(method, params) } else { result })
    });
    (node, is_other)
}

/// Starts a relay. Returns it, and the lines that it prints.
fn start(node: &str, folder: &Path) -> (Running, mpsc::Receiver<String>) {
    let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
        .args(["relay", "--network", "regtest", "--node", node, "--listen", "127.0.0.1:0"])
        .args(["--poll", "1", "--store"])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut relay = Running(child.expect("the program starts"));
    let stdout = BufReader::new(relay.stdout.take().expect("a pipe"));
    let (sender, printed) = mpsc::channel();
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            // The test may have ended.
            let _ = sender.send(line);
        }
    });
    (relay, printed)
}

/// Waits until a relay listens, and compares its newest height.
fn expect_tip(printed: &mpsc::Receiver<String>, height: u64) {
    let line = printed.recv_timeout(PATIENCE).expect("a line");
    let address = line.strip_prefix("listening on http://").expect("an address");
    assert_eq!(get(address, "/v1/tip")["height"], json!(height));
}

/// Expects that a relay answers nothing while its node answers later blocks `wrongly`, and notes that, and that it has
/// the whole chain when the node is back.
fn expect_nothing_before_the_end(
    folder: &Path,
    wrongly: impl Fn(Value) -> Reply + Send + Sync + 'static,
    noted: &str,
) {
    let is_back = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&is_back);
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |method, params, result| {
        let is_later = method == "get_block" && params["height"].as_u64() > Some(PART);
        if is_later && !answers.load(Ordering::Relaxed) {
            return wrongly(result);
        }
        Reply::Result(result)
    });
    let (mut relay, printed) = start(&node, folder);
    let mut notes = BufReader::new(relay.stderr.take().expect("a pipe")).lines();
    for _ in 0..2 {
        let note = notes.next().expect("a note").expect("a line");
        assert!(note.starts_with(noted), "{note}");
    }
    assert_eq!(printed.try_recv(), Err(mpsc::TryRecvError::Empty));
    is_back.store(true, Ordering::Relaxed);
    expect_tip(&printed, BLOCKS);
}

#[test]
fn a_relay_serves_nothing_before_it_has_read_the_whole_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let silent = |_| Reply::Raw(500, Vec::new());
    expect_nothing_before_the_end(folder.path(), silent, "note: get_block: ");

    // Later it serves what it has, also without its node. It reads the last block again, which a power loss damages.
    let (_relay, printed) = start("http://127.0.0.1:1", folder.path());
    expect_tip(&printed, BLOCKS - 1);
}

#[test]
fn a_malformed_block_does_not_make_a_half_chain_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let malformed = |mut result: Value| {
        result["blob"] = json!("10");
        Reply::Result(result)
    };
    let noted = "note: get_block: minor version at byte 1: ";
    expect_nothing_before_the_end(folder.path(), malformed, noted);
}

#[test]
fn a_height_that_no_chain_has_is_refused_until_the_node_states_another() {
    const MOST: u64 = 500_000_000;
    let infos = AtomicU64::new(0);
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |method, _, mut result| {
        if method == "get_info" && infos.fetch_add(1, Ordering::Relaxed) == 0 {
            result["height"] = json!(MOST + 2);
        }
        Reply::Result(result)
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (mut relay, printed) = start(&node, folder.path());
    let mut notes = BufReader::new(relay.stderr.take().expect("a pipe")).lines();
    let note = notes.next().expect("a note").expect("a line");
    let limit = format!("expected a last block at {MOST} or below, got {}", MOST + 1);
    assert_eq!(note, format!("note: get_info: {limit}"));
    expect_tip(&printed, BLOCKS);
}

#[test]
fn a_relay_whose_node_changes_the_chain_midway_reads_on_before_it_serves() {
    let other = FakeChain::forked(PART - 1, BLOCKS);
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |method, params, result| {
        let is_early = method == "get_block" && params["height"].as_u64() <= Some(PART);
        Reply::Result(if is_early { result } else { other.answer(method, params) })
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (mut relay, printed) = start(&node, folder.path());
    let mut notes = BufReader::new(relay.stderr.take().expect("a pipe")).lines();
    let note = notes.next().expect("a note").expect("a line");
    assert_eq!(note, "note: a reorganisation at height 64: dropped 1 of 64 stored blocks");
    assert_eq!(printed.try_recv(), Err(mpsc::TryRecvError::Empty));
}

#[test]
fn an_address_in_use_is_named_before_the_node_is_asked() {
    let asked = Arc::new(AtomicBool::new(false));
    let notes = Arc::clone(&asked);
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |_, _, result| {
        notes.store(true, Ordering::Relaxed);
        Reply::Result(result)
    });
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().to_str().expect("text");
    for command in ["relay", "guard"] {
        let arguments = ["--node", &node, "--listen", &address, "--network", "regtest"];
        let store = format!("{store}/{command}");
        let arguments = [&[command][..], &arguments, &["--store", &store]].concat();
        let run = randomx(&arguments).timeout(PATIENCE).assert();
        let sentence = format!("error: cannot listen on {address}: ");
        run.code(2).stdout("").stderr(predicate::str::starts_with(sentence));
        if command == "relay" {
            assert!(!asked.load(Ordering::Relaxed));
        }
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("headers");
    fs::write(&file, "something else altogether").expect("writable");
    let store = folder.path().to_str().expect("text");
    let arguments = ["--node", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--store", store];
    let run = randomx(&[&["relay"][..], &arguments].concat()).assert();
    assert_refused(
        run,
        &format!("{}: expected a relay's file of headers, got another file", file.display()),
    );
}

/// A wrong node or a hijacked address must not cost the headers that took hours to read.
#[test]
fn a_node_of_another_network_costs_no_headers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("headers");
    let (relay, printed) = start(&honest(FakeChain::new(1000)), folder.path());
    expect_tip(&printed, 1000);
    drop(relay);
    let whole = fs::read(&file).expect("a file");
    assert_eq!(whole.len(), HEAD + 1000 * RECORD);
    let store = folder.path().to_str().expect("text");
    // The main network's blocks are final below 720 others. Opening the file drops its last block, 1000.
    for (network, common, cut) in [
        ("mainnet", 1, Err(2)),
        ("mainnet", 277, Err(278)),
        ("mainnet", 278, Ok("a reorganisation at height 279: dropped 721 of 999 stored blocks")),
        ("regtest", 0, Err(1)),
        ("regtest", 1, Ok("a reorganisation at height 2: dropped 998 of 999 stored blocks")),
    ] {
        fs::write(&file, &whole).expect("writable");
        let node = honest(FakeChain::forked(common, 1000));
        let arguments = ["--network", network, "--node", &node, "--store", store];
        let arguments = [&["relay", "--listen", "127.0.0.1:0"][..], &arguments].concat();
        match cut {
            Err(height) => {
                let sentence = format!(
                    "{}: the node has another block at height {height}, which no reorganisation \
                     replaces; use a node of the same network, or another folder if these headers are of a \
                     wrong node",
                    file.display()
                );
                assert_refused(randomx(&arguments).timeout(PATIENCE).assert(), &sentence);
                assert!(fs::read(&file).expect("a file") == whole[..HEAD + 999 * RECORD]);
            }
            Ok(note) => {
                let (mut relay, line) = crate::common::start(&arguments, Stdio::piped());
                assert!(line.starts_with("listening on "), "{line}");
                let mut stderr = BufReader::new(relay.stderr.take().expect("a pipe"));
                let mut notes = String::new();
                stderr.read_line(&mut notes).expect("text");
                relay.kill().expect("it runs");
                stderr.read_to_string(&mut notes).expect("text");
                assert_eq!(notes, format!("note: {note}\n"));
                let now = fs::read(&file).expect("a file");
                assert!(now.len() == whole.len() && now != whole);
            }
        }
    }
}

/// The node may be down when the relay starts.
#[test]
fn another_chain_is_refused_until_the_node_has_shown_the_stored_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (relay, printed) = start(&honest(FakeChain::new(BLOCKS)), folder.path());
    expect_tip(&printed, BLOCKS);
    drop(relay);
    let is_up = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&is_up);
    let node = serve(Arc::new(FakeChain::forked(0, BLOCKS)), move |_, _, result| {
        if answers.load(Ordering::Relaxed) {
            Reply::Result(result)
        } else {
            Reply::Raw(500, Vec::new())
        }
    });
    let (mut relay, printed) = start(&node, folder.path());
    expect_tip(&printed, BLOCKS - 1);
    is_up.store(true, Ordering::Relaxed);
    let notes = BufReader::new(relay.stderr.take().expect("a pipe")).lines();
    let last = notes.map(|line| line.expect("a line")).find(|line| !line.contains("get_info"));
    let refused = last.expect("a line");
    assert!(refused.starts_with("error: ") && refused.contains(" at height 1, "), "{refused}");
    assert_eq!(relay.wait().expect("it ends").code(), Some(2));
}

/// A relay checks no proofs of work, so a wrong node can send many blocks within seconds.
#[test]
fn the_blocks_of_a_node_that_was_wrong_for_a_moment_are_replaced() {
    const COMMON: u64 = 1000;
    let folder = tempfile::tempdir().expect("a folder");
    let (relay, printed) = start(&honest(FakeChain::new(COMMON)), folder.path());
    expect_tip(&printed, COMMON);
    drop(relay);
    let wrong = FakeChain::forked(COMMON, COMMON + 800);
    let (node, is_back) = changing(wrong, FakeChain::new(COMMON + 10));
    let store = folder.path().to_str().expect("text");
    let arguments = ["relay", "--listen", "127.0.0.1:0", "--network", "mainnet", "--poll", "1"];
    let arguments = [&arguments[..], &["--node", &node, "--store", store]].concat();
    let (mut relay, line) = crate::common::start(&arguments, Stdio::piped());
    let address = line.strip_prefix("listening on http://").expect("an address").trim_end();
    assert_eq!(get(address, "/v1/tip")["height"], json!(COMMON + 800));
    is_back.store(true, Ordering::Relaxed);
    let mut notes = BufReader::new(relay.stderr.take().expect("a pipe")).lines();
    let note = notes.next().expect("a note").expect("a line");
    let dropped = "dropped 800 of 1800 stored blocks";
    assert_eq!(note, format!("note: a reorganisation at height {}: {dropped}", COMMON + 1));
}

#[test]
fn a_relay_whose_node_changes_the_chain_serves_what_it_has() {
    let (node, is_other) = changing(FakeChain::new(BLOCKS), FakeChain::forked(0, BLOCKS));
    let folder = tempfile::tempdir().expect("a folder");
    let (mut relay, printed) = start(&node, folder.path());
    let line = printed.recv_timeout(PATIENCE).expect("a line");
    let address = line.strip_prefix("listening on http://").expect("an address");
    is_other.store(true, Ordering::Relaxed);
    let mut notes = BufReader::new(relay.stderr.take().expect("a pipe")).lines();
    for _ in 0..2 {
        let note = notes.next().expect("a note").expect("a line");
        assert!(note.contains("headers: the node has another block at height 1, "), "{note}");
    }
    assert_eq!(get(address, "/v1/tip")["height"], json!(BLOCKS));
}

/// A terminal that is stopped with Ctrl-S reads nothing, and neither does a service manager that hangs.
#[cfg(unix)]
#[test]
fn a_relay_follows_its_node_also_if_nobody_reads_its_messages() {
    use std::os::{fd::OwnedFd, unix::net::UnixStream};

    const FIRST: u64 = 50;
    /// The requests of one update that fails.
    const ATTEMPTS: u64 = 3;
    // Zero while the node fails.
    let height = Arc::new(AtomicU64::new(FIRST));
    let failures = Arc::new(AtomicU64::new(0));
    let (known, failed) = (Arc::clone(&height), Arc::clone(&failures));
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |method, _, mut result| {
        let height = known.load(Ordering::Relaxed);
        if height == 0 {
            failed.fetch_add(1, Ordering::Relaxed);
            return Reply::Raw(500, Vec::new());
        }
        if method == "get_info" {
            result["height"] = json!(height + 1);
        }
        Reply::Result(result)
    });
    let (_reader, theirs) = UnixStream::pair().expect("a pair of sockets");
    let mut filler = theirs.try_clone().expect("a handle");
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().to_str().expect("text");
    let arguments = ["relay", "--network", "regtest", "--poll", "1", "--listen", "127.0.0.1:0"];
    let arguments = [&arguments[..], &["--node", &node, "--store", store]].concat();
    let (_relay, line) = crate::common::start(&arguments, Stdio::from(OwnedFd::from(theirs)));
    let address = line.strip_prefix("listening on http://").expect("an address").trim_end();
    // The relay shares this mode, and prints nothing meanwhile.
    filler.set_nonblocking(true).expect("a socket");
    while filler.write(&[b'\n'; 1024]).is_ok() {}
    filler.set_nonblocking(false).expect("a socket");

    let start = Instant::now();
    let within_patience = |what: &str| {
        assert!(start.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(100));
    };
    height.store(0, Ordering::Relaxed);
    // Each of these updates has a message.
    while failures.load(Ordering::Relaxed) <= 2 * ATTEMPTS {
        within_patience("it waits for a reader");
    }
    height.store(BLOCKS, Ordering::Relaxed);
    while get(address, "/v1/tip")["height"] != json!(BLOCKS) {
        within_patience("it does not follow its node");
    }
}
