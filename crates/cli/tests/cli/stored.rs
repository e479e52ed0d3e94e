//! `randomx follow` with a stored chain that this release refuses in part, and with a store that cannot be written.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
};

use randomx_monero::keccak256;
use randomx_testing::{Running, blocks::break_stored};
use serde_json::Value;

use crate::{
    common::fake_node::{FakeChain, Reply, serve},
    follow::{BLOCKS, events, follow, follow_with, honest, of_kind, path},
};

#[test]
fn stored_blocks_that_break_a_rule_are_dropped_and_read_again() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let store = path(folder.path());
    follow(&["--node", &node, "--store", store]).code(0);
    break_stored(folder.path(), keccak256);
    let run = follow(&["--node", &node, "--store", store]).code(0);
    let events = events(&run);
    let heights: Vec<&Value> = of_kind(&events, "tip").iter().map(|tip| &tip["height"]).collect();
    assert_eq!(heights, [BLOCKS - 1, BLOCKS]);
    run.stderr(
        "note: --store: block 20 breaks a rule of this release; the blocks after 19 were dropped\n",
    );
}

/// Serves a chain. A folder takes the place of the client's state once the client has read that.
fn serve_and_block(state: PathBuf) -> String {
    serve(Arc::new(FakeChain::new(BLOCKS)), move |_, _, result| {
        let _ = fs::create_dir(&state);
        Reply::Result(result)
    })
}

/// A difficulty that no hash of these blocks meets.
const UNMET: &str = "1000000000000000";

/// After its only source has lied, the client waits for nothing.
#[test]
fn a_state_that_cannot_be_stored_is_an_error_also_after_the_last_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = serve_and_block(folder.path().join("chain"));
    let run = follow_with(UNMET, &["--node", &node, "--store", path(folder.path())]).code(2);
    let events = events(&run);
    assert_eq!(of_kind(&events, "source").pop().expect("a state")["state"], "invalid");
    run.stderr(predicates::str::contains("chain: cannot write it: "));
}

/// The reader leaves while the proof of work is computed.
#[test]
fn a_state_that_cannot_be_stored_is_an_error_also_without_a_reader() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = serve_and_block(folder.path().join("chain"));
    let of = ["follow", "--network", "regtest", "--fixed-difficulty", UNMET, "--json"];
    let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
        .args([&of[..], &["--node", &node, "--store", path(folder.path())]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = Running(child.expect("the program starts"));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.any(|line| line.expect("an event").contains(r#""following""#)));
    drop(lines);
    let mut error = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut error).expect("UTF-8");
    assert!(error.contains("chain: cannot write it: "), "{error}");
    assert_eq!(child.wait().expect("it has ended").code(), Some(2));
}

#[test]
fn a_state_of_gigabytes_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("chain");
    File::create(&state).and_then(|file| file.set_len(5 << 30)).expect("a sparse file");
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let run = follow(&["--node", &node, "--store", path(folder.path())]).code(2);
    let problem = "cannot read it: expected at most 16777216 bytes, got more";
    run.stdout("").stderr(format!("error: {}: {problem}\n", state.display()));
}
