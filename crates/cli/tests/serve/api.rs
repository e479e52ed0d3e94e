//! Requests and answers of the API.

use serde_json::{Value, json};

use super::{common::vectors, server::Server};

/// Vectors of one key and version: the key, the inputs and the hashes.
fn batch(version: u64, count: usize) -> (Value, Vec<Value>, Vec<Value>) {
    let vectors = vectors("reference-hashes.json");
    let all = vectors["vectors"].as_array().expect("a list");
    let key = all.last().expect("a vector")["key"].clone();
    let of_key = all.iter().filter(|v| v["key"] == key && v["version"] == version).take(count);
    let (inputs, hashes): (Vec<_>, Vec<_>) =
        of_key.map(|vector| (vector["input"].clone(), vector["hash"].clone())).unzip();
    assert!(inputs.len() > 2, "enough for a batch");
    (key, inputs, hashes)
}

#[test]
fn info_describes_the_computer_and_the_limits() {
    let server = Server::start();
    let answer = server.get("/api/info");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let info = answer.json();
    assert_eq!(info["name"], "randomx");
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert!(info["cpu"]["processors"].as_u64() >= Some(1));
    assert!(info["cpu"]["features"].is_array() && info["cpu"]["model"].is_string());
    assert_eq!(info["fast"], json!({ "state": "off", "bytes": 2_181_038_016_u64 }));
    let engines = info["engines"].as_array().expect("a list");
    assert_eq!(engines.len(), 4);
    assert_eq!(engines[0], json!({ "engine": "interpreter", "mode": "light", "available": true }));
    assert_eq!(info["limits"]["body"], 1 << 20);
    assert_eq!(info["limits"]["inputs"], 1 << 16);
}

#[test]
fn hashes_are_those_of_the_vectors_by_every_engine_and_version() {
    let server = Server::start();
    for version in [1, 2] {
        let (key, inputs, hashes) = batch(version, 5);
        for engine in ["interpreter", "jit", "auto"] {
            let asked = json!({
                "key": key, "inputs": inputs, "version": version, "engine": engine,
                "mode": "light", "threads": 1, "lanes": 2,
            });
            let answer = server.post("/api/hash", &asked);
            assert_eq!(answer.status, 200, "{}", answer.json());
            let answer = answer.json();
            let found: Vec<Value> = answer["hashes"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|h| h["hash"].clone())
                .collect();
            assert_eq!(found, hashes, "{engine}");
            assert!(answer["hashes"][0]["ms"].as_f64() > Some(0.0));
            assert_eq!(answer["count"], inputs.len());
            assert_eq!((&answer["threads"], &answer["lanes"]), (&json!(1), &json!(2)));
        }
    }
}

#[test]
fn events_report_the_cache_and_then_each_hash() {
    let server = Server::start();
    let (key, inputs, hashes) = batch(1, 4);
    let asked = json!({ "key": key, "inputs": inputs });
    let events: Vec<(String, Value)> = server.events("/api/hash", &asked).collect();
    let phases: Vec<(&str, f64)> = events
        .iter()
        .filter(|(name, _)| name == "progress")
        .map(|(_, data)| {
            (data["phase"].as_str().expect("a phase"), data["done"].as_f64().expect("a part"))
        })
        .collect();
    assert!(phases.iter().filter(|(phase, _)| *phase == "cache").count() > 10);
    assert!(phases.contains(&("cache", 1.0)) && phases.contains(&("hash", 1.0)));
    let mut found: Vec<(u64, Value)> = events
        .iter()
        .filter(|(name, _)| name == "hash")
        .map(|(_, data)| (data["index"].as_u64().expect("a number"), data["hash"].clone()))
        .collect();
    found.sort_unstable_by_key(|(index, _)| *index);
    assert_eq!(found.into_iter().map(|(_, hash)| hash).collect::<Vec<_>>(), hashes);
    let (last, data) = events.last().expect("an event");
    assert_eq!((last.as_str(), &data["count"]), ("done", &json!(hashes.len())));
}

#[test]
fn no_inputs_have_no_hashes() {
    let server = Server::start();
    let answer = server.post("/api/hash", &json!({ "key": "", "inputs": [] }));
    assert_eq!((answer.status, &answer.json()["count"]), (200, &json!(0)));
    assert_eq!(answer.json()["hashes"], json!([]));
}

#[test]
fn a_real_block_is_valid_and_a_changed_one_is_not() {
    let server = Server::start();
    let headers = vectors("mainnet-headers.json");
    let block = &headers["blocks"][0];
    let mut asked = json!({
        "seedHash": headers["seed_hash"],
        "hashingBlob": block["hashing_blob"],
        "difficulty": block["difficulty"],
        "expectedId": block["id"],
        "height": block["height"],
    });
    let verdict = server.post("/api/verify", &asked).json();
    assert_eq!((&verdict["valid"], &verdict["hash"]), (&json!(true), &block["pow_hash"]));
    assert_eq!(verdict["status"], "valid");
    assert_eq!((&verdict["id"], &verdict["height"]), (&block["id"], &block["height"]));
    let checks = verdict["checks"].as_array().expect("a list");
    let proof = checks.last().expect("a check");
    assert_eq!((&proof["name"], &proof["passed"]), (&json!("proof-of-work"), &json!(true)));

    let blob = block["hashing_blob"].as_str().expect("hex");
    let nonce = 2 * 39;
    let digit = if &blob[nonce..=nonce] == "0" { "1" } else { "0" };
    asked["hashingBlob"] = json!(format!("{}{digit}{}", &blob[..nonce], &blob[nonce + 1..]));
    let verdict = server.post("/api/verify", &asked).json();
    assert_eq!((&verdict["valid"], &verdict["status"]), (&json!(false), &json!("invalid")));
    assert_ne!(verdict["hash"], block["pow_hash"]);

    // Nobody knows the rules of a later version yet.
    asked["hashingBlob"] = json!(format!("11{}", &blob[2..]));
    let verdict = server.post("/api/verify", &asked).json();
    assert_eq!((&verdict["valid"], &verdict["status"]), (&json!(false), &json!("update-needed")));

    asked["hashingBlob"] = json!("10");
    let verdict = server.post("/api/verify", &asked).json();
    assert_eq!((&verdict["valid"], &verdict["hash"]), (&json!(false), &Value::Null));
}

#[test]
fn the_page_is_served_with_its_headers_on_every_answer() {
    let server = Server::start();
    let page = server.get("/");
    assert_eq!((page.status, page.body.as_slice()), (200, b"<h1>page</h1>".as_slice()));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let since = format!("If-Modified-Since: {}", page.header("last-modified").expect("a date"));
    // The case of letters matters in HTTP's dates.
    let since = titled(&since);
    let unchanged = server.ask("GET /", &[&since], b"");
    assert_eq!(unchanged.status, 304);
    let module = server.ask("HEAD /assets/large.wasm", &[], b"");
    assert_eq!(module.header("content-type"), Some("application/wasm"));
    assert_eq!(module.header("cache-control"), Some("public, max-age=31536000, immutable"));
    for answer in [
        page,
        unchanged,
        module,
        server.get("/missing"),
        server.get("/../../Cargo.toml"),
        server.get("/api/missing"),
        server.ask("PUT /api/hash", &[], b""),
        server.ask("POST /api/hash", &[], b"{}"),
        server.ask("GET /", &["Origin: http://evil.example"], b""),
    ] {
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{answer:?}");
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(answer.header("cross-origin-embedder-policy"), Some("require-corp"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[cfg(unix)]
#[test]
fn signals_end_the_server_even_while_it_works() {
    for signal in ["INT", "TERM"] {
        let server = Server::start();
        let asked = json!({ "key": "", "inputs": vec!["00"; 4000], "engine": "interpreter" });
        let mut events = server.events("/api/hash", &asked);
        assert!(events.any(|(name, _)| name == "hash"));
        assert!(server.ends_by(signal), "{signal}");
    }
}

/// Restores the capitals of a date: of the day, the month and `GMT`.
fn titled(date: &str) -> String {
    let mut titled = String::new();
    for word in date.split_inclusive(' ') {
        let (first, rest) = word.split_at(1);
        titled += &if word == "gmt" { "GMT".to_owned() } else { first.to_uppercase() + rest };
    }
    titled
}
