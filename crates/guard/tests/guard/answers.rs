//! Answers to an honest wallet, and to hostile ones.

use randomx_monero::{MAINNET_GENESIS_ID, Transaction};
use serde_json::{Value, json};

use super::chain::{FEE, TestBlock, chain, transaction};
use super::node::{Node, Words};
use super::world::{Guarded, followed, followed_twice};

const BLOCKS: u64 = 70;

fn guarded() -> (Node, Guarded, tempfile::TempDir) {
    followed(&chain(BLOCKS, BLOCKS), 2160)
}

#[test]
fn a_scan_gets_every_block_and_pruned_transactions() {
    let (node, guarded, _store) = guarded();
    let all = chain(BLOCKS, BLOCKS);
    let wallet = guarded.wallet();
    let answer = wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.start, answer.current), ("OK", 0, BLOCKS + 1));
    assert!(answer.blocks.iter().eq(all.iter().map(|block| &block.blob)));
    let whole: Vec<&Vec<u8>> = all.iter().flat_map(|block| &block.transactions).collect();
    assert_eq!(answer.transactions.len(), whole.len());
    for (pruned, whole) in answer.transactions.iter().zip(&whole) {
        assert_eq!(pruned, Transaction::parse(whole).expect("a transaction").pruned());
    }
    let answer = wallet.blocks_from(&[MAINNET_GENESIS_ID], 40, false);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 40));
    assert!(answer.transactions.iter().eq(all[40..].iter().flat_map(|block| &block.transactions)));
    // A wallet with the newest block is answered without a node, and named to none.
    node.words().fails = true;
    let answer = wallet.blocks(&[all[BLOCKS as usize].id, MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.blocks.len()), ("OK", 0));
    assert_eq!(answer.current, BLOCKS + 1);
    assert!(!node.heard(b"the wallet's name"));
}

#[test]
fn the_chain_answers_for_itself() {
    let (node, guarded, _store) = guarded();
    let all = chain(BLOCKS, BLOCKS);
    let wallet = guarded.wallet();
    // The guard answers all of these requests itself.
    node.words().fails = true;
    node.words().json = |_, result| *result = json!({ "status": "OK", "height": 9 });
    let tip = hex::encode(all[BLOCKS as usize].id);
    let height = wallet.json("/get_height", &json!({}));
    assert_eq!((&height["height"], &height["hash"]), (&json!(BLOCKS + 1), &json!(tip)));
    let info = wallet.call("get_info", &json!({}));
    assert_eq!((&info["status"], &info["nettype"]), (&json!("OK"), &json!("fakechain")));
    assert_eq!((&info["height"], &info["top_block_hash"]), (&json!(BLOCKS + 1), &json!(tip)));
    assert_eq!(info["wide_cumulative_difficulty"], json!(format!("{:#x}", BLOCKS + 1)));
    assert_eq!(wallet.call("get_block_count", &json!({}))["count"], json!(BLOCKS + 1));
    assert_eq!(wallet.call("on_get_block_hash", &json!([7])), json!(hex::encode(all[7].id)));
    let version = wallet.call("get_version", &json!({}));
    assert_eq!(version["hard_forks"][1], json!({ "hf_version": 16, "height": 1 }));
    let fork = wallet.call("hard_fork_info", &json!({ "version": 16 }));
    assert_eq!((&fork["enabled"], &fork["earliest_height"]), (&json!(true), &json!(1)));
    let skipped = wallet.call("hard_fork_info", &json!({ "version": 8 }));
    assert_eq!(skipped["earliest_height"], json!(1));
    let last = wallet.call("get_last_block_header", &json!({}));
    assert_eq!(
        (&last["block_header"]["hash"], &last["block_header"]["depth"]),
        (&json!(tip), &json!(0))
    );
    let range = wallet.call("getblockheadersrange", &json!({ "start_height": 3, "end_height": 6 }));
    let headers = range["headers"].as_array().expect("a list");
    assert_eq!(headers.len(), 4);
    assert_eq!(headers[3]["hash"], json!(hex::encode(all[6].id)));
    assert_eq!((&headers[3]["num_txes"], &headers[3]["difficulty"]), (&json!(1), &json!(1)));
    let beyond = wallet.call("get_block_header_by_height", &json!({ "height": BLOCKS + 1 }));
    assert!(beyond["status"].as_str().expect("a text").contains("expected at most 70"));
}

#[test]
fn a_block_comes_from_a_node_and_is_compared() {
    let (node, guarded, _store) = guarded();
    let wallet = guarded.wallet();
    let block = wallet.call("get_block", &json!({ "height": 6 }));
    let expected = &chain(BLOCKS, BLOCKS)[6];
    assert_eq!(block["blob"], json!(hex::encode(&expected.blob)));
    assert_eq!(block["tx_hashes"], json!([hex::encode(expected.hashes()[0])]));
    assert_eq!(block["block_header"]["reward"], json!(600_000_000_000 + FEE));
    node.words().json = |method, result| {
        if method == "get_block" {
            result["blob"] = json!(hex::encode(&chain(0, 9)[6].blob));
        }
    };
    let block = wallet.call("get_block", &json!({ "height": 6 }));
    let status = block["status"].as_str().expect("a text");
    assert!(status.contains("sent false data: block 6 is not on the verified chain"), "{status}");
}

#[test]
fn transactions_are_found_by_their_hashes() {
    let (_node, guarded, _store) = guarded();
    let wallet = guarded.wallet();
    let block = &chain(BLOCKS, BLOCKS)[6];
    let hash = hex::encode(block.hashes()[0]);
    let absent = "22".repeat(32);
    let request = json!({ "txs_hashes": [hash, absent], "prune": true });
    let answer = wallet.json("/gettransactions", &request);
    assert_eq!((&answer["status"], &answer["missed_tx"]), (&json!("OK"), &json!([absent])));
    let found = &answer["txs"][0];
    let pruned = Transaction::parse(&block.transactions[0]).expect("a transaction").pruned();
    assert_eq!(found["pruned_as_hex"], json!(hex::encode(pruned)));
    assert_eq!((&found["in_pool"], &found["block_height"]), (&json!(false), &json!(6)));
    assert_eq!(found["confirmations"], json!(BLOCKS - 5));
    let request = json!({ "txs_hashes": [hash], "decode_as_json": true });
    let whole = wallet.json("/gettransactions", &request);
    assert_eq!(whole["txs"][0]["as_hex"], json!(hex::encode(&block.transactions[0])));
    assert_eq!(whole["txs"][0]["as_json"], json!(""));
    assert!(
        guarded.logged("forwarded without verification: gettransactions: missing transactions")
    );
}

#[test]
fn parts_that_are_not_verified_count_once_for_each_answer() {
    let (node, guarded, _store) = guarded();
    let wallet = guarded.wallet();
    let hash = hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0]);
    let counts = || {
        let answer = wallet.json("/gettransactions", &json!({ "txs_hashes": [hash, hash] }));
        assert_eq!(answer["txs"].as_array().map(Vec::len), Some(2));
        wallet.status()["notVerified"].clone()
    };
    assert_eq!(counts(), json!({ "gettransactions: output_indices": 1 }));
    node.words().json = |path, answer| {
        if path == "/gettransactions" {
            (0..2).for_each(|place| answer["txs"][place]["in_pool"] = json!(true));
        }
    };
    let pool = "gettransactions: transactions of the pool";
    assert_eq!(counts(), json!({ "gettransactions: output_indices": 1, pool: 1 }));
}

#[test]
fn the_blocks_of_many_transactions_take_few_requests() {
    const MANY: u64 = 120;
    let all = chain(MANY, MANY);
    let (node, guarded, _store) = followed(&all, 2160);
    let wallet = guarded.wallet();
    let hashes = all.iter().flat_map(TestBlock::hashes);
    let hashes: Vec<String> = hashes.map(hex::encode).collect();
    assert_eq!(hashes.len(), 40);
    let counts =
        || [b"/getblocks_by_height.bin", &b"\"get_block\""[..]].map(|name| node.count(name));
    let [before, blocks] = counts();
    let ask = || wallet.json("/gettransactions", &json!({ "txs_hashes": hashes }));
    let answer = ask();
    assert_eq!(answer["status"], json!("OK"));
    let heights =
        answer["txs"].as_array().expect("a list").iter().map(|found| &found["block_height"]);
    assert!(
        heights.eq((3..=MANY).step_by(3).map(|height| json!(height)).collect::<Vec<_>>().iter())
    );
    assert_eq!(counts(), [before + 2, blocks]);
    // A pruned node sends older blocks without their transactions.
    node.words().blocks = |blocks| blocks.iter_mut().for_each(|block| block.transactions.clear());
    assert_eq!(ask(), answer);
    assert!(!guarded.logged("sent false data"));
    node.words().blocks = |blocks| blocks[4] = chain(0, 15)[15].clone();
    let status = ask()["status"].clone();
    let lie = "sent false data: block 15 is not on the verified chain";
    assert!(status.as_str().is_some_and(|status| status.contains(lie)), "{status}");
}

#[test]
fn miner_transactions_are_found_by_their_hashes() {
    let (_node, guarded, _store) = guarded();
    let wallet = guarded.wallet();
    let all = chain(BLOCKS, BLOCKS);
    // Of versions 1 and 2.
    for (height, version) in [(0, 1), (7, 2)] {
        let blob = all[height].miner_transaction();
        let parsed = Transaction::parse(blob).expect("a transaction");
        assert_eq!(parsed.version, version);
        let hash = hex::encode(parsed.hash());
        let whole = wallet.json("/gettransactions", &json!({ "txs_hashes": [hash] }));
        assert_eq!(whole["status"], json!("OK"));
        let found = &whole["txs"][0];
        assert_eq!(found["as_hex"], json!(hex::encode(blob)));
        assert_eq!((&found["in_pool"], &found["block_height"]), (&json!(false), &json!(height)));
        let request = json!({ "txs_hashes": [hash], "prune": true });
        let found = &wallet.json("/gettransactions", &request)["txs"][0];
        assert_eq!(found["pruned_as_hex"], json!(hex::encode(blob)));
        assert_eq!(found["prunable_hash"], json!("00".repeat(32)));
    }
}

#[test]
fn a_transaction_is_sent_to_every_node() {
    let (nodes, guarded, _store) = followed_twice(&chain(BLOCKS, BLOCKS), 2160);
    let blob = hex::encode(transaction(99, 0));
    let request = json!({ "tx_as_hex": blob, "client": "the wallet's name" });
    let answer = guarded.wallet().json("/sendrawtransaction", &request);
    assert_eq!(answer["status"], json!("OK"));
    for node in &nodes {
        // The wallet has its answer when one node accepts. The other one may receive the transaction later.
        node.wait_for(blob.as_bytes());
        assert!(!node.heard(b"the wallet's name"));
    }
}

#[test]
fn wallets_wait_until_the_chain_is_known() {
    let node = Node::start(Words::honest(chain(BLOCKS, BLOCKS)));
    let store = tempfile::tempdir().expect("a folder");
    let guarded = Guarded::start(&[&node.url], store.path(), 2160);
    let wallet = guarded.wallet();
    assert_eq!(wallet.blocks(&[MAINNET_GENESIS_ID]).status, "BUSY");
    assert_eq!(wallet.call("get_info", &json!({}))["status"], json!("BUSY"));
    assert_eq!(wallet.json("/getheight", &json!({}))["status"], json!("BUSY"));
    // A wallet that learned the height before would pay its built-in fee.
    let fees = &wallet.call("get_fee_estimate", &json!({}))["fees"];
    assert_eq!(*fees, json!([20_000, 80_000, 320_000, 4_000_000]));
    assert!(!guarded.logged("sent false data"));
    assert_eq!(wallet.status()["nodes"][0]["dropped"], json!(null));
    let images = json!({ "key_images": ["11".repeat(32)] });
    assert_eq!(wallet.json("/is_key_image_spent", &images)["status"], json!("BUSY"));
}

#[test]
fn reorganisations_reach_the_wallet() {
    let (node, mut guarded, _store) = guarded();
    let known = [chain(BLOCKS, BLOCKS)[BLOCKS as usize].id, chain(0, 1)[0].id];
    let longer = chain(60, BLOCKS + 2);
    node.words().chain = longer.clone();
    guarded.follow_to(BLOCKS + 2);
    let ids = [&known[..1], &[longer[60].id], &known[1..]].concat();
    let answer = guarded.wallet().blocks(&ids);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 60));
    assert!(answer.blocks.iter().eq(longer[60..].iter().map(|block| &block.blob)));
}

#[test]
fn hostile_requests_are_answered() {
    let (node, guarded, _store) = guarded();
    let wallet = guarded.wallet();
    let long = [vec![b'['; 100_000], vec![b'{'; 100_000]].concat();
    let bodies: [&[u8]; 8] = [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"\x01\x11\x01\x01\x01\x01\x02\x01\x01",
        b"\x01\x11\x01\x01\x01\x01\x02\x01\x01\x04\x09block_ids\x0a\xff\xff\xff\xff\xff\xff\xff\xff",
        &long,
    ];
    for path in [
        "/json_rpc",
        "/getblocks.bin",
        "/getblocks_by_height.bin",
        "/gethashes.bin",
        "/gettransactions",
        "/sendrawtransaction",
        "/get_outs.bin",
        "/get_output_distribution.bin",
        "/stop_daemon",
        "/../etc/passwd",
    ] {
        for body in bodies {
            let (status, _) = wallet.post(path, body);
            assert!(matches!(status, 200 | 404), "{path}: {status}");
        }
    }
    let length = |bytes: usize| format!("Content-Length: {bytes}\r\n\r\n");
    let chunks = "Transfer-Encoding: chunked\r\n\r\nzz\r\n";
    assert_eq!(wallet.begin("/getblocks.bin", &length((4 << 20) + 1)), "HTTP/1.1 413");
    assert_eq!(wallet.begin("/getblocks.bin", &length(4 << 20)), "HTTP/1.1 408");
    assert_eq!(wallet.begin("/getblocks.bin", chunks), "HTTP/1.1 400");
    // JSON that a `Value` cannot hold is returned as it was sent.
    let nested = ["[".repeat(200), "]".repeat(200)].concat();
    for id in ["1e999", r#""\ud800""#, "18446744073709551616", &nested] {
        for method in ["get_info", "get_bans", "get_block"] {
            let request = format!(r#"{{"id":{id},"method":"{method}"}}"#);
            let (status, answer) = wallet.post("/json_rpc", request.as_bytes());
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            assert!(status == 200 && answer.starts_with(start.as_bytes()), "{method}: {id}");
        }
    }
    let unknown = wallet.call("get_bans", &json!({}));
    assert_eq!(unknown["error"]["code"], json!(-32601));
    for name in ["/stop_daemon", "passwd", "get_bans"] {
        assert!(!node.heard(name.as_bytes()), "{name} is not forwarded");
    }
    let heights = wallet
        .call("get_block_headers_range", &json!({ "start_height": 0, "end_height": u64::MAX }));
    assert_ne!(heights["status"], json!("OK"));
    assert_eq!(wallet.call("get_info", &Value::Null)["status"], json!("OK"));
}
