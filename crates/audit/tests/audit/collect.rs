//! `randomx collect`.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, UInt64Type};
use assert_cmd::assert::Assert;
use predicates::prelude::*;

use crate::fake_node::{FakeChain, Reply, serve};
use crate::{audit, read, results, text};

/// Serves a chain, and counts the blocks that are read.
fn counted(chain: FakeChain) -> (String, impl Fn() -> usize) {
    let blocks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&blocks);
    let address = serve(Arc::new(chain), move |method, _, honest| {
        counted.fetch_add(usize::from(method == "get_block"), Ordering::Relaxed);
        Reply::Result(honest)
    });
    (address, move || blocks.swap(0, Ordering::Relaxed))
}

/// Collects blocks into a folder.
fn collect(address: &str, output: &Path, range: &[&str]) -> Assert {
    let node = ["collect", "--node", address, "--output", text(output)];
    audit(&[&node[..], range].concat()).assert()
}

/// The heights in a file.
fn heights(path: &Path) -> Vec<u64> {
    read(path)["height"].as_primitive::<UInt64Type>().values().to_vec()
}

#[test]
fn only_what_is_missing_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("chain");
    let (address, blocks) = counted(FakeChain::new(2130));
    let run = |to: &str| {
        collect(&address, &output, &["--from", "2100", "--to", to]).code(0);
        blocks()
    };
    // The block at height 2048 is the key of the second epoch. The last block of each is read again.
    assert_eq!(run("2115"), 13 + 1 + 3 + 2);
    let first = output.join("epoch-0000000000.parquet");
    let written = fs::metadata(&first).and_then(|file| file.modified()).expect("a file");
    // The last block of those that are there is compared.
    assert_eq!(run("2115"), 1);
    assert_eq!(run("2117"), 1 + 1 + 5 + 1);
    assert_eq!(fs::metadata(&first).and_then(|file| file.modified()).expect("a file"), written);
    let second = output.join("epoch-0000002048.parquet");
    assert_eq!(heights(&second), (2113..=2117).collect::<Vec<_>>());
    let second = read(&second);
    let chain = FakeChain::new(2048);
    for row in 0..5 {
        let seed = second["seed_hash"].as_fixed_size_binary().value(row);
        assert_eq!(hex::encode(seed), chain.id(2048));
        assert_eq!(second["difficulty"].as_primitive::<Decimal128Type>().value(row), 1);
    }
}

#[test]
fn no_range_removes_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("chain");
    let (address, blocks) = counted(FakeChain::new(2190));
    let run = |from: &str, to: &str| {
        collect(&address, &output, &["--from", from, "--to", to])
            .code(0)
            .stdout(predicate::str::ends_with(format!("blocks {from} to {to}\n")));
        blocks()
    };
    let has = |first: RangeInclusive<u64>, second: RangeInclusive<u64>| {
        let found = ["epoch-0000000000.parquet", "epoch-0000002048.parquet"]
            .map(|name| heights(&output.join(name)));
        assert_eq!(found, [first.collect::<Vec<_>>(), second.collect()]);
    };
    run("2100", "2130");
    has(2100..=2112, 2113..=2130);
    let before = results(&output);
    // The last block of the range is compared.
    for (from, to) in [("2105", "2120"), ("2105", "2112"), ("2113", "2113"), ("2120", "2130")] {
        assert_eq!(run(from, to), 1, "{from} to {to}");
        assert!(results(&output) == before, "{from} to {to}");
    }
    // Both ends grow: all blocks of the file are read, the key of its epoch, and the last block again.
    assert_eq!(run("2120", "2140"), 1 + 28 + 1);
    has(2100..=2112, 2113..=2140);
    assert_eq!(run("2090", "2111"), 23 + 1);
    has(2090..=2112, 2113..=2140);
    // Blocks between two ranges are read, too.
    assert_eq!(run("2150", "2160"), 1 + 48 + 1);
    has(2090..=2112, 2113..=2160);
    assert_eq!(run("1", "2115"), 2112 + 1 + 1);
    has(1..=2112, 2113..=2160);
}

#[test]
fn a_node_that_lags_removes_no_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("chain");
    let node = |chain| counted(chain).0;
    let run = |address: &str, range: &[&str]| collect(address, &output, range);
    run(&node(FakeChain::new(2150)), &["--from", "2120"])
        .code(0)
        .stdout("1 epochs, blocks 2120 to 2140\n");
    let before = results(&output);
    let lags = node(FakeChain::new(2135));
    run(&lags, &["--from", "2120"]).code(0).stdout("1 epochs, blocks 2120 to 2125\n");
    let refused = run(&lags, &["--from", "2115"]).code(2).stdout("");
    refused.stderr(predicate::str::contains(
        "epoch-0000002048.parquet has blocks 2120 to 2140, which blocks 2115 to 2125 would replace; to read all \
         of them, expected a chain with block 2140, got one that ends with block 2135; run the command again \
         when the node has that block, or use a new folder",
    ));
    // The chain changed after block 2122, so the file has other blocks than the range.
    let other = FakeChain::forked(2122, 2135);
    let mention = format!(
        "epoch-0000002048.parquet ends with block 2125, {}, got one with {} there",
        FakeChain::new(2125).id(2125),
        other.id(2125)
    );
    let refused = run(&node(other), &["--from", "2120"]).code(2).stdout("");
    refused.stderr(predicate::str::contains(mention));
    assert!(results(&output) == before);
    // A reorganisation near the tip: the last epoch is read again when it has grown.
    let other = node(FakeChain::forked(2138, 2160));
    run(&other, &["--from", "2120"]).code(0).stdout("1 epochs, blocks 2120 to 2150\n");
    let whole = folder.path().join("whole");
    collect(&other, &whole, &["--from", "2120"]).code(0);
    assert!(results(&output) == results(&whole));
}
