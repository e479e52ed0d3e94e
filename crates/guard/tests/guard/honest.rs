//! Answers that prove nothing against a node: each is refused, and the node is asked again.

use randomx_monero::MAINNET_GENESIS_ID;
use serde_json::{Value, json};

use super::chain::{TestBlock, chain};
use super::reader::read;
use super::world::{Guarded, followed, followed_twice};
use super::writer::Writer;

const BLOCKS: u64 = 30;

/// Asserts that an answer is refused with a text, and that no node is accused.
fn assert_unusable(guarded: &Guarded, answer: &Value, expected: &str) {
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains(expected), "{status}");
    assert!(!guarded.logged("sent false data"));
    assert_eq!(guarded.wallet().status()["nodes"][0]["dropped"], Value::Null);
}

#[test]
fn a_node_may_refuse_to_send_a_block() {
    let (node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), 2160);
    let ask = || guarded.wallet().call("get_block", &json!({ "height": 6 }));
    node.words().json = |method, result| {
        if method == "get_block" {
            // As nodes that want to be paid.
            let words = "Client signature does not verify for get_block";
            *result = json!({ "blob": "", "block_header": {}, "status": words });
        }
    };
    assert_unusable(&guarded, &ask(), "the node answered \"Client signature does not verify");
    node.words().json = |method, result| {
        if method == "get_block" {
            result["status"] = json!("PAYMENT REQUIRED");
        }
    };
    assert_unusable(&guarded, &ask(), "the node answered \"PAYMENT REQUIRED\"");
    let blobs: [fn(&str, &mut Value); 3] = [
        |_, result| result["blob"] = json!(""),
        |_, result| result["blob"] = json!("00".repeat(100)),
        |_, result| result["blob"] = json!("zz"),
    ];
    for blob in blobs {
        node.words().json = blob;
        assert_unusable(&guarded, &ask(), "block 6: blob: ");
    }
    node.words().json = |_, _| {};
    assert_eq!(ask()["status"], json!("OK"));
}

#[test]
fn a_block_of_a_newer_version_is_not_accused() {
    let (node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), 2160);
    let wallet = guarded.wallet();
    let forms: [fn(&mut Vec<TestBlock>); 2] =
        [|blocks| blocks[6].blob[0] = 17, |blocks| blocks[6].blob = vec![17; 10]];
    for form in forms {
        node.words().blocks = form;
        let answer = json!({ "status": wallet.blocks(&[MAINNET_GENESIS_ID]).status });
        assert_unusable(&guarded, &answer, "block 6 has version 17, which needs a newer release");
    }
    let blobs: [fn(&str, &mut Value); 2] = [
        |_, result| {
            let blob = result["blob"].as_str().map(|blob| format!("11{}", &blob[2..]));
            result["blob"] = json!(blob);
        },
        |_, result| result["blob"] = json!("11".repeat(10)),
    ];
    for blob in blobs {
        node.words().json = blob;
        let answer = wallet.call("get_block", &json!({ "height": 6 }));
        assert_unusable(&guarded, &answer, "block 6: its version 17 needs a newer release");
    }
}

#[test]
fn a_pruned_node_that_is_asked_for_blocks_by_their_heights_is_not_accused() {
    let (node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), 2160);
    let ask = || {
        let mut request = Writer::new();
        request.numbers("heights", &[5, 6]);
        let (_, answer) = guarded.wallet().post("/getblocks_by_height.bin", &request.finish());
        json!({ "status": read(&answer).status })
    };
    assert_eq!(ask()["status"], json!("OK"));
    node.words().blocks = |blocks| blocks[1].transactions.clear();
    assert_unusable(&guarded, &ask(), "the node lacks transactions of block 6");
}

#[test]
fn a_transaction_of_an_unknown_form_is_not_accused() {
    let (node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), 2160);
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            let hex = answer["txs"][0]["pruned_as_hex"].as_str().expect("hex");
            // Version 3.
            answer["txs"][0]["pruned_as_hex"] = json!(format!("03{}", &hex[2..]));
        }
    };
    let answer = guarded.wallet().json("/gettransactions", &json!({ "txs_hashes": [hash] }));
    let expected =
        format!("transaction {hash}: version of the transaction at byte 0: expected 1 or 2");
    assert_unusable(&guarded, &answer, &expected);
}

#[test]
fn a_pruned_transaction_is_the_requested_one() {
    let (node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), 2160);
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    let ask = |prune: bool| {
        let request = json!({ "txs_hashes": [hash], "prune": prune });
        guarded.wallet().json("/gettransactions", &request)
    };
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["txs"][0]["prunable_as_hex"] = json!("");
        }
    };
    // The hash of what is missing proves the rest. A wallet that wants all of it gets no part.
    assert_eq!(ask(true)["status"], json!("OK"));
    assert_unusable(&guarded, &ask(false), "the node has pruned the transaction");
    let alters: [fn(&str, &mut Value); 3] = [
        |path, answer| {
            if path == "/gettransactions" {
                answer["txs"][0]["prunable_as_hex"] = json!("");
                answer["txs"][0]["prunable_hash"] = json!("11".repeat(32));
            }
        },
        |path, answer| {
            if path == "/gettransactions" {
                answer["txs"][0]["prunable_as_hex"] = json!("");
                answer["txs"][0]["prunable_hash"] = Value::Null;
            }
        },
        |path, answer| {
            if path == "/gettransactions" {
                answer["txs"][0]["prunable_as_hex"] = json!("");
                // A byte of the last commitment.
                let hex = answer["txs"][0]["pruned_as_hex"].as_str().expect("hex");
                answer["txs"][0]["pruned_as_hex"] = json!(format!("{}00", &hex[..hex.len() - 2]));
            }
        },
    ];
    for alter in alters {
        node.words().json = alter;
        assert_unusable(&guarded, &ask(true), "the node has pruned the transaction");
    }
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["txs"] = json!([]);
        }
    };
    assert_unusable(&guarded, &ask(true), "txs: expected 1, got 0");
}

#[test]
fn lists_are_no_longer_than_the_request() {
    let (node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), 2160);
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["txs"] = json!(vec![json!({}); 1000]);
        }
    };
    let answer = guarded.wallet().json("/gettransactions", &json!({ "txs_hashes": [hash] }));
    assert_unusable(&guarded, &answer, "txs: expected at most 1, got 1000");
    node.words().spent = vec![0; 1000];
    let images = json!({ "key_images": ["11".repeat(32)] });
    let answer = guarded.wallet().json("/is_key_image_spent", &images);
    assert_unusable(&guarded, &answer, "spent_status: expected at most 1, got 1000");
}

/// The height of the last block before a long reorganisation, and the height after it.
const COMMON: u64 = 10;
const AFTER: u64 = 45;

#[test]
fn a_node_that_follows_a_reorganisation_first_is_asked_again() {
    let (node, mut guarded, store) = followed(&chain(BLOCKS, BLOCKS), 2160);
    let wallet = guarded.wallet();
    let longer = chain(COMMON, AFTER);
    node.words().chain = longer.clone();
    let evidence = store.path().join("lie-1.json");
    for answer in [wallet.blocks(&[MAINNET_GENESIS_ID]), wallet.blocks(&[MAINNET_GENESIS_ID])] {
        assert!(
            answer.status.contains("block 11 is not on the verified chain"),
            "{}",
            answer.status
        );
    }
    assert!(evidence.exists());
    guarded.follow_to(AFTER);
    let answer = wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert_eq!(answer.status, "OK");
    assert!(answer.blocks.iter().eq(longer.iter().map(|block| &block.blob)));
    let status = wallet.status();
    assert_eq!((&status["refusedCount"], &status["refused"]), (&json!(0), &json!([])));
    assert!(!evidence.exists() && guarded.logged("is asked again: it followed a reorganisation"));
}

#[test]
fn a_node_that_follows_a_reorganisation_last_is_not_accused() {
    let (nodes, mut guarded, _store) = followed_twice(&chain(BLOCKS, BLOCKS), 2160);
    nodes[1].words().chain = chain(COMMON, AFTER);
    guarded.follow_to(AFTER);
    let wallet = guarded.wallet();
    // The chain grows, and the first node is still behind.
    for height in [AFTER, AFTER + 1] {
        nodes[1].words().chain = chain(COMMON, height);
        guarded.follow_to(height);
        assert_eq!(wallet.blocks(&[MAINNET_GENESIS_ID]).status, "OK");
        let node = &wallet.status()["nodes"][0];
        assert_eq!(node["dropped"], Value::Null);
        let failure = node["failure"].as_str().expect("a text");
        assert!(failure.contains("block 11 is not on the verified chain"), "{failure}");
    }
    // A chain that the guard never followed.
    nodes[0].words().chain = chain(COMMON + 5, AFTER);
    nodes[0].words().blocks = |blocks| blocks[11].blob[1] ^= 1;
    wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert!(
        guarded.logged("sent false data in getblocks.bin: block 11 is not on the verified chain")
    );
}
