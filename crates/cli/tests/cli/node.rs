//! `randomx verify --node`: chains of honest nodes, and the checks that catch others.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::common::{
    fake_node::{FakeChain, Reply, honest, serve},
    lines, randomx, verify_node,
};
use predicates::prelude::*;
use serde_json::{Value, json};

#[test]
fn a_chain_is_valid_and_continues_from_its_checkpoint() {
    let chain = Arc::new(FakeChain::new(150));
    let node = serve(Arc::clone(&chain), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chain.json");
    let file = file.to_str().expect("a path in UTF-8");
    let trusted =
        format!("note: the node is trusted about the chain up to block 0 ({})\n", chain.id(0));
    let run = verify_node(&node, &["--from", "1", "--to", "100", "--checkpoint", file]);
    let run = run.code(0).stderr(trusted);
    let first = lines(&run);
    let run = verify_node(&node, &["--checkpoint", file]).code(0).stderr("");
    let all = [first, lines(&run)].concat();
    assert_eq!(all.len(), 150);
    for (verdict, height) in all.iter().zip(1..) {
        let id = chain.id(height);
        assert_eq!(
            (&verdict["height"], &verdict["id"], &verdict["valid"]),
            (&json!(height), &json!(id), &json!(true))
        );
        assert_eq!(verdict["hash"].as_str().map(str::len), Some(64));
    }
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("JSON");
    assert_eq!((&kept["height"], &kept["id"]), (&json!(150), &json!(chain.id(150))));
    assert_eq!(kept["recent"].as_array().map(Vec::len), Some(151));

    let nothing =
        "note: nothing to verify: the last block is 150, and the next one to verify is 151\n";
    verify_node(&node, &["--checkpoint", file]).code(0).stdout("").stderr(nothing);
    let sentence =
        "error: --from: expected 151 or nothing after the checkpoint at height 150, got 3\n";
    verify_node(&node, &["--checkpoint", file, "--from", "3"]).code(2).stderr(sentence);
}

#[test]
fn blocks_in_the_middle_need_headers_only() {
    let node = serve(Arc::new(FakeChain::new(40)), honest);
    let run = verify_node(&node, &["--from", "30", "--to", "32"]).code(0);
    assert_eq!(lines(&run).len(), 3);
}

#[test]
fn a_sample_always_includes_the_last_blocks() {
    let node = serve(Arc::new(FakeChain::new(60)), honest);
    let run = verify_node(&node, &["--from", "1", "--sample", "1000000000"]).code(0);
    let hashed: Vec<u64> = lines(&run)
        .iter()
        .filter(|verdict| verdict.get("hash").is_some())
        .filter_map(|verdict| verdict["height"].as_u64())
        .collect();
    assert_eq!(hashed, (45..=60).collect::<Vec<u64>>());
}

#[test]
fn ranges_beyond_the_chain_have_an_answer() {
    let node = serve(Arc::new(FakeChain::new(10)), honest);
    let run = verify_node(&node, &["--from", "8", "--to", "1000000"]).code(0);
    assert_eq!(lines(&run).len(), 3);
    run.stderr(predicate::str::starts_with(
        "note: --to: the node's chain ends at block 10; verifying up to there\n",
    ));
    for (from, to) in [("11", "20"), ("18446744073709551615", "18446744073709551615")] {
        let note = format!(
            "note: nothing to verify: the last block is 10, and the next one to verify is {from}\n"
        );
        verify_node(&node, &["--from", from, "--to", to]).code(0).stdout("").stderr(note);
    }
    let empty = serve(Arc::new(FakeChain::new(0)), honest);
    let note = "note: nothing to verify: the last block is 0, and the next one to verify is 1\n";
    verify_node(&empty, &["--from", "1"]).code(0).stdout("").stderr(note);
}

#[test]
fn the_option_is_named_if_a_node_has_another_difficulty() {
    let node = serve(Arc::new(FakeChain::new(10)), |method, _, mut result| {
        if method == "get_block" {
            result["block_header"]["wide_difficulty"] = json!("0x2");
        }
        Reply::Result(result)
    });
    let arguments = ["verify", "--network", "regtest", "--node", &node, "--from", "1"];
    let run = randomx(&arguments).assert().code(1);
    let last = lines(&run).pop().expect("a verdict");
    let failed = &last["failed"][0];
    assert_eq!(failed["check"], "difficulty");
    let detail = failed["detail"].as_str().expect("a text");
    assert!(detail.ends_with("--fixed-difficulty needs the same setting here"), "{detail}");
}

/// Alters the node's answer about block 5, and expects the last verdict to fail one check.
fn lie(expected: (u64, &str), alter: impl Fn(&mut Value) + Send + Sync + 'static) {
    let chain = Arc::new(FakeChain::new(10));
    let node = serve(chain, move |method, params, mut result| {
        if method == "get_block" && params["height"] == 5 {
            alter(&mut result);
        }
        Reply::Result(result)
    });
    let run = verify_node(&node, &["--from", "1"]).code(1);
    let verdicts = lines(&run);
    let (last, valid) = verdicts.split_last().expect("a verdict");
    assert!(valid.iter().all(|verdict| verdict["valid"] == true));
    let checks: Vec<_> =
        last["failed"].as_array().expect("a list").iter().map(|failed| &failed["check"]).collect();
    assert_eq!((&last["height"], checks), (&json!(expected.0), vec![&json!(expected.1)]));
}

/// Changes the blob of a block.
fn blob(result: &mut Value, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = hex::decode(result["blob"].as_str().expect("a string")).expect("hex");
    change(&mut bytes);
    result["blob"] = json!(hex::encode(bytes));
}

/// The offset of the nonce: after two versions, five bytes of timestamp and the previous id.
const NONCE: usize = 39;

#[test]
fn lies_about_a_block_are_caught() {
    lie((5, "id"), |result| blob(result, |bytes| bytes[NONCE] ^= 1));
    lie((5, "block"), |result| blob(result, |bytes| bytes.truncate(60)));
    // An endless varint instead of the timestamp.
    lie((5, "block"), |result| blob(result, |bytes| drop(bytes.splice(2..7, [0xff; 40]))));
    // More transactions than there are bytes.
    lie((5, "block"), |result| {
        blob(result, |bytes| {
            bytes.pop();
            bytes.extend([0xff, 0xff, 0xff, 0xff, 0x7f]);
        });
    });
    lie((5, "difficulty"), |result| result["block_header"]["wide_difficulty"] = json!("0x2"));
    // A consistent lie shows at the next block.
    lie((6, "previous-id"), |result| {
        blob(result, |bytes| bytes[NONCE] ^= 1);
        let bytes = hex::decode(result["blob"].as_str().expect("a string")).expect("hex");
        let block = randomx_monero::Block::parse(&bytes).expect("a block");
        result["block_header"]["hash"] = json!(hex::encode(block.id()));
    });
}

#[test]
fn a_lie_leaves_no_checkpoint() {
    let chain = Arc::new(FakeChain::new(10));
    let liar = serve(Arc::clone(&chain), |method, params, mut result| {
        if method == "get_block" && params["height"] == 5 {
            blob(&mut result, |bytes| bytes[NONCE] ^= 1);
        }
        Reply::Result(result)
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chain.json");
    let file = file.to_str().expect("a path in UTF-8");
    verify_node(&liar, &["--from", "1", "--checkpoint", file]).code(1);
    assert!(!Path::new(file).exists());
    verify_node(&serve(chain, honest), &["--from", "1", "--checkpoint", file]).code(0);
    let kept = fs::read(file).expect("a checkpoint");
    verify_node(&liar, &["--checkpoint", file]).code(0).stdout("");
    assert_eq!(fs::read(file).expect("the checkpoint"), kept);
}

#[test]
fn a_block_of_another_height_is_not_valid() {
    let chain = Arc::new(FakeChain::new(10));
    let other = Arc::clone(&chain);
    let node = serve(chain, move |method, params, result| {
        if method != "get_block" || params["height"] != 5 {
            return Reply::Result(result);
        }
        let mut four = other.answer("get_block", &json!({ "height": 4 }));
        four["block_header"]["height"] = json!(5);
        Reply::Result(four)
    });
    let run = verify_node(&node, &["--from", "1"]).code(1);
    let failed = lines(&run).pop().expect("a verdict")["failed"].clone();
    let checks: Vec<_> = failed.as_array().expect("a list").iter().map(|f| &f["check"]).collect();
    assert_eq!(checks, ["height", "miner-transaction", "previous-id"]);
}

/// Expects exit code 2 and a message, after the verdicts on the first four blocks. An answer may take so many seconds.
fn failure(seconds: u64, sentence: &str, reply: impl Fn(Value) -> Reply + Send + Sync + 'static) {
    let node = serve(Arc::new(FakeChain::new(10)), move |method, params, result| {
        if method == "get_block" && params["height"] == 5 {
            reply(result)
        } else {
            Reply::Result(result)
        }
    });
    let run = verify_node(&node, &["--from", "1", "--timeout", &seconds.to_string()]).code(2);
    assert_eq!(lines(&run).len(), 4);
    run.stderr(predicate::str::ends_with(format!("error: --node: get_block: {sentence}\n")));
}

/// The seconds for an answer. A busy machine takes some of them.
const LONG: u64 = 60;

#[test]
fn unusable_answers_are_named() {
    failure(LONG, "block_header.height: expected 5, got 4", |mut result| {
        result["block_header"]["height"] = json!(4);
        Reply::Result(result)
    });
    failure(LONG, "blob: odd number of hex digits (3)", |mut result| {
        result["blob"] = json!("0a0");
        Reply::Result(result)
    });
    failure(LONG, "expected an answer of at most 8388608 bytes, got more", |_| {
        Reply::Raw(200, vec![b' '; 100 << 20])
    });
    failure(LONG, "cannot reach the node: HTTP status 404", |_| Reply::Raw(404, Vec::new()));
    failure(LONG, "cannot reach the node: HTTP status 302", |_| Reply::Raw(302, Vec::new()));
    failure(LONG, "expected a JSON-RPC answer with a result", |_| Reply::Raw(200, b"{}".to_vec()));
    let deep = || Reply::Raw(200, [b'['; 1 << 20].to_vec());
    failure(LONG, "expected a JSON-RPC answer with a result", move |_| deep());
    failure(LONG, "the node answered \"FAILED\"", |_| Reply::Result(json!({ "status": "FAILED" })));
    let error = br#"{"error":{"code":-2,"message":"no \u001b[2J"}}"#;
    failure(LONG, "the node answered \"no \\u{1b}[2J\"", |_| Reply::Raw(200, error.to_vec()));
}

#[test]
fn a_slow_node_is_not_waited_for() {
    let start = Instant::now();
    failure(5, "no answer within 5000 ms", |_| Reply::Silence);
    assert!(start.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_slow_node_is_read_in_parts() {
    let node = serve(Arc::new(FakeChain::new(40)), |method, _, result| {
        if method == "get_block" {
            std::thread::sleep(Duration::from_secs(2));
        }
        Reply::Result(result)
    });
    // One part of all 40 would take longer than one request may.
    let run = verify_node(&node, &["--from", "1", "--timeout", "5"]).code(0);
    assert_eq!(lines(&run).len(), 40);
}

#[test]
fn a_busy_node_is_called_again() {
    let calls = AtomicUsize::new(0);
    let node = serve(Arc::new(FakeChain::new(3)), move |_, _, result| {
        match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Reply::Raw(503, Vec::new()),
            2 => Reply::Result(json!({ "status": "BUSY" })),
            _ => Reply::Result(result),
        }
    });
    let chain = ["verify", "--network", "regtest", "--fixed-difficulty", "1", "--node", &node];
    let run = randomx(&[&chain[..], &["--from", "1", "--retries", "2"]].concat()).assert();
    run.code(0);
    let gone = "http://127.0.0.1:1";
    let sentence = "error: --node: get_info: cannot reach the node: ";
    verify_node(gone, &["--from", "1"]).code(2).stderr(predicate::str::starts_with(sentence));
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    for (arguments, mention) in [
        (&["--node", "http://127.0.0.1:1"][..], "--from: expected a height"),
        (&["--node", "http://127.0.0.1:1", "--from", "0"], "--from: expected 1 or more"),
        (&["--node", "http://127.0.0.1:1", "--jsonl", "-"], "--jsonl"),
        (&["--node", "127.0.0.1"], "expected something like http://127.0.0.1:18081"),
        (&["--node", "http://127.0.0.1:1", "--from", "1", "--sample", "0"], "--sample"),
        (&["--node", "http://127.0.0.1:1", "--from", "1", "--timeout", "0"], "--timeout"),
        (&["--node", "http://127.0.0.1:1", "--from", "1", "--retries", "11"], "--retries"),
        (&["--node", "http://127.0.0.1:1", "--fixed-difficulty", "0"], "--fixed-difficulty"),
        (&["--jsonl", "-", "--from", "1"], "node"),
    ] {
        let run = randomx(&[&["verify"][..], arguments].concat()).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(mention));
    }
}
