//! Monero's own daemon, with a chain of its own.

use std::env;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use arrow_array::cast::AsArray;
use randomx_testing::{Running, say};
use serde_json::{Value, json};

use crate::{audit, read, summary, text};

/// Receives the rewards; an unused address from Monero's own tests.
const ADDRESS: &str = "42ey1afDFnn4886T7196doS9GPMzexD9gXpsZJDwVjeRVdFCSoHnv7KPbBeGpzJBzHRCAs9UxqeoyFQMYbqSWYTfJJQAWDm";

const BLOCKS: usize = 40;

/// A daemon, which ends with the test.
struct Daemon {
    /// Ends it.
    _process: Running,
    url: String,
}

impl Daemon {
    /// Starts a daemon whose blocks have the difficulty 1.
    fn start(program: &str, folder: &Path) -> Daemon {
        let port = || TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
        let [rpc, p2p] = [port(), port()].map(|port| port.expect("a port").port().to_string());
        let process = Command::new(program)
            .args(["--regtest", "--offline", "--fixed-difficulty=1", "--non-interactive"])
            .args(["--no-igd", "--hide-my-port", "--no-zmq", "--data-dir", text(folder)])
            .args(["--p2p-bind-ip", "127.0.0.1", "--p2p-bind-port", &p2p])
            .args(["--rpc-bind-ip", "127.0.0.1", "--rpc-bind-port", &rpc])
            .stdout(Stdio::null())
            .spawn();
        let process = Running(process.expect("the daemon starts"));
        let daemon = Daemon { _process: process, url: format!("http://127.0.0.1:{rpc}") };
        for _ in 0..600 {
            if daemon.call("get_info", &json!({})).is_some() {
                return daemon;
            }
            thread::sleep(Duration::from_millis(300));
        }
        panic!("the daemon answers");
    }

    /// Calls a method of its JSON-RPC.
    fn call(&self, method: &str, params: &Value) -> Option<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": "0", "method": method, "params": params });
        let mut response =
            ureq::post(format!("{}/json_rpc", self.url)).send(request.to_string()).ok()?;
        let answer: Value =
            serde_json::from_str(&response.body_mut().read_to_string().ok()?).ok()?;
        answer.get("result").cloned()
    }
}

#[test]
#[ignore = "full tests: needs Monero's daemon"]
fn hashes_are_those_of_the_daemon() {
    let Ok(program) = env::var("MONEROD_PATH") else {
        say("skipped: MONEROD_PATH names no daemon");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(&program, &folder.path().join("daemon"));
    let params = json!({ "amount_of_blocks": BLOCKS, "wallet_address": ADDRESS });
    daemon.call("generateblocks", &params).expect("blocks");
    let range = json!({ "start_height": 1, "end_height": BLOCKS, "fill_pow_hash": true });
    let headers = daemon.call("get_block_headers_range", &range).expect("headers");
    let [chain, from_node, from_files] =
        ["chain", "from-node", "from-files"].map(|name| folder.path().join(name));
    let to = BLOCKS.to_string();
    let all = ["--network", "regtest", "--from", "1", "--to", &to];
    let run = |arguments: &[&str], output: &Path| {
        audit(&[arguments, &["--output", text(output)]].concat()).assert().code(0);
    };
    run(&[&["audit", "--node", &daemon.url][..], &all].concat(), &from_node);
    run(&[&["collect", "--node", &daemon.url][..], &all].concat(), &chain);
    run(&["audit", "--parquet", text(&chain)], &from_files);
    for output in [from_node, from_files] {
        assert_eq!(summary(&output)["valid"], BLOCKS);
        let result = read(&output.join("epoch-0000000000.parquet"));
        let hashes = result["pow_hash"].as_fixed_size_binary();
        for (row, header) in headers["headers"].as_array().expect("a list").iter().enumerate() {
            assert_eq!(header["pow_hash"], hex::encode(hashes.value(row)));
        }
    }
}
