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
    let (_node, mut guarded, store) = guarded(|words| words.blocks = alter);
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
    // Another step does not clear the node: an accusation ends only if the verified chain gets the block.
    guarded.follow_to(BLOCKS);
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
fn evidence_has_no_blocks_and_transactions_of_any_length() {
    let (node, guarded, store) = guarded(|words| {
        words.blocks = |blocks| blocks[4].blob = vec![0; (1 << 20) + 1];
    });
    let wallet = guarded.wallet();
    let expected = "expected at most 1048576 bytes";
    let answer = wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains(expected), "{}", answer.status);
    node.words().blocks = |blocks| blocks[6].transactions[0] = vec![0; (1 << 20) + 1];
    let answer = wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains(expected), "{}", answer.status);
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["txs"][0]["as_hex"] = json!("00".repeat((1 << 20) + 1));
        }
    };
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    let answer = wallet.json("/gettransactions", &json!({ "txs_hashes": [hash] }));
    assert!(answer["status"].as_str().is_some_and(|status| status.contains(expected)), "{answer}");
    assert!(!guarded.logged("sent false data") && !store.path().join("lie-1.json").exists());
}

#[test]
fn missing_transactions_are_those_of_the_request() {
    let (node, guarded, _store) = guarded(|words| {
        words.json = |path, answer| {
            if path == "/gettransactions" {
                answer["missed_tx"] = json!(["33".repeat(32)]);
            }
        };
    });
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    let request = json!({ "txs_hashes": [hash] });
    let answer = guarded.wallet().json("/gettransactions", &request);
    assert_eq!((&answer["status"], &answer["missed_tx"]), (&json!("OK"), &json!([])));
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["missed_tx"] = json!(vec!["33".repeat(32); 2]);
        }
    };
    let answer = guarded.wallet().json("/gettransactions", &request);
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains("missed_tx: expected at most 1, got 2"), "{status}");
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
fn known_blocks_are_not_the_end_of_the_chain() {
    let all = chain(BLOCKS, BLOCKS);
    let (node, guarded, _store) = guarded(|words| {
        words.first = Some(19);
        words.blocks = |blocks| blocks.truncate(2);
    });
    let ids = [all[20].id, all[19].id, MAINNET_GENESIS_ID];
    let answer = guarded.wallet().blocks(&ids);
    assert!(answer.status.contains("the node has no block after 20"), "{}", answer.status);
    // A wallet may name older blocks first.
    node.words().first = None;
    let answer = guarded.wallet().blocks(&[all[19].id, all[21].id, MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("the node has no block after 20"), "{}", answer.status);
    // The tip alone may be missing.
    node.words().blocks = |blocks| blocks.truncate(1);
    let answer = guarded.wallet().blocks(&[all[29].id, MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("the node has no block after 29"), "{}", answer.status);
    assert!(!guarded.logged("sent false data"));
    // One new block is enough.
    node.words().first = Some(19);
    node.words().blocks = |blocks| blocks.truncate(3);
    assert_eq!(guarded.wallet().blocks(&ids).status, "OK");
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
    // A wallet without an estimate would pay its built-in fee: it gets the guard's own.
    assert_eq!(wallet.call("get_fee_estimate", &json!({})), honest);
    assert!(guarded.logged("sent false data in get_fee_estimate: the fee estimate 2000000"));
    assert!(guarded.logged("the guard sends its own: [20000, 80000, 320000, 4000000]"));
    let status = wallet.status();
    let dropped = status["nodes"][0]["dropped"].as_str().expect("a text");
    assert!(dropped.contains("the fee estimate 2000000"), "{dropped}");
    assert_eq!(status["refused"][0]["method"], json!("get_fee_estimate"));
}

#[test]
fn fees_cannot_be_inflated_by_rounding() {
    let (node, guarded, _store) = guarded(|words| {
        words.json = |method, result| {
            if method == "get_fee_estimate" {
                result["quantization_mask"] = json!(0);
            }
        };
    });
    let wallet = guarded.wallet();
    let estimate = wallet.call("get_fee_estimate", &json!({}));
    assert_eq!(
        (&estimate["status"], &estimate["quantization_mask"]),
        (&json!("OK"), &json!(10_000))
    );
    assert!(!guarded.logged("sent false data"));
    node.words().json = |method, result| {
        if method == "get_fee_estimate" {
            result["quantization_mask"] = json!(1_000_000_000_000_u64);
        }
    };
    assert_eq!(wallet.call("get_fee_estimate", &json!({})), estimate);
    assert!(guarded.logged("quantization_mask: expected at most 10000, got 1000000000000"));
}

#[test]
fn a_wallet_always_gets_an_estimate_for_each_priority() {
    let fees = json!([20_000, 80_000, 320_000, 4_000_000]);
    let alters: [fn(&str, &mut Value); 3] = [
        |method, result| {
            if method == "get_fee_estimate" {
                result["fees"] = json!([]);
            }
        },
        |method, result| {
            if method == "get_fee_estimate" {
                result["status"] = json!("Failed");
            }
        },
        |method, result| {
            if method == "get_fee_estimate" {
                *result = json!("something else");
            }
        },
    ];
    for alter in alters {
        let (_node, guarded, _store) = guarded(|words| words.json = alter);
        let estimate = guarded.wallet().call("get_fee_estimate", &json!({}));
        assert_eq!((&estimate["status"], &estimate["fees"]), (&json!("OK"), &fees));
        assert!(!guarded.logged("sent false data"));
    }
    // No node sends the blocks from which the fees would be read.
    let (node, mut guarded, _store) = guarded(|words| words.fails = true);
    let wallet = guarded.wallet();
    let ask = || wallet.call("get_fee_estimate", &json!({}))["fees"].clone();
    node.words().fee = 10_000;
    assert_eq!(ask(), fees);
    // The guard keeps the fees that it has read from older blocks.
    node.words().fails = false;
    assert_eq!(ask()[0], json!(10_000));
    node.words().fails = true;
    node.words().chain = chain(BLOCKS + 1, BLOCKS + 1);
    guarded.follow_to(BLOCKS + 1);
    assert_eq!(ask()[0], json!(10_000));
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
fn no_double_spend_of_a_transaction_in_a_block_is_shown() {
    let (_node, guarded, _store) = guarded(|words| {
        words.json = |path, answer| {
            if path == "/gettransactions" {
                answer["txs"][0]["double_spend_seen"] = json!(true);
            }
        };
    });
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    let answer = guarded.wallet().json("/gettransactions", &json!({ "txs_hashes": [hash] }));
    let found = &answer["txs"][0];
    assert_eq!((&found["block_height"], &found["double_spend_seen"]), (&json!(6), &json!(false)));
}

#[test]
fn a_transaction_is_not_sent_to_dropped_nodes() {
    let (_node, guarded, _store) = guarded(|words| words.fee = 2_000_000);
    let wallet = guarded.wallet();
    wallet.call("get_fee_estimate", &json!({}));
    let request = json!({ "tx_as_hex": hex::encode(transaction(99, 0)) });
    let answer = wallet.json("/sendrawtransaction", &request);
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains(" was dropped: the fee estimate 2000000"), "{status}");
}
