//! JSON lines of the command line, and requests to its server.

use std::net::SocketAddr;

use randomx::{EngineChoice, Version};
use randomx_cli::internals::{
    HashBody, VerifyBody, is_own_host, parse_hash_body, parse_hash_lines, parse_verify_body,
    parse_verify_lines,
};
use serde_json::{Value, json};

use super::json;
use super::messages::{printable, short};
use crate::{Target, vectors};

pub(super) const JSON_LINES: Target =
    Target { name: "json_lines", longest: 2048, quick: 4000, run: json_lines, seeds: line_seeds };

pub(super) const REQUESTS: Target =
    Target { name: "requests", longest: 2048, quick: 4000, run: requests, seeds: request_seeds };

const THREADS: usize = 4;

fn json_lines(bytes: &[u8]) -> bool {
    let (hashes, proofs) = (parse_hash_lines(bytes), parse_verify_lines(bytes));
    match &hashes {
        Ok(jobs) => {
            let lines = lines(bytes);
            assert_eq!(jobs.len(), lines.len());
            for ((key, version, input), line) in jobs.iter().zip(&lines) {
                is_hex(key, &line["key"]);
                assert_eq!(*version, version_in(line));
                is_hex(input, &line["input"]);
            }
        }
        Err(message) => short(message),
    }
    match &proofs {
        Ok(jobs) => {
            let lines = lines(bytes);
            assert_eq!(jobs.len(), lines.len());
            for ((seed_hash, blob, difficulty), line) in jobs.iter().zip(&lines) {
                assert_eq!(seed_hash.len(), 32);
                is_hex(seed_hash, &line["seed_hash"]);
                is_hex(blob, &line["hashing_blob"]);
                if let Some(digits) = line["difficulty"].as_str() {
                    assert_eq!(difficulty.to_string(), digits.trim_start_matches('0'));
                }
                if let Some(number) = line["difficulty"].as_u64() {
                    assert_eq!(difficulty.as_u128(), Some(number.into()));
                }
            }
        }
        Err(message) => short(message),
    }
    hashes.is_ok() || proofs.is_ok()
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = str::from_utf8(bytes).expect("accepted lines are UTF-8");
    let parse = |line| serde_json::from_str(line).expect("accepted lines are JSON");
    text.split_terminator('\n').map(parse).collect()
}

fn is_hex(bytes: &[u8], json: &Value) {
    assert_eq!(hex::encode(bytes), json.as_str().expect("a text").to_ascii_lowercase());
}

fn line_seeds() -> Vec<Vec<u8>> {
    let blob = hex::encode(&vectors::hashing_blobs()[0]);
    let seed_hash = "0a".repeat(32);
    let verify = |difficulty: Value| json!({ "seed_hash": seed_hash, "hashing_blob": blob, "difficulty": difficulty });
    vec![
        b"{\"key\":\"00\",\"input\":\"aB\"}\n{\"version\":2,\"input\":\"\",\"key\":\"\"}\r\n"
            .to_vec(),
        format!("{}\n{}", verify(json!(7)), verify(json!("716071628829"))).into_bytes(),
    ]
}

fn requests(bytes: &[u8]) -> bool {
    let Some((kind, rest)) = bytes.split_first() else { return false };
    match kind % 3 {
        0 => match parse_hash_body(rest, THREADS) {
            Ok(body) => {
                if let Some(json) = json::accepted(rest) {
                    hash_body(&body, &json);
                }
                true
            }
            Err(message) => {
                printable(&message);
                false
            }
        },
        1 => match parse_verify_body(rest) {
            Ok(body) => {
                body.checks.iter().for_each(|check| printable(&check.to_string()));
                if let Some(json) = json::accepted(rest) {
                    verify_body(&body, &json);
                }
                true
            }
            Err(message) => {
                printable(&message);
                false
            }
        },
        _ => host(&String::from_utf8_lossy(rest)),
    }
}

fn hash_body(body: &HashBody, json: &Value) {
    is_hex(&body.key, &json["key"]);
    let inputs = json["inputs"].as_array().expect("a list");
    assert_eq!(body.inputs.len(), inputs.len());
    body.inputs.iter().zip(inputs).for_each(|(input, json)| is_hex(input, json));
    assert_eq!(body.version, version_in(json));
    assert_eq!(body.engine, engine_in(json));
    assert_eq!(body.is_fast, json["mode"].as_str().is_some_and(|mode| mode == "fast"));
    assert!((1..=THREADS).contains(&body.threads));
    assert_eq!(body.threads as u64, json["threads"].as_u64().unwrap_or(THREADS as u64));
    assert_eq!(body.lanes.map(|lanes| lanes as u64), json["lanes"].as_u64());
}

fn verify_body(body: &VerifyBody, json: &Value) {
    let is_optional_hex = |bytes: Option<&[u8]>, json: &Value| match bytes {
        Some(bytes) => is_hex(bytes, json),
        None => assert!(json.is_null(), "{json}"),
    };
    is_optional_hex(body.block.as_deref(), &json["block"]);
    is_optional_hex(body.hashing_blob.as_deref(), &json["hashingBlob"]);
    is_optional_hex(body.id.as_ref().map(<[u8; 32]>::as_slice), &json["expectedId"]);
    assert_eq!(body.height, json["height"].as_u64());
    is_hex(&body.seed_hash, &json["seedHash"]);
    let digits = json["difficulty"].as_str().expect("a text");
    assert_eq!(body.difficulty.to_string(), digits.trim_start_matches('0'));
    assert_eq!(body.engine, engine_in(json));
}

/// Returns the version of RandomX in an accepted object.
fn version_in(json: &Value) -> Version {
    match json.get("version").map(|version| version.as_u64()) {
        None | Some(Some(1)) => Version::V1,
        Some(Some(2)) => Version::V2,
        other => panic!("version {other:?}"),
    }
}

/// Returns the engine in an accepted object.
fn engine_in(json: &Value) -> EngineChoice {
    match json.get("engine").map(|engine| engine.as_str()) {
        None | Some(Some("auto")) => EngineChoice::Auto,
        Some(Some("interpreter")) => EngineChoice::Interpreter,
        Some(Some("jit")) => EngineChoice::Jit,
        other => panic!("engine {other:?}"),
    }
}

/// A server on this computer has no name that leads elsewhere.
fn host(host: &str) -> bool {
    let bound: SocketAddr = ([127, 0, 0, 1], 4173).into();
    if !is_own_host(bound, host) {
        return false;
    }
    let url = url::Url::parse(&format!("http://{host}/")).expect("a name of a server");
    assert_eq!(url.port(), Some(4173), "{host}");
    assert!(url.username().is_empty() && url.password().is_none() && url.path() == "/", "{host}");
    let loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    assert!(loopback, "{host}");
    true
}

fn request_seeds() -> Vec<Vec<u8>> {
    let block = vectors::blocks(900).first().map_or(String::new(), hex::encode);
    let blob = hex::encode(&vectors::hashing_blobs()[0]);
    let hash = json!({
        "key": "00", "inputs": ["ab", ""], "version": 2, "engine": "jit", "mode": "light",
        "threads": 2, "lanes": 3,
    });
    let fast = json!({ "key": "", "inputs": [], "engine": "interpreter", "mode": "fast" });
    let verify = json!({
        "block": block, "seedHash": "0a".repeat(32), "difficulty": "9", "height": 7,
        "expectedId": "0b".repeat(32), "engine": "auto",
    });
    let claim = json!({ "hashingBlob": blob, "seedHash": "0a".repeat(32), "difficulty": "1" });
    let of = |kind: u8, text: String| [&[kind], text.as_bytes()].concat();
    vec![
        of(0, hash.to_string()),
        of(0, fast.to_string()),
        of(1, verify.to_string()),
        of(1, claim.to_string()),
        of(2, "localhost:4173".to_owned()),
        of(2, "127.0.0.1:4173".to_owned()),
        of(2, "[::1]:4173".to_owned()),
    ]
}
