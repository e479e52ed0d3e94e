//! `randomx-audit` on made chains.

mod chains;
mod collect;
#[cfg(target_os = "linux")]
mod crafted;
mod daemon;
mod damage;
#[path = "../../../cli/tests/common/fake_node.rs"]
#[allow(dead_code, reason = "these tests use some of it")]
mod fake_node;
mod files;
#[cfg(target_os = "linux")]
mod hints;
#[cfg(target_os = "linux")]
mod hostile;
mod killed;
mod lines;
mod made;
#[cfg(target_os = "linux")]
mod memory;
mod refusals;
mod remote;
mod stated;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

/// The program with these arguments.
fn audit(arguments: &[&str]) -> Command {
    let mut command = cargo_bin_cmd!("randomx-audit");
    command.args(arguments);
    command
}

/// A path as an argument.
fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Reads a Parquet file.
fn read(path: &Path) -> RecordBatch {
    let file = File::open(path).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a table");
    let reader = reader.with_batch_size(1 << 16);
    let batches: Vec<RecordBatch> =
        reader.build().expect("a reader").map(|batch| batch.expect("a batch")).collect();
    assert_eq!(batches.len(), 1, "small files have one batch");
    batches[0].clone()
}

/// The column `valid` of a file, and the column `reason`.
fn verdicts(path: &Path) -> Vec<(Option<bool>, Option<String>)> {
    let batch = read(path);
    let (valid, reasons) = (batch["valid"].as_boolean(), batch["reason"].as_string::<i32>());
    valid.iter().zip(reasons.iter().map(|reason| reason.map(str::to_owned))).collect()
}

/// The summary in a folder.
fn summary(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("summary.json")).expect("a summary"))
        .expect("JSON")
}

/// The results in a folder, by their names.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().expect("a name");
            (name, fs::read(entry.path()).expect("a file"))
        })
        .collect()
}
