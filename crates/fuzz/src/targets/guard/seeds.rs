//! Wallets' requests with honest answers.

use randomx_monero::MAINNET_GENESIS_ID;
use serde_json::{Value, json};

use super::chain::transaction;
use super::writer::Writer;
use super::{BLOCKS, CHAIN, HONEST, PATHS, TWO_NODES, truth};

/// The output of a node without blocks or transactions.
const OK: &str = r#"{"status":"OK"}"#;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = blocks();
    seeds.extend(transactions());
    seeds.extend(calls());
    seeds.extend(passed_on());
    seeds
}

/// Returns an input: a request, and the same answer of both nodes.
fn seed(path: &str, options: u8, request: &[u8], answer: &[u8]) -> Vec<u8> {
    let index = PATHS.iter().position(|(known, _)| *known == path).expect("a path");
    let mut input = vec![index as u8, options];
    let parts =
        if options & TWO_NODES == 0 { &[request, answer][..] } else { &[request, answer, answer] };
    for part in parts {
        input.extend((part.len() as u16).to_le_bytes());
        input.extend(*part);
    }
    input
}

/// Returns an input with what an honest node answers.
fn honest(path: &str, options: u8, request: &[u8]) -> Vec<u8> {
    seed(path, options, request, &truth(path, request))
}

fn written(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.finish()
}

fn blocks() -> Vec<Vec<u8>> {
    let scan = |known: &[[u8; 32]], start: u64, prune: bool| {
        written(|writer| {
            writer.bytes("block_ids", known.as_flattened());
            writer.bytes("client", b"name");
            writer.flag("prune", prune);
            writer.number("start_height", start);
        })
    };
    let pool = written(|writer| {
        writer.byte("requested_info", 1);
        writer.bytes("block_ids", &CHAIN[12].id);
    });
    let (sent, hash) = (&CHAIN[6].transactions[0], CHAIN[6].hashes()[0]);
    let news = written(|writer| {
        writer.bytes("status", b"OK");
        writer.byte("pool_info_extent", 1);
        writer.objects("added_pool_txs", 1, |writer, _| {
            writer.bytes("tx_hash", &hash);
            writer.bytes("tx_blob", sent);
        });
        writer.bytes("removed_pool_txids", &[1; 64]);
    });
    let tip = written(|writer| {
        writer.byte("requested_info", 2);
    });
    let heights = written(|writer| writer.numbers("heights", &[2, 6, BLOCKS]));
    // Nodes are asked for whole transactions.
    let pruned = |known: &[[u8; 32]], start: u64| {
        let answer = truth("/getblocks.bin", &scan(known, start, false));
        seed("/getblocks.bin", 0, &scan(known, start, true), &answer)
    };
    vec![
        pruned(&[MAINNET_GENESIS_ID], 0),
        honest("/getblocks.bin", 0, &scan(&[CHAIN[9].id, MAINNET_GENESIS_ID], 0, false)),
        pruned(&[MAINNET_GENESIS_ID], 5),
        honest("/getblocks.bin", 0, &pool),
        seed("/getblocks.bin", 0, &tip, &news),
        honest("/gethashes.bin", 0, &scan(&[CHAIN[4].id, MAINNET_GENESIS_ID], 0, false)),
        honest("/getblocks_by_height.bin", 0, &heights),
    ]
}

fn transactions() -> Vec<Vec<u8>> {
    let (hash, absent) = (hex::encode(CHAIN[6].hashes()[0]), "22".repeat(32));
    let whole = json!({ "txs_hashes": [hash], "decode_as_json": true }).to_string();
    let pruned = json!({ "txs_hashes": [absent, hash], "prune": true }).to_string();
    let long = json!({ "status": "OK", "missed_tx": "x".repeat(4000) });
    let sent =
        json!({ "tx_as_hex": hex::encode(transaction(99, 0)), "client": "name" }).to_string();
    vec![
        honest("/gettransactions", HONEST, whole.as_bytes()),
        honest("/gettransactions", HONEST, pruned.as_bytes()),
        // A node that says much.
        seed("/gettransactions", 0, whole.as_bytes(), long.to_string().as_bytes()),
        seed("/sendrawtransaction", TWO_NODES, sent.as_bytes(), OK.as_bytes()),
    ]
}

/// Calls of JSON-RPC.
fn calls() -> Vec<Vec<u8>> {
    let tip = hex::encode(CHAIN[BLOCKS as usize].id);
    let call = |method: &str, params: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": "0", "method": method, "params": params });
        request.to_string().into_bytes()
    };
    let local = [
        call("get_info", Value::Null),
        call("get_version", Value::Null),
        call("hard_fork_info", json!({ "version": 16 })),
        call("on_get_block_hash", json!([7])),
        call("get_last_block_header", Value::Null),
        call("get_block_header_by_hash", json!({ "hash": tip })),
        call("get_block_headers_range", json!({ "start_height": 3, "end_height": 5 })),
        call("get_bans", Value::Null),
        // An id that no type can hold.
        br#"{"id":1e999,"method":"get_info"}"#.to_vec(),
    ];
    let backlog = call("get_txpool_backlog", json!({ "client": "name" }));
    let mut seeds: Vec<_> = local.iter().map(|call| seed("/json_rpc", 0, call, &[])).collect();
    seeds.extend([
        honest("/json_rpc", 0, &call("get_block", json!({ "height": 6 }))),
        honest("/json_rpc", TWO_NODES | HONEST, &call("get_fee_estimate", json!({}))),
        seed("/json_rpc", 0, &backlog, OK.as_bytes()),
        seed("/get_info", 0, &[], &[]),
    ]);
    seeds
}

/// Requests whose answers nobody can verify.
fn passed_on() -> Vec<Vec<u8>> {
    let outputs = written(|writer| {
        writer.objects("outputs", 2, |writer, index| {
            writer.number("amount", 0);
            writer.number("index", index as u64);
        });
        writer.flag("get_txid", false);
        writer.bytes("client", b"name");
    });
    let keys = written(|writer| {
        writer.bytes("status", b"OK");
        writer.objects("outs", 2, |writer, index| {
            writer.bytes("key", &[index as u8; 32]);
            writer.bytes("mask", &[9; 32]);
        });
    });
    let range = written(|writer| {
        writer.numbers("amounts", &[0]);
        writer.flag("cumulative", true);
        writer.flag("compress", true);
    });
    let distribution = written(|writer| {
        writer.bytes("status", b"OK");
        writer.objects("distributions", 1, |writer, _| {
            writer.number("start_height", 3);
            writer.flag("binary", true);
            writer.flag("compress", true);
            writer.bytes("compressed_data", &[0x81, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        });
    });
    let transaction = written(|writer| writer.bytes("txid", &[3; 32]));
    let images = json!({ "key_images": ["11".repeat(32)], "client": "name" }).to_string();
    let states = json!({ "status": "OK", "spent_status": [1] }).to_string();
    vec![
        seed("/get_outs.bin", TWO_NODES, &outputs, &keys),
        seed("/get_output_distribution.bin", 0, &range, &distribution),
        seed("/get_o_indexes.bin", 0, &transaction, &keys),
        seed("/is_key_image_spent", TWO_NODES, images.as_bytes(), states.as_bytes()),
        seed("/get_transaction_pool_hashes.bin", 0, b"", OK.as_bytes()),
    ]
}
