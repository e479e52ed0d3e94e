//! `randomx info`: the computer, the implementations and the pages.

use std::fs;

use crate::common::randomx;
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

#[test]
fn info_shows_the_engine_the_extensions_and_the_pages() {
    let run = randomx(&["info", "--json"]).assert().success().stderr("");
    let host: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    assert!(["jit", "interpreter"].contains(&host["engine"].as_str().expect("a string")));
    for label in ["processor", "extensions", "implementations", "cache", "dataset"] {
        assert!(host[label].is_string(), "{label}: {host}");
    }
    let kinds: &[&str] = if cfg!(windows) {
        &["large pages", "plain pages"]
    } else {
        &["reserved huge pages", "transparent huge pages", "plain pages"]
    };
    assert!(kinds.contains(&host["cache"].as_str().expect("a string")), "{host}");
    let program = fs::read(cargo_bin!("randomx")).expect("the program");
    assert_eq!(host["sha256"], hex::encode(Sha256::digest(program)));
    let lanes = host["lanes"].as_str().expect("a string");
    if host["engine"] == "jit" {
        let light = ["light v1 4", "light v1 8"].iter().any(|lanes_of| lanes.starts_with(lanes_of));
        assert!(light && lanes.ends_with(", fast v2 measured with the first hashes"), "{lanes}");
    } else {
        assert_eq!(lanes, "light v1 8, light v2 8, fast v1 4, fast v2 2");
    }
    let word = predicate::str::contains;
    let text = randomx(&["info", "--engine", "interpreter"]).assert().success();
    let lanes = word("lanes      light v1 8, light v2 8, fast v1 4, fast v2 2");
    text.stdout(word("engine     interpreter").and(lanes).and(word("dataset")));
    let text = randomx(&["info", "--lanes", "3"]).assert().success();
    text.stdout(word("lanes      light v1 3, light v2 3, fast v1 3, fast v2 3"));
}
