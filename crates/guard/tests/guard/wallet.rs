//! The requests of a wallet, and the parsed answers.

use std::io::{Read, Write};
use std::net::TcpStream;

use randomx_monero::Hash;
use serde_json::{Value, json};

use super::reader::{Blocks, read};
use super::writer::Writer;

/// A wallet's side of the interface.
pub(crate) struct Wallet {
    url: String,
}

impl Wallet {
    pub(crate) fn new(url: &str) -> Wallet {
        Wallet { url: url.to_owned() }
    }

    /// Sends a request, and returns the HTTP status and the body.
    pub(crate) fn post(&self, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
        let mut response = agent.post(format!("{}{path}", self.url)).send(body).expect("an answer");
        let status = response.status().as_u16();
        (status, response.body_mut().read_to_vec().expect("a body"))
    }

    /// Sends a request that ends with `rest`, and returns the beginning of the answer.
    pub(crate) fn begin(&self, path: &str, rest: &str) -> String {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("a connection");
        let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\n{rest}");
        stream.write_all(head.as_bytes()).expect("writable");
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("an answer");
        String::from_utf8_lossy(&start).into_owned()
    }

    /// Reads the status of the guard.
    pub(crate) fn status(&self) -> Value {
        let mut response =
            ureq::get(format!("{}/guard/status", self.url)).call().expect("an answer");
        serde_json::from_slice(&response.body_mut().read_to_vec().expect("a body")).expect("JSON")
    }

    /// Calls a method with a path of its own, in JSON.
    pub(crate) fn json(&self, path: &str, request: &Value) -> Value {
        let (_, body) = self.post(path, request.to_string().as_bytes());
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Calls a method of JSON-RPC, and returns the result, or the whole answer if there is none.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params });
        let mut answer = self.json("/json_rpc", &request);
        match answer.get_mut("result") {
            Some(result) => result.take(),
            None => answer,
        }
    }

    /// Asks for blocks after the newest known one, as `monero-wallet-rpc` does.
    pub(crate) fn blocks(&self, known: &[Hash]) -> Blocks {
        self.blocks_from(known, 0, true)
    }

    pub(crate) fn blocks_from(&self, known: &[Hash], start: u64, prune: bool) -> Blocks {
        let mut request = Writer::new();
        request.bytes("block_ids", known.as_flattened());
        request.bytes("client", b"the wallet's name");
        request.flag("prune", prune);
        request.number("start_height", start);
        read(&self.post("/getblocks.bin", &request.finish()).1)
    }

    /// Asks for ids after the newest known one.
    pub(crate) fn hashes(&self, known: &[Hash]) -> Blocks {
        let mut request = Writer::new();
        request.bytes("block_ids", known.as_flattened());
        request.number("start_height", 0);
        read(&self.post("/gethashes.bin", &request.finish()).1)
    }
}
