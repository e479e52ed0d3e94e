//! `randomx verify --node`, `randomx follow` and `randomx hash` where the system refuses threads.

use std::sync::Arc;

use crate::common::{
    fake_node::{FakeChain, Reply, serve},
    parse_jsonl, randomx,
};
use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::json;

/// The blocks of the chain: more than are fetched together.
const BLOCKS: u64 = 150;

/// Returns a command on a chain in which every block has difficulty 1. The system refuses each of its threads.
fn without_threads(subcommand: &str, node: &str, arguments: &[&str]) -> Command {
    let common = [subcommand, "--network", "regtest", "--fixed-difficulty", "1", "--node", node];
    let mut command = randomx(&[&common[..], arguments].concat());
    refuse_threads(&mut command);
    command
}

/// Makes the system refuse each thread of a program: no memory is large enough for the stacks.
fn refuse_threads(command: &mut Command) -> &mut Command {
    command.env("RUST_MIN_STACK", (usize::MAX / 4).to_string())
}

fn node() -> String {
    serve(Arc::new(FakeChain::new(BLOCKS)), |_, _, result| Reply::Result(result))
}

#[test]
fn one_thread_verifies_every_block() {
    let run = without_threads("verify", &node(), &["--from", "1"]).assert().code(0);
    let verdicts = parse_jsonl(&run.get_output().stdout);
    let expected: Vec<_> = (1..=BLOCKS).map(|height| (json!(height), json!(true))).collect();
    let found = verdicts.iter().map(|line| (line["height"].clone(), line["valid"].clone()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn a_name_that_cannot_be_resolved_is_an_error() {
    let node = node().replace("127.0.0.1", "localhost");
    let arguments = ["--from", "1", "--retries", "0"];
    let sentence = "error: --node: get_info: cannot reach the node: io: \
                    cannot start a thread to resolve the name: ";
    let run = without_threads("verify", &node, &arguments).assert().code(2).stdout("");
    run.stderr(predicate::str::starts_with(sentence));
}

#[test]
fn following_needs_threads() {
    let run = without_threads("follow", &node(), &["--once"]).assert().code(2).stdout("");
    run.stderr(predicate::str::starts_with("error: cannot start threads: "));
}

#[test]
fn reading_lines_needs_a_thread() {
    let mut command = randomx(&["hash", "--jsonl", "-", "--threads", "1"]);
    let run = refuse_threads(&mut command).assert().code(2).stdout("");
    let sentence = "error: cannot start the thread that reads the input: ";
    run.stderr(predicate::str::starts_with(sentence));
}
