//! `randomx collect`.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, UInt64Type};

use crate::fake_node::{FakeChain, Reply, serve};
use crate::{audit, read, text};

#[test]
fn only_what_is_missing_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("chain");
    let blocks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&blocks);
    let address = serve(Arc::new(FakeChain::new(2130)), move |method, _, honest| {
        counted.fetch_add(usize::from(method == "get_block"), Ordering::Relaxed);
        Reply::Result(honest)
    });
    let run = |to: &str| {
        let node = ["collect", "--node", &address, "--output", text(&output)];
        audit(&[&node[..], &["--from", "2100", "--to", to]].concat()).assert().code(0);
        blocks.swap(0, Ordering::Relaxed)
    };
    // The block at height 2048 is the key of the second epoch.
    assert_eq!(run("2115"), 13 + 1 + 3);
    let first = output.join("epoch-0000000000.parquet");
    let written = fs::metadata(&first).and_then(|file| file.modified()).expect("a file");
    // The last block of those that are there is compared.
    assert_eq!(run("2115"), 1);
    assert_eq!(run("2117"), 1 + 1 + 5);
    assert_eq!(fs::metadata(&first).and_then(|file| file.modified()).expect("a file"), written);
    let second = read(&output.join("epoch-0000002048.parquet"));
    let heights = second["height"].as_primitive::<UInt64Type>().values().to_vec();
    assert_eq!(heights, (2113..=2117).collect::<Vec<_>>());
    let chain = FakeChain::new(2048);
    for row in 0..5 {
        let seed = second["seed_hash"].as_fixed_size_binary().value(row);
        assert_eq!(hex::encode(seed), chain.id(2048));
        assert_eq!(second["difficulty"].as_primitive::<Decimal128Type>().value(row), 1);
    }
}
