//! A store of a chain whose first difficulties a source stated.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use predicates::prelude::*;
use randomx_client::state_file;
use randomx_monero::client::{Action, Client, Config, Event, Query, Start};
use randomx_monero::{Anchor, DIFFICULTY_BLOCKS, Hash, HashingBlob, Network};
use randomx_testing::blocks::varint;

use crate::{audit, summary, text, verdicts};

/// The heights of the two anchors. One block follows.
const FROM: u64 = DIFFICULTY_BLOCKS as u64;
const TO: u64 = FROM + 1;
const TIP: u64 = TO + 1;

const START: u64 = 1_700_000_000;

/// The difficulty of every block, as the source states.
const DIFFICULTY: u128 = 32;

/// What another source states.
const OTHER: u128 = 64;

/// Nonces of the last block. Hashes with these miss its difficulty by less than 3.1 %, and by more.
const NEAR: u32 = 273;
const FAR: u32 = 0;

/// Returns the hashing blobs of the chain from block 1 on.
fn chain(nonce: u32) -> Vec<Vec<u8>> {
    let mut previous = Network::Regtest.genesis_id();
    let block = |height| {
        let mut blob = vec![16, 16];
        varint(&mut blob, START + 120 * height);
        blob.extend(previous);
        blob.extend(if height == TIP { nonce } else { 0 }.to_le_bytes());
        // The root of its transactions, and their number.
        blob.extend([7; 32]);
        blob.push(1);
        previous = id(&blob);
        blob
    };
    (1..=TIP).map(block).collect()
}

fn id(blob: &[u8]) -> Hash {
    HashingBlob::parse(blob).expect("a hashing blob").id()
}

/// Follows the chain to its end, and writes the client's state into a folder. The client gets a hash that meets every
/// difficulty.
fn follow(store: &Path, blobs: &[Vec<u8>], difficulty: u128) {
    let id_at = |height: u64| id(&blobs[height as usize - 1]);
    let anchor = |height: u64| {
        let work = difficulty * u128::from(height);
        Anchor { height, id: id_at(height), work }
    };
    let start = Start::Between(anchor(FROM), anchor(TO));
    let client = Client::new(Config::new(Network::Regtest, [1; 32]), start);
    let mut client = client.expect("anchors in order");
    client.add_source().expect("the first one");
    let answer = |request, query| match query {
        Query::Tip => Event::Tip { request, height: TIP, id: id_at(TIP) },
        Query::Headers { first, count } => {
            let wanted = blobs.iter().skip(first as usize - 1).take(count as usize);
            Event::Headers { request, blobs: wanted.cloned().collect() }
        }
        Query::Difficulties { count, .. } => {
            Event::Difficulties { request, difficulties: vec![difficulty; count as usize] }
        }
    };
    for round in 1..=9 {
        let mut events = VecDeque::from([Event::Tick]);
        while let Some(event) = events.pop_front() {
            client.handle(event, START + 120 * TIP + 60 * round);
            while let Some(action) = client.next_action() {
                match action {
                    Action::Request { request, query, .. } => {
                        events.push_back(answer(request, query));
                    }
                    Action::Hash { job, .. } => {
                        events.push_back(Event::Hashed { job, hash: [0; 32] });
                    }
                    Action::Store(_) | Action::Report(_) => {}
                }
            }
        }
    }
    assert_eq!(client.tip().map(|tip| tip.height), Some(TIP));
    fs::write(state_file(store), client.save().expect("a chain")).expect("writable");
}

#[test]
fn hashes_that_miss_stated_difficulties_narrowly_have_no_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |nonce, difficulty, output: &Path| {
        follow(folder.path(), &chain(nonce), difficulty);
        let store = ["audit", "--store", text(folder.path()), "--network", "regtest"];
        audit(&[&store[..], &["--output", text(output)]].concat()).assert()
    };
    let verdict = |output: &Path| verdicts(&output.join("epoch-0000000000.parquet"));
    let output = folder.path().join("near");
    let stated = "a source stated the first difficulties, perhaps too high";
    let mention = format!(
        "no verdict on 1 block, whose hash misses its difficulty by less than 3.1 %: {stated}\n"
    );
    run(NEAR, DIFFICULTY, &output)
        .code(2)
        .stdout(predicate::str::contains("invalid       0\nwithout work  0\nnear misses   1\n"))
        .stderr(predicate::str::ends_with(mention));
    let reason = format!("the hash misses difficulty {DIFFICULTY} by less than 3.1 %: {stated}");
    assert_eq!(verdict(&output), [(None, Some(reason))]);
    assert_eq!(summary(&output)["near_misses"], 1);
    let output = folder.path().join("far");
    run(FAR, DIFFICULTY, &output).code(1);
    let reason = format!("the hash does not meet difficulty {DIFFICULTY}");
    assert_eq!(verdict(&output), [(Some(false), Some(reason))]);
    // The client read the first difficulties again.
    let refused = run(FAR, OTHER, &output).code(2).stdout("");
    refused.stderr(predicate::str::contains(format!(
        "expected difficulty {DIFFICULTY} of block {TIP}, which epoch-0000000000.parquet has from an earlier run, \
         got {OTHER}; use a new folder"
    )));
    run(FAR, DIFFICULTY, &output).code(1);
}
