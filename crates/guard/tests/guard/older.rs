//! Blocks before those that the chain client keeps.

use std::fs;

use randomx_monero::MAINNET_GENESIS_ID;
use serde_json::{Value, json};

use super::chain::{TestBlock, chain};
use super::node::{Node, Words};
use super::world::{Guarded, followed, followed_twice};

const BLOCKS: u64 = 120;
const KEPT: u64 = 20;

#[test]
fn headers_of_older_blocks_are_proven_once() {
    let all = chain(BLOCKS, BLOCKS);
    let (node, guarded, store) = followed(&all, KEPT);
    let wallet = guarded.wallet();
    let by_hash = json!({ "hash": hex::encode(all[9].id) });
    node.words().json = |method, result| {
        if method == "get_block_header_by_hash" {
            result["block_header"]["height"] = json!(8);
        }
    };
    let header = wallet.call("get_block_header_by_hash", &by_hash);
    let status = header["status"].as_str().expect("a text");
    assert!(status.contains("hash: the block is not block 8 of the verified chain"), "{status}");
    let failure = &wallet.status()["nodes"][0]["failure"];
    assert!(failure.as_str().is_some_and(|failure| failure.contains("is not block 8")));
    let answer = wallet.blocks(&[all[5].id, MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.start, answer.current), ("OK", 5, BLOCKS + 1));
    assert!(answer.blocks.iter().eq(all[5..].iter().map(|block| &block.blob)));
    let header = wallet.call("get_block_header_by_height", &json!({ "height": 7 }));
    assert_eq!(header["block_header"]["hash"], json!(hex::encode(all[7].id)));
    // Blocks that were proven are found without the node.
    let asked = node.count(b"/gethashes.bin");
    let header = wallet.call("get_block_header_by_hash", &by_hash);
    assert_eq!(header["block_header"]["height"], json!(9));
    let answer = wallet.hashes(&[all[9].id, MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 9));
    let ids = all[9..].iter().flat_map(|block| block.id);
    assert!(answer.ids.iter().copied().eq(ids));
    assert_eq!(node.count(b"/gethashes.bin"), asked);
    drop(guarded);

    // Another run reads them from the disk: the node has no such headers any more.
    node.words().json = |method, result| {
        if method == "get_block" && result["block_header"]["height"].as_u64() < Some(80) {
            *result = json!({ "status": "Failed" });
        }
    };
    let mut again = Guarded::start(&[&node.url], store.path(), KEPT);
    again.follow_to(BLOCKS);
    assert_eq!(again.wallet().blocks(&[all[5].id, MAINNET_GENESIS_ID]).status, "OK");
    drop(again);

    // A damaged file is not used.
    let file = store.path().join("older-headers/headers-000000");
    let mut bytes = fs::read(&file).expect("a file");
    bytes[100] ^= 1;
    fs::write(&file, &bytes).expect("writable");
    node.words().json = |_, _| {};
    let mut again = Guarded::start(&[&node.url], store.path(), KEPT);
    again.follow_to(BLOCKS);
    assert_eq!(again.wallet().blocks(&[all[5].id, MAINNET_GENESIS_ID]).status, "OK");
    assert_ne!(fs::read(&file).expect("a file"), bytes);
}

#[test]
fn a_relay_may_have_used_the_store_before() {
    let all = chain(BLOCKS, BLOCKS);
    let node = Node::start(Words::honest(all.clone()));
    let store = tempfile::tempdir().expect("a folder");
    // The relay's headers.
    let file = store.path().join("headers");
    fs::write(&file, b"RXMrelay").expect("writable");
    let known = [all[5].id, MAINNET_GENESIS_ID];
    let mut guarded = Guarded::start(&[&node.url], store.path(), KEPT);
    guarded.follow_to(BLOCKS);
    assert_eq!(guarded.wallet().blocks(&known).status, "OK");
    drop(guarded);
    assert_eq!(fs::read(&file).expect("a file"), b"RXMrelay");

    // Older stores have the guard's headers there.
    fs::remove_file(&file).expect("removable");
    fs::rename(store.path().join("older-headers"), &file).expect("movable");
    node.words().json = |method, result| {
        if method == "get_block" && result["block_header"]["height"].as_u64() < Some(80) {
            *result = json!({ "status": "Failed" });
        }
    };
    let mut again = Guarded::start(&[&node.url], store.path(), KEPT);
    again.follow_to(BLOCKS);
    assert_eq!(again.wallet().blocks(&known).status, "OK");
}

#[test]
fn a_false_old_id_is_refused_where_two_nodes_answer() {
    let all = chain(BLOCKS, BLOCKS);
    let (nodes, guarded, _store) = followed_twice(&all, KEPT);
    let wallet = guarded.wallet();
    let lies: [fn(&mut Vec<TestBlock>); 2] = [
        |blocks| blocks[60].id = [7; 32],
        |blocks| {
            blocks.truncate(61);
            blocks[60].id = [7; 32];
        },
    ];
    for lie in lies {
        nodes[0].words().blocks = lie;
        let answer = wallet.hashes(&[MAINNET_GENESIS_ID]);
        let expected = "two nodes contradict each other, and nothing shows which one lies";
        assert!(answer.status.contains(expected), "{}", answer.status);
    }
    // Two nodes must begin at the same height.
    nodes[0].words().blocks = |_| {};
    nodes[0].words().first = Some(7);
    let answer = wallet.hashes(&[all[7].id, MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 7));
    nodes[1].words().first = Some(0);
    let answer = wallet.hashes(&[all[7].id, MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("two nodes contradict each other"), "{}", answer.status);
    // Where one sends fewer, wallets get those that both sent.
    nodes.iter().for_each(|node| node.words().first = None);
    nodes[0].words().blocks = |blocks| blocks.truncate(61);
    let answer = wallet.hashes(&[MAINNET_GENESIS_ID]);
    assert_eq!(answer.status, "OK");
    assert!(answer.ids.iter().copied().eq(all[..61].iter().flat_map(|block| block.id)));
    assert!(!guarded.logged("sent false data"));
}

#[test]
fn a_node_that_sends_no_new_ids_is_passed_over() {
    let all = chain(BLOCKS, BLOCKS);
    let (nodes, guarded, _store) = followed_twice(&all, KEPT);
    let wallet = guarded.wallet();
    let ask = |known: &[usize], first: usize, last: u64| {
        let known: Vec<_> = known.iter().map(|height| all[*height].id).collect();
        let answer = wallet.hashes(&known);
        assert_eq!((answer.status.as_str(), answer.start), ("OK", first as u64));
        assert!(answer.ids.iter().copied().eq(all[first..].iter().flat_map(|block| block.id)));
        let problem = format!("the node has no block after {last}, and the chain has {BLOCKS}");
        let failure = &wallet.status()["nodes"][0]["failure"];
        assert_eq!(*failure, json!(format!("gethashes.bin: {problem}")));
    };
    // Wallets take up to three ids for the end of the chain, and then scan from the newest block that they named.
    nodes[0].words().blocks = |blocks| blocks.truncate(1);
    ask(&[0], 0, 0);
    nodes[0].words().blocks = |blocks| blocks.truncate(3);
    ask(&[0], 0, 2);
    // More ids, all named by the wallet.
    nodes[0].words().first = Some(3);
    nodes[0].words().blocks = |blocks| blocks.truncate(5);
    ask(&[7, 6, 5, 4, 3, 0], 7, 7);
    assert!(!guarded.logged("sent false data"));
}

#[test]
fn a_wallet_with_false_ids_has_to_be_rescanned() {
    let (_node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), KEPT);
    let answer = guarded.wallet().blocks(&[[7; 32], [8; 32], MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("the wallet has false ids: rescan it"), "{}", answer.status);
}

#[test]
fn an_answer_counts_as_verified_if_all_of_it_is() {
    let all = chain(BLOCKS, BLOCKS);
    let (_node, guarded, _store) = followed(&all, KEPT);
    let wallet = guarded.wallet();
    let counts = || {
        let status = wallet.status();
        let not_verified = status["notVerified"].as_object().expect("an object").len();
        (status["verified"]["gethashes.bin"].clone(), not_verified)
    };
    assert_eq!(wallet.hashes(&[MAINNET_GENESIS_ID]).status, "OK");
    assert_eq!(counts(), (Value::Null, 1));
    assert_eq!(wallet.hashes(&[all[110].id, MAINNET_GENESIS_ID]).status, "OK");
    assert_eq!(counts(), (json!(1), 1));
    // Blocks come with output indices. A wallet with all blocks gets none.
    let blocks = |id| {
        assert_eq!(wallet.blocks(&[id, MAINNET_GENESIS_ID]).status, "OK");
        let status = wallet.status();
        let not_verified = &status["notVerified"]["getblocks.bin: output_indices"];
        (status["verified"]["getblocks.bin"].clone(), not_verified.clone())
    };
    assert_eq!(blocks(all[110].id), (Value::Null, json!(1)));
    assert_eq!(blocks(all[BLOCKS as usize].id), (json!(1), json!(1)));
}

#[test]
fn the_archive_grows_with_the_chain() {
    let (node, mut guarded, _store) = followed(&chain(BLOCKS, BLOCKS), KEPT);
    let wallet = guarded.wallet();
    let known = chain(BLOCKS, BLOCKS)[50].id;
    assert_eq!(wallet.blocks(&[known, MAINNET_GENESIS_ID]).status, "OK");
    // The blocks between were never in the archive.
    node.words().chain = chain(BLOCKS + 90, BLOCKS + 90);
    guarded.follow_to(BLOCKS + 90);
    let answer = wallet.blocks(&[known, MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 50));
    assert_eq!(answer.blocks.len() as u64, BLOCKS + 90 - 49);
}

#[test]
fn an_older_block_of_another_chain_is_a_lie() {
    let (node, guarded, _store) = followed(&chain(BLOCKS, BLOCKS), KEPT);
    let wallet = guarded.wallet();
    node.words().blocks = |blocks| blocks[10] = chain(0, 20)[10].clone();
    let answer = wallet.blocks(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("block 10 is not on the verified chain"), "{}", answer.status);
}

#[test]
fn a_node_cannot_have_older_headers_read() {
    let all = chain(BLOCKS, BLOCKS);
    let (nodes, guarded, _store) = followed_twice(&all, KEPT);
    let wallet = guarded.wallet();
    let recent = [all[110].id, all[90].id, MAINNET_GENESIS_ID];
    for first in [0, 1, 90] {
        nodes[0].words().first = Some(first);
        let answer = wallet.blocks(&recent);
        assert_eq!((answer.status.as_str(), answer.start), ("OK", 110));
        let failure = &wallet.status()["nodes"][0]["failure"];
        let expected = format!("getblocks.bin: start_height: expected 110, got {first}");
        assert_eq!(*failure, json!(expected));
    }
    // No block of this wallet is in memory.
    nodes[1].words().fails = true;
    for first in [0, 1] {
        nodes[0].words().first = Some(first);
        let answer = wallet.blocks(&[all[50].id, all[40].id, MAINNET_GENESIS_ID]);
        assert!(answer.status.contains(": start_height: "), "{}", answer.status);
    }
    let nothing = json!({ "proven": null, "wanted": null, "failure": null });
    assert_eq!(wallet.status()["headers"], nothing);
    nodes[0].words().first = Some(49);
    nodes[0].words().blocks = |blocks| blocks.truncate(2);
    let answer = wallet.blocks(&[all[50].id, all[49].id, MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("the node has no block after 50"), "{}", answer.status);
}

#[test]
fn known_blocks_are_not_the_end_of_an_old_wallets_chain() {
    let all = chain(BLOCKS, BLOCKS);
    let (node, guarded, _store) = followed(&all, KEPT);
    let wallet = guarded.wallet();
    // In the middle of a scan: the newest blocks, and older ones after a gap.
    let named = [all[50].id, all[49].id, all[40].id, MAINNET_GENESIS_ID];
    node.words().first = Some(40);
    node.words().blocks = |blocks| blocks.truncate(3);
    // The headers are read meanwhile.
    let answer = wallet.blocks(&named);
    assert!(answer.status.contains("the node has no block after 42"), "{}", answer.status);
    // A shorter way back is no other one than a fork's.
    node.words().first = Some(49);
    let answer = wallet.blocks(&named);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 49));
    node.words().first = Some(0);
    let answer = wallet.blocks(&named);
    assert!(answer.status.contains("start_height: expected 50, got 0"), "{}", answer.status);
    node.words().first = None;
    let answer = wallet.blocks(&named);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 50));
    assert!(!guarded.logged("sent false data"));
}

#[test]
fn ids_before_the_archive_are_passed_on_as_not_verified() {
    let all = chain(BLOCKS, BLOCKS);
    let (node, guarded, _store) = followed(&all, KEPT);
    let wallet = guarded.wallet();
    let answer = wallet.hashes(&[MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 0));
    assert_eq!(answer.ids.len() as u64, 32 * (BLOCKS + 1));
    assert!(guarded.logged("forwarded without verification: gethashes.bin"));
    // In memory they are verified. Near the tip, the node may have yet to leave a fork.
    node.words().blocks = |blocks| blocks[BLOCKS as usize - 3].id = [7; 32];
    let answer = wallet.hashes(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("block 117 is not on the verified chain"), "{}", answer.status);
    assert!(!guarded.logged("sent false data"));
    node.words().blocks = |blocks| blocks[BLOCKS as usize - 12].id = [7; 32];
    let answer = wallet.hashes(&[MAINNET_GENESIS_ID]);
    let lie = "sent false data: block 108 is not on the verified chain";
    assert!(answer.status.contains(lie), "{}", answer.status);
    let answer = wallet.hashes(&[all[110].id, MAINNET_GENESIS_ID]);
    assert_eq!((answer.status.as_str(), answer.start), ("OK", 110), "no node is asked");
}
