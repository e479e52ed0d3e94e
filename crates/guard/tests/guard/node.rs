//! A simulated node. A test can alter everything that it says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use monero_epee::Epee;
use randomx_monero::{Block, Hash, keccak256};
use serde_json::{Value, json};

use super::chain::TestBlock;
use super::writer::Writer;

/// The scripted answers of a node.
#[derive(Clone)]
pub(crate) struct Words {
    pub(crate) chain: Vec<TestBlock>,
    /// The estimate of the lowest fee.
    pub(crate) fee: u64,
    /// The states of key images.
    pub(crate) spent: Vec<u8>,
    /// Alters a JSON result, or an answer in epee's format before it is written.
    pub(crate) json: fn(&str, &mut Value),
    pub(crate) blocks: fn(&mut Vec<TestBlock>),
    /// The first block for a wallet that names its blocks, if it is not the newest common one.
    pub(crate) first: Option<usize>,
    /// Whether every request fails but those of the chain client.
    pub(crate) fails: bool,
    /// Whether the connection ends in place of an answer, as for `fails`.
    pub(crate) is_silent: bool,
}

impl Words {
    pub(crate) fn honest(chain: Vec<TestBlock>) -> Words {
        Words {
            chain,
            fee: 20_000,
            spent: vec![0],
            json: |_, _| {},
            blocks: |_| {},
            first: None,
            fails: false,
            is_silent: false,
        }
    }
}

/// A node, until the test ends.
pub(crate) struct Node {
    pub(crate) url: String,
    words: Arc<Mutex<Words>>,
    requests: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Node {
    pub(crate) fn start(words: Words) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let words = Arc::new(Mutex::new(words));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (said, heard) = (Arc::clone(&words), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (said, heard) = (Arc::clone(&said), Arc::clone(&heard));
                thread::spawn(move || while answer(&stream, &said, &heard).is_some() {});
            }
        });
        Node { url, words, requests }
    }

    pub(crate) fn words(&self) -> MutexGuard<'_, Words> {
        self.words.lock().expect("no panic")
    }

    /// Whether a request had these bytes.
    pub(crate) fn heard(&self, bytes: &[u8]) -> bool {
        self.count(bytes) > 0
    }

    /// Waits for a request with these bytes.
    pub(crate) fn wait_for(&self, bytes: &[u8]) {
        let limit = Instant::now() + Duration::from_secs(30);
        while !self.heard(bytes) {
            assert!(Instant::now() < limit, "{} did not receive the request", self.url);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns how many requests had these bytes.
    pub(crate) fn count(&self, bytes: &[u8]) -> usize {
        let requests = self.requests.lock().expect("no panic");
        let has_them = |request: &&Vec<u8>| request.windows(bytes.len()).any(|part| part == bytes);
        requests.iter().filter(has_them).count()
    }
}

/// Answers a request. `None` at the end of the connection.
fn answer(
    mut stream: &TcpStream,
    words: &Mutex<Words>,
    requests: &Mutex<Vec<Vec<u8>>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    // Recorded first, because `respond` panics at a request that the node does not know.
    requests.lock().expect("no panic").push([path.as_bytes(), &body].concat());
    let said = words.lock().expect("no panic").clone();
    let (status, answer) = respond(&said, &path, &body);
    if said.is_silent && path != "/json_rpc" {
        return None;
    }
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\n\r\n", answer.len());
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&answer).ok()
}

/// Returns the HTTP status and the answer to a request.
pub(crate) fn respond(words: &Words, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    if words.fails && path != "/json_rpc" {
        return (500, Vec::new());
    }
    match path {
        "/json_rpc" => {
            let request: Value = serde_json::from_slice(body).expect("JSON");
            let method = request["method"].as_str().expect("a method");
            let mut result = json_rpc(words, method, &request["params"]);
            (words.json)(method, &mut result);
            let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
            (200, answer.to_string().into())
        }
        "/getblocks.bin" => (200, blocks(words, body)),
        "/getblocks_by_height.bin" => (200, blocks_by_height(words, body)),
        "/gethashes.bin" => (200, hashes(words, body)),
        "/get_outs.bin" => {
            let mut answer = json!({ "status": "OK", "unlocked": true });
            (words.json)(path, &mut answer);
            (200, output(&answer))
        }
        "/get_output_distribution.bin" => {
            let mut answer = json!({ "status": "OK", "start_height": words.chain.len() });
            (words.json)(path, &mut answer);
            (200, distribution(&answer))
        }
        _ => {
            let request: Value = serde_json::from_slice(body).expect("JSON");
            let mut answer = match path {
                "/gettransactions" => transactions(words, &request),
                "/is_key_image_spent" => json!({ "status": "OK", "spent_status": words.spent }),
                "/sendrawtransaction" => json!({ "status": "OK", "not_relayed": false }),
                other => panic!("unexpected request to {other}"),
            };
            (words.json)(path, &mut answer);
            (200, answer.to_string().into())
        }
    }
}

fn json_rpc(words: &Words, method: &str, params: &Value) -> Value {
    let chain = &words.chain;
    let height = |name: &str| params[name].as_u64().expect("a height") as usize;
    match method {
        "get_info" => json!({ "status": "OK", "height": chain.len() }),
        "get_block_header_by_height" => {
            json!({ "status": "OK", "block_header": header(chain, height("height")) })
        }
        "get_block_header_by_hash" => {
            let hash = params["hash"].as_str().expect("a hash");
            match chain.iter().position(|block| hex::encode(block.id) == hash) {
                Some(found) => json!({ "status": "OK", "block_header": header(chain, found) }),
                None => json!({ "status": "Failed" }),
            }
        }
        "get_block" => match chain.get(height("height")) {
            Some(block) => json!({
                "status": "OK",
                "block_header": header(chain, height("height")),
                "blob": hex::encode(&block.blob),
            }),
            None => json!({ "status": "Failed" }),
        },
        "get_fee_estimate" => json!({
            "status": "OK",
            "fee": words.fee,
            "fees": [words.fee, 4 * words.fee, 16 * words.fee, 200 * words.fee],
            "quantization_mask": 10_000,
        }),
        "get_txpool_backlog" => json!({ "status": "OK" }),
        "get_output_histogram" => json!({ "status": "OK", "histogram": [] }),
        other => panic!("unexpected call of {other}"),
    }
}

fn header(chain: &[TestBlock], height: usize) -> Value {
    json!({
        "height": height,
        "hash": hex::encode(chain[height].id),
        "timestamp": Block::parse(&chain[height].blob).expect("a block").header().timestamp,
        "wide_difficulty": "0x1",
        "orphan_status": false,
    })
}

/// Returns the ids, the start and the heights in a request.
fn requested(body: &[u8]) -> (Vec<Hash>, u64, Vec<u64>) {
    let (mut ids, mut start, mut heights) = (Vec::new(), 0, Vec::new());
    let mut epee = Epee::new(body).expect("a request");
    let mut fields = epee.entry().expect("an object").fields().expect("an object");
    while let Some(field) = fields.next() {
        let (name, entry) = field.expect("a field");
        match name.consume() {
            b"block_ids" => {
                let bytes = entry.to_str().expect("bytes").consume();
                ids = bytes.as_chunks::<32>().0.to_vec();
            }
            b"start_height" => start = entry.to_u64().expect("a number"),
            b"prune" => assert!(!entry.to_bool().expect("a flag"), "guards ask for all bytes"),
            b"heights" => {
                let mut list = entry.iterate().expect("a list");
                while let Some(height) = list.next() {
                    heights.push(height.expect("a height").to_u64().expect("a number"));
                }
            }
            _ => {}
        }
    }
    (ids, start, heights)
}

fn first(words: &Words, ids: &[Hash], start: u64) -> usize {
    let known = |id: &Hash| words.chain.iter().position(|block| block.id == *id);
    if start > 0 {
        return start as usize;
    }
    words.first.unwrap_or_else(|| ids.iter().find_map(known).expect("a common block"))
}

fn blocks(words: &Words, body: &[u8]) -> Vec<u8> {
    let (ids, start, _) = requested(body);
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    writer.number("current_height", words.chain.len() as u64);
    if ids.first() == words.chain.last().map(|block| &block.id) {
        writer.number("start_height", 0);
        return writer.finish();
    }
    let first = first(words, &ids, start);
    let mut sent = words.chain[first..].to_vec();
    (words.blocks)(&mut sent);
    writer.number("start_height", first as u64);
    write_blocks(&mut writer, &sent);
    // Every miner's transaction has one output, and every other two.
    let before: u64 =
        words.chain[..first].iter().map(|block| 1 + 2 * block.transactions.len() as u64).sum();
    let mut next = before;
    writer.objects("output_indices", sent.len(), |writer, index| {
        let counts: Vec<u64> =
            std::iter::once(1).chain(sent[index].transactions.iter().map(|_| 2)).collect();
        writer.objects("indices", counts.len(), |writer, index| {
            let numbers: Vec<u64> = (next..next + counts[index]).collect();
            next += counts[index];
            writer.numbers("indices", &numbers);
        });
    });
    writer.finish()
}

fn write_blocks(writer: &mut Writer, blocks: &[TestBlock]) {
    writer.objects("blocks", blocks.len(), |writer, index| {
        let block = &blocks[index];
        writer.bytes("block", &block.blob);
        writer.strings("txs", block.transactions.iter().map(Vec::as_slice));
    });
}

fn blocks_by_height(words: &Words, body: &[u8]) -> Vec<u8> {
    let (_, _, heights) = requested(body);
    let mut sent: Vec<TestBlock> =
        heights.iter().map(|height| words.chain[*height as usize].clone()).collect();
    (words.blocks)(&mut sent);
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    write_blocks(&mut writer, &sent);
    writer.finish()
}

fn hashes(words: &Words, body: &[u8]) -> Vec<u8> {
    let (ids, start, _) = requested(body);
    let first = first(words, &ids, start);
    let mut sent = words.chain[first..].to_vec();
    (words.blocks)(&mut sent);
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    writer.number("start_height", first as u64);
    writer.number("current_height", words.chain.len() as u64);
    let ids: Vec<Hash> = sent.iter().map(|block| block.id).collect();
    writer.bytes("m_block_ids", ids.as_flattened());
    writer.finish()
}

/// Writes an answer with one output.
fn output(answer: &Value) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.objects("outs", 1, |writer, _| {
        writer.bytes("key", &[1; 32]);
        writer.bytes("mask", &[2; 32]);
        writer.flag("unlocked", answer["unlocked"].as_bool().expect("a truth value"));
    });
    writer.bytes("status", answer["status"].as_str().expect("a text").as_bytes());
    writer.finish()
}

/// Writes a distribution of outputs without a block, which begins after the last one.
fn distribution(answer: &Value) -> Vec<u8> {
    let mut writer = Writer::new();
    let start = answer["start_height"].as_u64();
    writer.objects("distributions", usize::from(start.is_some()), |writer, _| {
        writer.number("start_height", start.expect("a height"));
        writer.flag("binary", true);
        writer.flag("compress", false);
        writer.bytes("distribution", &[]);
    });
    writer.bytes("status", answer["status"].as_str().expect("a text").as_bytes());
    writer.finish()
}

fn transactions(words: &Words, request: &Value) -> Value {
    let (mut found, mut missed) = (Vec::new(), Vec::new());
    for hash in request["txs_hashes"].as_array().expect("a list") {
        let text = hash.as_str().unwrap_or_default();
        let mut blocks = words.chain.iter().enumerate();
        let place = blocks.find_map(|(height, block)| Some((height, block.find(text)?)));
        match place {
            Some((height, (blob, prunable))) => {
                let (pruned, prunable) = blob.split_at(blob.len() - prunable);
                found.push(json!({
                    "tx_hash": hash,
                    "pruned_as_hex": hex::encode(pruned),
                    "prunable_as_hex": hex::encode(prunable),
                    // Nodes send it always.
                    "prunable_hash": hex::encode(keccak256(&[prunable])),
                    "in_pool": false,
                    "block_height": height,
                    "output_indices": [1, 2],
                }));
            }
            None => missed.push(hash.clone()),
        }
    }
    json!({ "status": "OK", "txs": found, "missed_tx": missed })
}
