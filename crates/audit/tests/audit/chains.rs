//! Folders in which runs with several chains meet.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use assert_cmd::assert::Assert;
use predicates::prelude::*;

use crate::fake_node::{FakeChain, Reply, serve};
use crate::made::{chain, write};
use crate::{audit, read, results, summary, text};

/// Runs a command on a node's blocks from 2108 on. The epoch changes after block 2112.
fn run(command: &str, address: &str, output: &Path, to: &str) -> Assert {
    run_from("2108", command, address, output, to)
}

fn run_from(from: &str, command: &str, address: &str, output: &Path, to: &str) -> Assert {
    let node = [command, "--node", address, "--output", text(output)];
    audit(&[&node[..], &["--from", from, "--to", to]].concat()).assert()
}

fn node(chain: FakeChain) -> String {
    serve(Arc::new(chain), |_, _, honest| Reply::Result(honest))
}

#[test]
fn another_chain_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (FakeChain::new(2130), FakeChain::forked(2110, 2130));
    let mention = format!(
        "expected the chain of an earlier run, in which epoch-0000000000.parquet ends with block 2112, \
         {}, got one with {} there",
        first.id(2112),
        second.id(2112)
    );
    let [first, second] = [first, second].map(node);
    for command in ["audit", "collect"] {
        let output = folder.path().join(command);
        run(command, &first, &output, "2112").code(0);
        let before = results(&output);
        // Whether an epoch is left to do or none.
        for to in ["2116", "2112"] {
            let refused = run(command, &second, &output, to).code(2).stdout("");
            refused.stderr(predicate::str::contains(&mention));
            assert!(results(&output) == before, "nothing is written");
        }
        run(command, &first, &output, "2116").code(0);
    }
}

#[test]
fn epochs_of_a_chain_must_follow_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = FakeChain::forked(2110, 2130);
    let changed = serve(Arc::new(FakeChain::new(2130)), move |method, params, honest| {
        let is_later = params["height"].as_u64().is_some_and(|height| height > 2112);
        Reply::Result(if is_later { other.answer(method, params) } else { honest })
    });
    let (expected, got) = (FakeChain::new(2112).id(2112), FakeChain::forked(2110, 2112).id(2112));
    for command in ["audit", "collect"] {
        let output = folder.path().join(command);
        run(command, &changed, &output, "2112").code(0);
        let refused = run(command, &changed, &output, "2116").code(2).stdout("");
        refused.stderr(predicate::str::contains(format!(
            "block 2113 does not follow the one before it: expected the previous id {expected}, got {got}"
        )));
        assert!(
            !output.join("summary.json").exists(),
            "that of the run before would look like this one's"
        );
        // Both are done now, and still of two chains.
        let refused = run(command, &changed, &output, "2116").code(2).stdout("");
        let mention = "remove epoch-0000000000.parquet and epoch-0000002048.parquet";
        refused.stderr(predicate::str::contains(mention));
    }
}

#[test]
fn a_file_that_grows_stays_on_its_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, other) = (FakeChain::new(2130), FakeChain::forked(2110, 2130));
    let mention = format!(
        "in which epoch-0000002048.parquet begins after block 2112, {}, got one with {} there; use a new folder",
        first.id(2112),
        other.id(2112)
    );
    let [first, other, later] = [first, other, FakeChain::forked(2112, 2130)].map(node);
    for command in ["audit", "collect"] {
        let output = folder.path().join(command);
        let run = |address: &str, to| run_from("2113", command, address, &output, to);
        run(&first, "2120").code(0);
        let before = results(&output);
        run(&other, "2125").code(2).stdout("").stderr(predicate::str::contains(&mention));
        assert!(results(&output) == before, "{command}");
        // The last blocks may have been reorganised since.
        run(&later, "2125").code(0);
        let file = read(&output.join("epoch-0000002048.parquet"));
        assert_eq!(
            *file["height"].as_primitive::<UInt64Type>().values(),
            Vec::from_iter(2113..=2125)
        );
    }
}

#[test]
fn other_difficulties_are_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = node(FakeChain::new(2130));
    // The ids of blocks do not depend on their difficulties.
    let other = serve(Arc::new(FakeChain::new(2130)), |_, _, mut honest| {
        let headers = honest.get_mut("headers").and_then(|headers| headers.as_array_mut());
        for header in headers.into_iter().flatten().filter(|header| header["height"] == 2110) {
            header["wide_difficulty"] = "0x100000".into();
        }
        Reply::Result(honest)
    });
    let mention = "expected difficulty 1 of block 2110, which epoch-0000000000.parquet has from an earlier run, \
                   got 1048576; use a new folder, or remove that file";
    for command in ["audit", "collect"] {
        let output = folder.path().join(command);
        run(command, &first, &output, "2112").code(0);
        let before = results(&output);
        // Whether an epoch is left to do or none.
        for to in ["2116", "2112"] {
            let refused = run(command, &other, &output, to).code(2).stdout("");
            refused.stderr(predicate::str::contains(mention));
            assert!(results(&output) == before, "nothing is written");
        }
        run(command, &first, &output, "2116").code(0);
    }
    // Some blocks of a file.
    let output = folder.path().join("collect");
    let refused = run_from("2109", "collect", &other, &output, "2110").code(2).stdout("");
    refused.stderr(predicate::str::contains(mention));
    run_from("2111", "collect", &other, &output, "2112").code(2);
    run_from("2113", "collect", &other, &output, "2116").code(0);
}

#[test]
fn the_summary_names_the_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("audit");
    let blocks = FakeChain::new(2130);
    let ids = [2107, 2112, 2116].map(|height| blocks.id(height));
    run("audit", &node(blocks), &output, "2116").code(0);
    let summary = summary(&output);
    let links = |epoch: usize| {
        let links = &summary["epochs"][epoch]["links"];
        [&links["previous"], &links["last"]].map(|id| id.as_str().expect("an id").to_owned())
    };
    assert_eq!(links(0), [ids[0].clone(), ids[1].clone()]);
    assert_eq!(links(1), [ids[1].clone(), ids[2].clone()]);
}

#[test]
fn files_may_have_rows_of_any_chain_and_one_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["chain.parquet", "audit"].map(|name| folder.path().join(name));
    // The last blocks of the first epoch are missing.
    write(&input, &chain(2, 2, 1), 100);
    let run = |network| {
        let arguments = ["audit", "--parquet", text(&input), "--output", text(&output)];
        audit(&[&arguments[..], &["--network", network]].concat()).assert()
    };
    run("mainnet").code(0);
    run("stagenet").code(2).stderr(predicate::str::contains("of stagenet, got that of"));
    fs::remove_dir_all(&output).expect("a folder");
    run("stagenet").code(0);
    run("mainnet").code(2).stderr(predicate::str::contains("of stagenet"));
}
