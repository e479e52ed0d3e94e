//! A fake Monero node: a chain of blocks with difficulty 1, and answers that tests can alter.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use randomx_monero::{Block, MAINNET_GENESIS_ID};
use randomx_testing::blocks::block;
use serde_json::{Value, json};

/// The timestamp of the genesis block.
const START: u64 = 1_700_000_000;

/// Turns the method, the parameters and the honest result of a call into a reply.
pub(crate) type Alter = dyn Fn(&str, &Value, Value) -> Reply + Send + Sync;

/// A reply of the node.
pub(crate) enum Reply {
    /// A result, wrapped in JSON-RPC.
    Result(Value),
    /// An HTTP status and a body.
    Raw(u16, Vec<u8>),
    /// The beginning of an answer, and then silence.
    Silence,
}

/// Replies with the honest result.
pub(crate) fn honest(_: &str, _: &Value, result: Value) -> Reply {
    Reply::Result(result)
}

/// A chain's blocks, the genesis block first.
pub(crate) struct FakeChain {
    blobs: Vec<Vec<u8>>,
    ids: Vec<[u8; 32]>,
    times: Vec<u64>,
}

impl FakeChain {
    /// A chain with a number of blocks after the genesis block.
    pub(crate) fn new(blocks: u64) -> FakeChain {
        FakeChain::forked(blocks, blocks)
    }

    /// A chain that differs from that of [`FakeChain::new`] after the height `common`.
    pub(crate) fn forked(common: u64, blocks: u64) -> FakeChain {
        let block_of = |height| (START + 120 * height, u8::from(height > common));
        FakeChain::of((0..=blocks).map(block_of))
    }

    /// A chain with one block that has another time.
    pub(crate) fn with_time(blocks: u64, (at, time): (u64, u64)) -> FakeChain {
        let time_of = |height| if height == at { time } else { START + 120 * height };
        FakeChain::of((0..=blocks).map(|height| (time_of(height), 0)))
    }

    /// A chain of blocks with these times and nonces.
    fn of(blocks: impl Iterator<Item = (u64, u8)>) -> FakeChain {
        let mut chain = FakeChain { blobs: Vec::new(), ids: Vec::new(), times: Vec::new() };
        for (height, (time, nonce)) in (0..).zip(blocks) {
            let previous = chain.ids.last().copied().unwrap_or_default();
            let blob = block(height, time, &previous, nonce);
            let id = match height {
                0 => MAINNET_GENESIS_ID,
                _ => Block::parse(&blob).expect("a block").id(),
            };
            chain.blobs.push(blob);
            chain.ids.push(id);
            chain.times.push(time);
        }
        chain
    }

    /// The id of a block, in hex.
    pub(crate) fn id(&self, height: usize) -> String {
        hex::encode(self.ids[height])
    }

    /// The answer of an honest node.
    pub(crate) fn answer(&self, method: &str, params: &Value) -> Value {
        let height = |name: &str| params[name].as_u64().expect("a height") as usize;
        match method {
            "get_info" => json!({ "status": "OK", "height": self.blobs.len() }),
            "get_block_headers_range" => {
                let heights = height("start_height")..=height("end_height");
                let headers: Vec<Value> = heights.map(|height| self.header(height)).collect();
                json!({ "status": "OK", "headers": headers })
            }
            "get_block_header_by_height" => {
                json!({ "status": "OK", "block_header": self.header(height("height")) })
            }
            "get_block" => {
                let height = height("height");
                json!({
                    "status": "OK",
                    "block_header": self.header(height),
                    "blob": hex::encode(&self.blobs[height]),
                })
            }
            other => panic!("unexpected call of {other}"),
        }
    }

    fn header(&self, height: usize) -> Value {
        json!({
            "height": height,
            "hash": self.id(height),
            "timestamp": self.times[height],
            "wide_difficulty": "0x1",
            "orphan_status": false,
        })
    }
}

/// Serves a chain on loopback until the test ends. Returns the address.
pub(crate) fn serve(
    chain: Arc<FakeChain>,
    alter: impl Fn(&str, &Value, Value) -> Reply + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let alter: Arc<Alter> = Arc::new(alter);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (chain, alter) = (Arc::clone(&chain), Arc::clone(&alter));
            // A client may disconnect at any time.
            thread::spawn(move || while answer(&stream, &chain, &*alter).is_some() {});
        }
    });
    format!("http://{address}")
}

/// Answers a request. `None` at the end of the connection.
fn answer(mut stream: &TcpStream, chain: &FakeChain, alter: &Alter) -> Option<()> {
    let mut reader = BufReader::new(stream);
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
    let request: Value = serde_json::from_slice(&body).expect("JSON");
    let method = request["method"].as_str().expect("a method");
    let result = chain.answer(method, &request["params"]);
    let (status, body) = match alter(method, &request["params"], result) {
        Reply::Result(result) => {
            (200, json!({ "jsonrpc": "2.0", "id": "0", "result": result }).to_string().into_bytes())
        }
        Reply::Raw(status, body) => (status, body),
        Reply::Silence => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{").ok()?;
            thread::park();
            return None;
        }
    };
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}
