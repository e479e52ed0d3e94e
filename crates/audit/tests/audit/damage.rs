//! Folders whose files are damaged, of earlier versions, or of more blocks than a run asks for.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use assert_cmd::assert::Assert;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use predicates::prelude::*;

use crate::fake_node::{FakeChain, Reply, serve};
use crate::made::{chain, write};
use crate::{audit, results, summary, text};

/// A node, and a folder into which commands write.
struct Run {
    folder: tempfile::TempDir,
    address: String,
}

impl Run {
    fn new() -> Run {
        let address = serve(Arc::new(FakeChain::new(2130)), |_, _, honest| Reply::Result(honest));
        Run { folder: tempfile::tempdir().expect("a folder"), address }
    }

    fn output(&self, command: &str) -> PathBuf {
        self.folder.path().join(command)
    }

    /// Runs a command on the node's blocks. The epoch changes after block 2112.
    fn command(&self, command: &str, from: &str, to: &str) -> Assert {
        let output = self.output(command);
        let node = ["--node", &self.address, "--output", text(&output)];
        audit(&[&[command][..], &node, &["--from", from, "--to", to]].concat()).assert()
    }
}

/// Changes the bytes of a file, from the first page to the footer, to zeros.
fn zero(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let end = bytes.len() - 8;
    let length = bytes[end..end + 4].try_into().expect("four bytes");
    bytes[4..end - u32::from_le_bytes(length) as usize].fill(0);
    fs::write(path, bytes).expect("writable");
}

/// Writes a file as an earlier version did, without a checksum, with some of its rows.
fn without_checksum(path: &Path, choose: impl Fn(RecordBatch) -> Vec<RecordBatch>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("a file"));
    let reader = reader.expect("a table");
    let pairs = reader.metadata().file_metadata().key_value_metadata().cloned().expect("pairs");
    let batch = reader.build().expect("a reader").next().expect("a batch").expect("rows");
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    for rows in choose(batch) {
        writer.write(&rows).expect("writable");
    }
    let is_old = |pair: &KeyValue| pair.key == "randomx.task" || pair.key == "randomx.summary";
    let is_kept = |pair: &KeyValue| is_old(pair) || pair.key == "randomx.links";
    let pairs = pairs.into_iter().filter(is_kept);
    pairs.for_each(|pair| writer.append_key_value_metadata(pair));
    writer.close().expect("writable");
}

#[test]
fn damaged_files_are_written_again() {
    let run = Run::new();
    for command in ["audit", "collect"] {
        let output = run.output(command);
        run.command(command, "2108", "2116").code(0);
        let before = results(&output);
        for name in ["epoch-0000000000.parquet", "epoch-0000002048.parquet"] {
            zero(&output.join(name));
        }
        run.command(command, "2108", "2116").code(0);
        assert!(results(&output) == before);
    }
}

#[test]
fn one_bit_of_a_summary_does_not_change_the_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["chain.parquet", "audit"].map(|name| folder.path().join(name));
    let mut blocks = chain(1, 3, 1);
    blocks[1].difficulty = u64::MAX;
    write(&input, &blocks, 100);
    let run =
        || audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert().code(1);
    let stdout = run().get_output().stdout.clone();
    let before = results(&output);
    let path = output.join("epoch-0000000000.parquet");
    let mut bytes = fs::read(&path).expect("a file");
    let key = b"\"invalid\":1";
    let at = bytes.windows(key.len()).position(|part| part == key).expect("a summary");
    bytes[at + key.len() - 1] ^= 1;
    fs::write(&path, bytes).expect("writable");
    assert_eq!(run().get_output().stdout, stdout);
    assert!(results(&output) == before);
}

#[test]
fn a_result_of_all_blocks_is_not_replaced_by_one_of_some() {
    let run = Run::new();
    let output = run.output("audit");
    run.command("audit", "2108", "2120").code(0);
    let before = results(&output);
    for (from, to, mention) in [
        (
            "2110",
            "2120",
            "expected the result of blocks 2110 to 2112 or of fewer, got that of blocks 2108 to 2112",
        ),
        (
            "2108",
            "2119",
            "expected the result of blocks 2113 to 2119 or of fewer, got that of blocks 2113 to 2120",
        ),
        (
            "2114",
            "2125",
            "expected the result of blocks 2114 to 2125 or of fewer, got that of blocks 2113 to 2120",
        ),
    ] {
        let refused = run.command("audit", from, to).code(2).stdout("");
        refused.stderr(predicate::str::contains(mention));
        assert!(results(&output) == before);
    }
    // Whole epochs of the folder, and more.
    run.command("audit", "2113", "2120").code(0);
    assert_eq!(summary(&output)["blocks"], 8);
    run.command("audit", "2107", "2121").code(0);
    assert_eq!(summary(&output)["blocks"], 15);
}

#[test]
fn a_range_of_a_file_replaces_no_result_of_all_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["chain.parquet", "audit"].map(|name| folder.path().join(name));
    write(&input, &chain(2, 4, 1), 100);
    let run = |range: &[&str]| {
        let arguments = ["audit", "--parquet", text(&input), "--output", text(&output)];
        audit(&[&arguments[..], range].concat()).assert()
    };
    run(&[]).code(0);
    let before = results(&output);
    let mention =
        "expected the result of blocks 2 to 2112 or of fewer, got that of blocks 0 to 2112";
    run(&["--from", "2"]).code(2).stderr(predicate::str::contains(mention));
    assert!(results(&output) == before);
    // The file has no other rows, so these are the same results.
    run(&["--from", "1", "--to", "5000"]).code(0);
    assert!(results(&output) == before);
}

#[test]
fn results_of_a_version_without_checksums_are_computed_again() {
    let run = Run::new();
    let output = run.output("audit");
    run.command("audit", "2108", "2116").code(0);
    let before = results(&output);
    without_checksum(&output.join("epoch-0000000000.parquet"), |rows| vec![rows]);
    run.command("audit", "2108", "2116").code(0);
    assert!(results(&output) == before);
}

#[test]
fn blocks_of_a_version_without_checksums_are_kept_if_they_are_linked() {
    let run = Run::new();
    let output = run.output("collect");
    let path = output.join("epoch-0000000000.parquet");
    run.command("collect", "2108", "2116").code(0);
    let whole = results(&output);
    without_checksum(&path, |rows| vec![rows]);
    let before = results(&output);
    for (from, to) in [("2108", "2116"), ("2109", "2110")] {
        run.command("collect", from, to).code(0);
        assert!(results(&output) == before);
    }
    // Two blocks are missing, and the last one.
    for rows in [[(0, 1), (3, 2)], [(0, 2), (2, 2)]] {
        without_checksum(&path, |batch| {
            rows.map(|(first, count)| batch.slice(first, count)).to_vec()
        });
        run.command("collect", "2108", "2116").code(0);
        assert!(results(&output) == whole);
    }
}

#[test]
fn blocks_of_a_damaged_file_are_read_again_also_outside_the_range() {
    let run = Run::new();
    let output = run.output("collect");
    run.command("collect", "2100", "2120").code(0);
    let before = results(&output);
    zero(&output.join("epoch-0000000000.parquet"));
    run.command("collect", "2108", "2111").code(0);
    assert!(results(&output) == before);
    // Its blocks are unknown now.
    let path = output.join("epoch-0000000000.parquet");
    fs::write(&path, b"PAR1").expect("writable");
    let refused = run.command("collect", "2100", "2120").code(2).stdout("");
    refused.stderr(predicate::str::contains(
        "epoch-0000000000.parquet is damaged, so it may have had any of blocks 1 to 2112, which blocks 2100 to \
         2112 would replace; remove it and run the command again",
    ));
    assert_eq!(fs::read(&path).expect("a file"), b"PAR1");
    fs::remove_file(&path).expect("a file");
    run.command("collect", "2100", "2120").code(0);
    assert!(results(&output) == before);
    fs::write(&path, b"PAR1").expect("writable");
    run.command("collect", "1", "2120").code(0).stdout("2 epochs, blocks 1 to 2120\n");
}

#[test]
fn a_damaged_label_loses_no_blocks() {
    let run = Run::new();
    let output = run.output("collect");
    run.command("collect", "2100", "2120").code(0);
    let before = results(&output);
    let path = output.join("epoch-0000000000.parquet");
    let whole = fs::read(&path).expect("a file");
    let label = b"blocks 2100 to 2112";
    let at = whole.windows(label.len()).position(|part| part == label).expect("a label");
    // One bit makes them 2100 to 2102, or 2000 to 2112.
    for digit in [17, 8] {
        let mut bytes = whole.clone();
        bytes[at + digit] ^= 1;
        fs::write(&path, &bytes).expect("writable");
        let refused = run.command("collect", "2100", "2101").code(2).stdout("");
        let mention =
            "epoch-0000000000.parquet is damaged, so it may have had any of blocks 1 to 2112";
        refused.stderr(predicate::str::contains(mention));
        assert!(fs::read(&path).expect("a file") == bytes);
    }
    // The label is whole, and the damage elsewhere.
    let mut bytes = whole;
    bytes[10] ^= 1;
    fs::write(&path, bytes).expect("writable");
    run.command("collect", "2100", "2101").code(0);
    assert!(results(&output) == before);
}
