//! Lies: each is refused with a text that the wallet shows, and the node is not asked again.

use std::fs;

use randomx_monero::MAINNET_GENESIS_ID;
use serde_json::{Value, json};

use super::chain::{TestBlock, chain, transaction};
use super::node::{Node, Words};
use super::world::Guarded;

const BLOCKS: u64 = 30;
const KEPT: u64 = 2160;

/// Starts a guard before a node that says something else once the chain was followed.
fn guarded(lie: impl FnOnce(&mut Words)) -> (Node, Guarded, tempfile::TempDir) {
    let node = Node::start(Words::honest(chain(BLOCKS, BLOCKS)));
    let store = tempfile::tempdir().expect("a folder");
    let mut guarded = Guarded::start(&[&node.url], store.path(), KEPT);
    guarded.follow_to(BLOCKS);
    lie(&mut node.words());
    (node, guarded, store)
}

/// Asserts that a scan is refused as a lie with this reason, and that evidence is kept.
fn assert_lie(alter: fn(&mut Vec<TestBlock>), reason: &str) {
    let (_node, guarded, store) = guarded(|words| words.blocks = alter);
    let wallet = guarded.wallet();
    let answer = wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains(" sent false data: "), "{}", answer.status);
    assert!(answer.status.contains(reason), "{}", answer.status);
    assert!(answer.blocks.is_empty());
    assert!(guarded.logged(reason));
    let evidence = fs::read(store.path().join("lie-1.json")).expect("evidence");
    let evidence: Value = serde_json::from_slice(&evidence).expect("JSON");
    assert_eq!(evidence["method"], "getblocks.bin");
    assert!(evidence["evidence"]["block"].is_string());
    // The node is not asked again.
    let answer = wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains(&format!("was dropped: {reason}")), "{}", answer.status);
    let status = wallet.status();
    assert_eq!(status["refusedCount"], json!(1));
    assert!(status["nodes"][0]["dropped"].as_str().expect("a text").contains(reason));
}

#[test]
fn a_missing_transaction_is_a_lie() {
    assert_lie(|blocks| blocks[6].transactions.clear(), "block 6 has 1 transactions, 0 were sent");
}

#[test]
fn a_transaction_too_many_is_a_lie() {
    assert_lie(
        |blocks| blocks[7].transactions.push(transaction(1, 0)),
        "block 7 has 0 transactions, 1 were sent",
    );
}

#[test]
fn an_altered_transaction_is_a_lie() {
    // In the prefix, the base, and the part that wallets do not receive.
    assert_lie(|blocks| blocks[6].transactions[0][60] ^= 1, "block 6 has another transaction");
    assert_lie(
        |blocks| {
            let blob = &mut blocks[6].transactions[0];
            let end = blob.len() - 101;
            blob[end] ^= 1;
        },
        "block 6 has another transaction",
    );
    assert_lie(
        |blocks| *blocks[6].transactions[0].last_mut().expect("bytes") ^= 1,
        "block 6 has another transaction",
    );
}

#[test]
fn another_block_is_a_lie() {
    assert_lie(|blocks| blocks[4] = chain(0, 9)[4].clone(), "block 4 is not on the verified chain");
    assert_lie(|blocks| blocks[4].blob.truncate(50), "block 4 cannot be parsed");
    assert_lie(
        |blocks| {
            blocks.remove(3);
        },
        "block 3 is not on the verified chain",
    );
}

#[test]
fn a_fork_near_the_tip_is_refused_and_not_accused() {
    let (node, guarded, store) = guarded(|words| words.chain = chain(BLOCKS - 3, BLOCKS));
    let known = chain(BLOCKS, BLOCKS)[20].id;
    let answer = guarded.wallet().blocks(&[known, MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("block 28 is not on the verified chain"), "{}", answer.status);
    assert!(
        !answer.status.contains("sent false data") && !store.path().join("lie-1.json").exists()
    );
    node.words().chain = chain(BLOCKS, BLOCKS);
    assert_eq!(guarded.wallet().blocks(&[known, MAINNET_GENESIS_ID]).status, "OK");
}

#[test]
fn an_old_tip_is_not_the_end_of_the_chain() {
    let (node, guarded, _store) = guarded(|words| words.chain.truncate(21));
    let all = chain(BLOCKS, BLOCKS);
    // A wallet that has what the node shows.
    let answer = guarded.wallet().blocks(&[all[20].id, all[19].id, MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("no newer block than the wallet"), "{}", answer.status);
    // A wallet before that gets true blocks, and then no end.
    let answer = guarded.wallet().blocks(&[all[18].id, MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.current), ("OK", BLOCKS + 1));
    node.words().blocks = |blocks| blocks.truncate(1);
    let answer = guarded.wallet().blocks(&[all[18].id, MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("the node has no block after 18"), "{}", answer.status);
    assert!(!guarded.logged("sent false data"));
}

#[test]
fn blocks_after_the_verified_tip_wait() {
    let (_node, guarded, _store) = guarded(|words| words.chain = chain(BLOCKS, BLOCKS + 5));
    let answer = guarded.wallet().blocks(&[MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.current), ("OK", BLOCKS + 1));
    assert_eq!(answer.blocks.len() as u64, BLOCKS + 1);
}

#[test]
fn inflated_fees_are_a_lie() {
    let (node, guarded, _store) = guarded(|_| {});
    let wallet = guarded.wallet();
    let honest = wallet.call("get_fee_estimate", &json!({ "grace_blocks": 10 }));
    assert_eq!((&honest["status"], &honest["fee"]), (&json!("OK"), &json!(20_000)));
    node.words().fee = 2_000_000;
    let inflated = wallet.call("get_fee_estimate", &json!({}));
    let status = inflated["status"].as_str().expect("a text");
    assert!(status.contains("the fee estimate 2000000"), "{status}");
    assert_eq!(inflated["fee"], Value::Null);
}

#[test]
fn the_lower_of_two_estimates_is_used() {
    let nodes = [20_000, 30_000]
        .map(|fee| Node::start(Words { fee, ..Words::honest(chain(BLOCKS, BLOCKS)) }));
    let store = tempfile::tempdir().expect("a folder");
    let mut guarded = Guarded::start(&[&nodes[1].url, &nodes[0].url], store.path(), KEPT);
    guarded.follow_to(BLOCKS);
    let answer = guarded.wallet().call("get_fee_estimate", &json!({}));
    assert_eq!(answer["fee"], json!(20_000));
}

#[test]
fn an_altered_transaction_is_not_found_by_its_hash() {
    let (node, guarded, _store) = guarded(|_| {});
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            let hex = answer["txs"][0]["prunable_as_hex"].as_str().expect("hex");
            answer["txs"][0]["prunable_as_hex"] = json!(format!("00{}", &hex[2..]));
        }
    };
    let answer = guarded.wallet().json("/gettransactions", &json!({ "txs_hashes": [hash] }));
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains("sent false data: another transaction than"), "{status}");
}

#[test]
fn a_transaction_is_in_its_block_or_refused() {
    let (node, guarded, _store) = guarded(|_| {});
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["txs"][0]["block_height"] = json!(9);
        }
    };
    let answer = guarded.wallet().json("/gettransactions", &json!({ "txs_hashes": [hash] }));
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains("is not in block 9"), "{status}");
}

#[test]
fn contradictions_about_spent_outputs_are_refused() {
    let nodes = [0, 1].map(|state| {
        Node::start(Words { spent: vec![state], ..Words::honest(chain(BLOCKS, BLOCKS)) })
    });
    let store = tempfile::tempdir().expect("a folder");
    let mut guarded = Guarded::start(&[&nodes[0].url, &nodes[1].url], store.path(), KEPT);
    guarded.follow_to(BLOCKS);
    let images = json!({ "key_images": ["11".repeat(32)], "client": "the wallet's name" });
    let answer = guarded.wallet().json("/is_key_image_spent", &images);
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains("two nodes contradict each other"), "{status}");
    assert!(!guarded.logged("sent false data"));
    nodes[0].words().spent = vec![1];
    let answer = guarded.wallet().json("/is_key_image_spent", &images);
    assert_eq!(answer["spent_status"], json!([1]));
    nodes.iter().for_each(|node| assert!(!node.heard(b"the wallet's name")));
}

#[test]
fn nodes_that_fail_are_not_accused() {
    let nodes = [true, false]
        .map(|fails| Node::start(Words { fails, ..Words::honest(chain(BLOCKS, BLOCKS)) }));
    let store = tempfile::tempdir().expect("a folder");
    let mut guarded = Guarded::start(&[&nodes[0].url, &nodes[1].url], store.path(), KEPT);
    guarded.follow_to(BLOCKS);
    assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
    nodes[1].words().fails = true;
    let answer = guarded.wallet().blocks(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("HTTP status 500"), "{}", answer.status);
    nodes[0].words().fails = false;
    assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
}
