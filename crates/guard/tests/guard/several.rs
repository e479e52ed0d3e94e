//! Several nodes: which ones are asked, and how their answers are compared.

use randomx_monero::{Block, MAINNET_GENESIS_ID};
use serde_json::json;

use super::chain::chain;
use super::node::{Node, Words};
use super::reader::read;
use super::world::{Guarded, followed_by, followed_twice};
use super::writer::Writer;

const BLOCKS: u64 = 30;
const KEPT: u64 = 2160;

#[test]
fn the_lower_of_two_estimates_is_used() {
    let nodes = [20_000, 30_000]
        .map(|fee| Node::start(Words { fee, ..Words::honest(chain(BLOCKS, BLOCKS)) }));
    let (guarded, _store) = followed_by(&[&nodes[1], &nodes[0]], KEPT, BLOCKS);
    let answer = guarded.wallet().call("get_fee_estimate", &json!({}));
    assert_eq!(answer["fee"], json!(20_000));
}

#[test]
fn the_lower_of_two_estimates_is_that_for_each_priority() {
    let (nodes, guarded, _store) = followed_twice(&chain(BLOCKS, BLOCKS), KEPT);
    let ask = || guarded.wallet().call("get_fee_estimate", &json!({}));
    let honest = ask();
    assert!(!guarded.logged("fee estimates of two nodes differ"));
    // Just below the limits, with the lowest fee in the field that wallets do not use.
    nodes[0].words().json = |method, result| {
        if method == "get_fee_estimate" {
            result["fee"] = json!(0);
            result["fees"] = json!([190_000, 700_000, 3_000_000, 38_000_000]);
            result["quantization_mask"] = json!(1);
        }
    };
    assert_eq!(ask(), honest);
    assert!(guarded.logged("fee estimates of two nodes differ: [190000, "));
    nodes[0].words().json = |method, result| {
        if method == "get_fee_estimate" {
            result["fees"] = json!([20_000, 80_000, 200_000, 38_000_000]);
        }
    };
    assert_eq!(ask()["fees"], json!([20_000, 80_000, 200_000, 4_000_000]));
}

#[test]
fn an_honest_node_beside_a_liar_estimates_fees() {
    let nodes = [2_000_000, 10_000]
        .map(|fee| Node::start(Words { fee, ..Words::honest(chain(BLOCKS, BLOCKS)) }));
    let (guarded, _store) = followed_by(&[&nodes[0], &nodes[1]], KEPT, BLOCKS);
    let estimate = guarded.wallet().call("get_fee_estimate", &json!({}));
    let fees = json!([10_000, 40_000, 160_000, 2_000_000]);
    assert_eq!((&estimate["status"], &estimate["fees"]), (&json!("OK"), &fees));
    assert!(guarded.logged("sent false data in get_fee_estimate"));
}

#[test]
fn a_false_height_is_no_answer_of_other_nodes() {
    let (nodes, guarded, _store) = followed_twice(&chain(BLOCKS, BLOCKS), KEPT);
    let request = json!({ "txs_hashes": [hex::encode(chain(BLOCKS, BLOCKS)[6].hashes()[0])] });
    nodes[0].words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["txs"][0]["block_height"] = json!(9);
        }
    };
    let answer = guarded.wallet().json("/gettransactions", &request);
    assert_eq!((&answer["status"], &answer["txs"][0]["block_height"]), (&json!("OK"), &json!(6)));
    nodes[0].words().json = |path, answer| {
        if path == "/gettransactions" {
            answer["txs"][0]["prunable_as_hex"] = json!("");
        }
    };
    let answer = guarded.wallet().json("/gettransactions", &request);
    assert_eq!((&answer["status"], &answer["txs"][0]["block_height"]), (&json!("OK"), &json!(6)));
}

#[test]
fn an_output_is_unlocked_if_one_node_says_so() {
    const UNLOCKED: &[u8] = b"unlocked\x0b\x01";
    let (nodes, guarded, _store) = followed_twice(&chain(BLOCKS, BLOCKS), KEPT);
    for locked in &nodes {
        nodes.iter().for_each(|node| node.words().json = |_, _| {});
        locked.words().json = |path, answer| {
            if path == "/get_outs.bin" {
                answer["unlocked"] = json!(false);
            }
        };
        let mut request = Writer::new();
        request.objects("outputs", 1, |writer, _| writer.number("index", 7));
        let (_, answer) = guarded.wallet().post("/get_outs.bin", &request.finish());
        assert!(answer.windows(UNLOCKED.len()).any(|part| part == UNLOCKED));
    }
}

#[test]
fn a_failed_answer_is_passed_over() {
    let (nodes, guarded, _store) = followed_twice(&chain(BLOCKS, BLOCKS), KEPT);
    let wallet = guarded.wallet();
    let histogram = || wallet.call("get_output_histogram", &json!({ "amounts": [0] }));
    let distribution = || {
        let mut request = Writer::new();
        request.numbers("amounts", &[0]);
        let (_, answer) = wallet.post("/get_output_distribution.bin", &request.finish());
        (answer.ends_with(b"OK"), read(&answer).status)
    };
    // As a node that is restricted, and one without the outputs.
    nodes[0].words().json = |method, answer| {
        if matches!(method, "get_output_histogram" | "/get_output_distribution.bin") {
            *answer = json!({ "status": "Failed" });
        }
    };
    assert_eq!(histogram(), json!({ "status": "OK", "histogram": [] }));
    assert_eq!(distribution(), (true, "OK".to_owned()));
    let failure = &wallet.status()["nodes"][0]["failure"];
    let expected = r#"get_output_distribution.bin: the node answered "Failed""#;
    assert_eq!(*failure, json!(expected));
    // The wallet reads why no node has an answer.
    nodes[1].words().fails = true;
    nodes[1].words().json = nodes[0].words().json;
    for status in [histogram()["status"].to_string(), distribution().1] {
        assert!(status.contains("the node answered "), "{status}");
        assert!(status.contains("Failed"), "{status}");
    }
    assert!(!guarded.logged("sent false data"));
}

#[test]
fn two_nodes_are_compared_where_others_fail() {
    let nodes = [0, 0, 0, 1].map(|state| {
        Node::start(Words { spent: vec![state], ..Words::honest(chain(BLOCKS, BLOCKS)) })
    });
    for failing in &nodes[..2] {
        failing.words().fails = true;
    }
    let urls = nodes.each_ref().map(|node| node.url.as_str());
    let store = tempfile::tempdir().expect("a folder");
    let mut guarded = Guarded::start(&urls, store.path(), KEPT);
    guarded.follow_to(BLOCKS);
    let images = json!({ "key_images": ["11".repeat(32)] });
    let answer = guarded.wallet().json("/is_key_image_spent", &images);
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains("two nodes contradict each other"), "{status}");
    let failure = &guarded.wallet().status()["nodes"][1]["failure"];
    assert_eq!(*failure, json!("is_key_image_spent: HTTP status 500"));
    // Another one is asked in place of the one that fails.
    nodes[0].words().fails = false;
    nodes[2].words().fails = true;
    let answer = guarded.wallet().json("/is_key_image_spent", &images);
    let status = answer["status"].as_str().expect("a text");
    assert!(status.contains("two nodes contradict each other"), "{status}");
    nodes[3].words().fails = true;
    let answer = guarded.wallet().json("/is_key_image_spent", &images);
    assert_eq!(answer["spent_status"], json!([0]));
}

#[test]
fn contradictions_about_spent_outputs_are_refused() {
    let nodes = [0, 1].map(|state| {
        Node::start(Words { spent: vec![state], ..Words::honest(chain(BLOCKS, BLOCKS)) })
    });
    let (guarded, _store) = followed_by(&[&nodes[0], &nodes[1]], KEPT, BLOCKS);
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
fn a_node_with_false_headers_is_not_asked() {
    let mut forged = chain(BLOCKS, BLOCKS);
    let last = forged.last_mut().expect("a block");
    // A version that is no longer valid at this height.
    last.blob[0] = 15;
    last.id = Block::parse(&last.blob).expect("a block").id();
    let nodes = [forged, chain(BLOCKS, BLOCKS)].map(|chain| Node::start(Words::honest(chain)));
    let (mut guarded, _store) = followed_by(&[&nodes[0], &nodes[1]], KEPT, BLOCKS);
    guarded.follow_to(BLOCKS);
    let status = guarded.wallet().status();
    assert_eq!(status["sources"][0]["state"], json!("invalid"));
    assert!(status["nodes"][0]["dropped"].is_string(), "{status}");
    assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
    assert_eq!(nodes.each_ref().map(|node| node.count(b"/getblocks.bin")), [0, 1]);
}

#[test]
fn nodes_that_fail_are_not_accused() {
    let nodes = [true, false]
        .map(|fails| Node::start(Words { fails, ..Words::honest(chain(BLOCKS, BLOCKS)) }));
    let (guarded, _store) = followed_by(&[&nodes[0], &nodes[1]], KEPT, BLOCKS);
    for _ in 0..3 {
        assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
    }
    // The first node stays the first: it may be the wallet's own.
    assert_eq!(nodes.each_ref().map(|node| node.count(b"/getblocks.bin")), [3, 3]);
    nodes[1].words().fails = true;
    let answer = guarded.wallet().blocks(&[MAINNET_GENESIS_ID]);
    assert!(answer.status.contains("HTTP status 500"), "{}", answer.status);
    nodes[0].words().fails = false;
    assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
}

#[test]
fn a_silent_node_is_asked_after_the_others() {
    let nodes = [true, false]
        .map(|is_silent| Node::start(Words { is_silent, ..Words::honest(chain(BLOCKS, BLOCKS)) }));
    let (guarded, _store) = followed_by(&[&nodes[0], &nodes[1]], KEPT, BLOCKS);
    let count = |node: &Node| node.count(b"/getblocks.bin");
    assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
    let tries = count(&nodes[0]);
    assert!(tries >= 1);
    for _ in 0..2 {
        assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
    }
    assert_eq!(nodes.each_ref().map(count), [tries, 3]);
    // It answers again when no other node does.
    nodes[0].words().is_silent = false;
    nodes[1].words().is_silent = true;
    for _ in 0..2 {
        assert_eq!(guarded.wallet().blocks(&[MAINNET_GENESIS_ID]).status, "OK");
    }
    assert_eq!(count(&nodes[0]), tries + 2);
}
