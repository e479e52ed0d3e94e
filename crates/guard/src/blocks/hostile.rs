//! Answers of a node that are false, or have more than was asked for.

use std::iter;
use std::sync::{Arc, Mutex};

use randomx_monero::{Hash, Network};
use randomx_testing::blocks::block_with;

use super::*;
use crate::epee::Writer;
use crate::nodes::Transport;

/// Returns the newest verified block.
fn base() -> Block {
    Block::parse(&base_blob()).expect("a block")
}

fn base_blob() -> Vec<u8> {
    block_with(100, 1, &[0; 32], 0, 1, &[])
}

/// Asks for blocks, and for the pool's news, before a node with this answer. Returns the outcome, and what the
/// node was asked for.
fn answered(answer: Writer, start: u64, known: Hash) -> (Result<Vec<u8>, Refusal>, Vec<Vec<u8>>) {
    answered_about(1, answer, start, known)
}

/// The same for a request with this `requested_info`.
fn answered_about(
    info: u8,
    answer: Writer,
    start: u64,
    known: Hash,
) -> (Result<Vec<u8>, Refusal>, Vec<Vec<u8>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (answer, heard) = (answer.finish(), Arc::clone(&asked));
    let send = move |call: &Call| {
        heard.lock().expect("no panic").push(call.body.clone());
        Ok(answer.clone())
    };
    let node = ("a node".to_owned(), Box::new(send) as Transport);
    let service = Service::before(iter::once(node));
    service.chain.show(View::of_base((100, base().id()), Network::Mainnet));
    let mut request = Writer::new();
    request.byte("requested_info", info);
    request.bytes("block_ids", &known);
    request.number("start_height", start);
    let outcome = blocks(&service, Instant::now(), &request.finish());
    let asked = asked.lock().expect("no panic").clone();
    (outcome, asked)
}

/// Returns an answer with a block that is no block.
fn answer(start: u64) -> Writer {
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    writer.number("start_height", start);
    writer.number("current_height", 7);
    writer.objects("blocks", 1, |writer, _| writer.bytes("block", b"\x10false"));
    writer.objects("output_indices", 1, |writer, _| writer.numbers("indices", &[]));
    writer
}

/// Returns an answer with the newest verified block, whose outputs have these indices.
fn verified(indices: &[u64]) -> Writer {
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    writer.number("start_height", 100);
    writer.objects("blocks", 1, |writer, _| writer.bytes("block", &base_blob()));
    writer.objects("output_indices", 1, |writer, _| {
        writer.objects("indices", 1, |writer, _| writer.numbers("indices", indices));
    });
    writer
}

#[test]
fn an_answer_about_the_pool_has_no_blocks() {
    let (outcome, asked) = answered(answer(50), 0, base().id());
    let body = outcome.expect("an answer");
    let BlocksAnswer { start, current, blocks, indices, .. } =
        BlocksAnswer::read(&body).expect("an answer");
    assert_eq!((start, current, blocks.len(), indices.len()), (0, 101, 0, 0));
    assert_eq!(BlocksRequest::read(&asked[0]).expect("a request").info, POOL_ONLY);
    let mut lie = answer(0);
    lie.objects("added_pool_txs", 1, |writer, _| {
        writer.bytes("tx_hash", &[7; 32]);
        writer.bytes("tx_blob", &[1, 0, 0, 0, 0]);
    });
    assert!(matches!(answered(lie, 0, base().id()).0, Err(Refusal::Lie { .. })));
}

#[test]
fn an_answer_about_blocks_has_no_news_of_the_pool() {
    // Version 1 without inputs and outputs.
    let transaction = [1, 0, 0, 0, 0];
    let hash = Transaction::parse(&transaction).expect("a transaction").hash();
    let news = |info| {
        let mut writer = verified(&[9]);
        writer.number("daemon_time", 1000);
        writer.byte("pool_info_extent", 2);
        writer.objects("added_pool_txs", 1, |writer, _| {
            writer.bytes("tx_hash", &hash);
            writer.bytes("tx_blob", &transaction);
        });
        writer.bytes("remaining_added_pool_txids", &[8; 32]);
        writer.bytes("removed_pool_txids", &[7; 32]);
        answered_about(info, writer, 100, [7; 32]).0.expect("an answer")
    };
    let without = answered_about(BLOCKS_ONLY, verified(&[9]), 100, [7; 32]).0;
    assert_eq!(news(BLOCKS_ONLY), without.expect("an answer"));
    let with = news(1);
    assert_eq!(BlocksAnswer::read(&with).expect("an answer").pool.added.len(), 1);
}

#[test]
fn blocks_begin_where_the_wallet_says() {
    let problem =
        |start| answered(answer(start), 100, [7; 32]).0.expect_err("no block").to_string();
    for start in [0, 99, 101] {
        let expected = format!("start_height: expected 100, got {start}");
        assert!(problem(start).contains(&expected), "{}", problem(start));
    }
    assert!(problem(100).contains("block 100 cannot be parsed"), "{}", problem(100));
}

#[test]
fn output_indices_are_those_of_the_outputs() {
    // Version 2 without inputs, with two outputs.
    let outputs = [&[0, 2][..], &[7; 32], &[0, 2], &[7; 32]].concat();
    let blob = [&[2, 0, 0, 2][..], &outputs, &[0, 0]].concat();
    let transactions = vec![Transaction::parse(&blob).expect("a transaction")];
    let checked = Checked { block: base(), transactions };
    let check = |no_miner, indices: &[&[u64]], next| {
        let (indices, mut next) = (indices.iter().map(|list| list.to_vec()), next);
        let outcome = check_indices(&checked, no_miner, &indices.collect::<Vec<_>>(), &mut next);
        outcome.is_ok().then_some(next)
    };
    assert_eq!(check(false, &[&[4], &[5, 6]], None), Some(Some(7)));
    assert_eq!(check(false, &[&[4], &[5, 6]], Some(4)), Some(Some(7)));
    assert_eq!(check(true, &[&[], &[5, 6]], Some(4)), Some(Some(7)));
    for false_ones in [
        &[&[4][..]][..],
        &[&[4], &[5, 6], &[7]],
        &[&[], &[5, 6]],
        &[&[4], &[5]],
        &[&[4], &[5, 6, 7]],
        &[&[4], &[5, 7]],
        &[&[4], &[6, 7]],
    ] {
        assert_eq!(check(false, false_ones, None), None, "{false_ones:?}");
    }
    assert_eq!(check(false, &[&[4], &[5, 6]], Some(3)), None);
}

#[test]
fn an_answer_with_false_output_indices_is_refused() {
    let outcome = |indices: &[u64]| answered(verified(indices), 100, [7; 32]).0;
    assert!(outcome(&[9]).is_ok());
    for false_ones in [&[][..], &[9, 10]] {
        let problem = outcome(false_ones).expect_err("false indices").to_string();
        assert!(problem.contains("output_indices: "), "{problem}");
    }
}
