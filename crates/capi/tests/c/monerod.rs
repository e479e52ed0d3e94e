//! Debian's Monero daemon, which was compiled with the reference's header, with this shared library.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use randomx_testing::Running;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::installed;

#[derive(Deserialize)]
struct Blocks {
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    height: u64,
    major_version: u8,
    seed_hash: String,
    hashing_blob: String,
    pow_hash: String,
}

#[test]
#[ignore = "full tests: needs Monero's daemon"]
fn monerod_computes_the_hashes_of_mainnet() {
    let path = installed::source("../../tests/vectors/mainnet-blocks.json");
    let text = fs::read_to_string(path).expect("a file of vectors");
    let Blocks { blocks } = serde_json::from_str(&text).expect("blocks");
    assert!(blocks.len() > 1);
    let daemon = Daemon::start();
    for Block { height, major_version, seed_hash, hashing_blob, pow_hash } in blocks {
        // The daemon hashes these bytes as they are.
        let block = json!({
            "major_version": major_version,
            "height": height,
            "block_blob": hashing_blob,
            "seed_hash": seed_hash,
        });
        assert_eq!(daemon.call("calc_pow", &block), json!(pow_hash), "block {height}");
    }
}

/// A daemon without peers, killed on drop.
struct Daemon {
    process: Running,
    port: u16,
}

impl Daemon {
    fn start() -> Daemon {
        let [port, peers, messages] = free_ports();
        let lib = installed::native().join("lib");
        let data = installed::folder("monerod");
        let daemon = std::env::var_os("MONEROD_PATH").unwrap_or_else(|| "monerod".into());
        let mut command = Command::new(daemon);
        command.env("LD_LIBRARY_PATH", &lib).arg("--data-dir").arg(data);
        command.args(["--regtest", "--offline", "--fixed-difficulty", "1", "--no-igd"]);
        command.args(["--hide-my-port", "--non-interactive", "--p2p-bind-ip", "127.0.0.1"]);
        // For TLS it would compute a new RSA key at its start, for seconds.
        command.args(["--rpc-ssl", "disabled"]);
        for (option, port) in [
            ("--rpc-bind-port", port),
            ("--p2p-bind-port", peers),
            ("--zmq-rpc-bind-port", messages),
        ] {
            command.arg(option).arg(port.to_string());
        }
        let process = Running(command.stdout(Stdio::null()).spawn().expect("Monero's daemon"));
        let daemon = Daemon { process, port };
        let deadline = Instant::now() + Duration::from_secs(120);
        while daemon.try_call("get_block_count", &json!({})).is_none() {
            assert!(Instant::now() < deadline, "the daemon does not answer");
            thread::sleep(Duration::from_millis(200));
        }
        let maps = fs::read_to_string(format!("/proc/{}/maps", daemon.process.id()));
        let ours = lib.canonicalize().expect("the installed library");
        let loaded = maps.expect("the memory map of the daemon");
        assert!(loaded.contains(&ours.join("librandomx.so").display().to_string()), "{loaded}");
        daemon
    }

    fn call(&self, method: &str, parameters: &Value) -> Value {
        self.try_call(method, parameters).expect("an answer")
    }

    fn try_call(&self, method: &str, parameters: &Value) -> Option<Value> {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": parameters});
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        write!(
            stream,
            "POST /json_rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        let answer: Value = serde_json::from_str(body).ok()?;
        let result = answer.get("result")?;
        Some(result.clone())
    }
}

/// Returns three random ports below those that systems choose for connections and for servers on port 0. Others are
/// unlikely to take them before the daemon does. All are bound at the same time, so that they differ.
fn free_ports() -> [u16; 3] {
    let random = RandomState::new();
    let tries = (0..100).map(|number| 20_000 + (random.hash_one(number) % 12_768) as u16);
    let listeners = tries.filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok()).take(3);
    let listeners: [TcpListener; 3] =
        listeners.collect::<Vec<_>>().try_into().expect("three free ports");
    listeners.map(|listener| listener.local_addr().expect("its address").port())
}
