//! The memory that runs take.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use arrow_array::cast::AsArray;
use assert_cmd::cargo::cargo_bin;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use randomx_testing::Running;

use crate::made::{MadeBlock, chain, expected, write};
use crate::{summary, text};

/// The upper bound of a process's memory besides that for hashing, in MiB.
pub(crate) const REST: usize = 64;

/// Audits a file, and returns the exit code and the greatest size of the process, in MiB.
pub(crate) fn peak(input: &Path, output: &Path, memory: usize) -> (Option<i32>, usize) {
    let run = Command::new(cargo_bin!("randomx-audit"))
        .args(["audit", "--parquet", text(input), "--output", text(output), "--threads", "2"])
        .args(["--memory", &format!("{memory}M")])
        .stdout(Stdio::null())
        .spawn();
    let mut run = Running(run.expect("it starts"));
    let mut peak = 0;
    let status = loop {
        let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = size.map_or(peak, |kibibytes: usize| kibibytes >> 10);
        match run.try_wait().expect("a child") {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(10)),
        }
    };
    (status.code(), peak)
}

#[test]
fn the_memory_for_hashing_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("chain.parquet");
    write(&input, &chain(5, 2, 1), 100);
    // One epoch at once, and two.
    for (memory, least) in [(400, 256), (700, 512)] {
        let output = folder.path().join(memory.to_string());
        let (code, peak) = peak(&input, &output, memory);
        assert_eq!(code, Some(0));
        assert!((least..memory + REST).contains(&peak), "{peak} of {memory} MiB");
    }
}

#[test]
#[ignore = "full tests: computes a dataset"]
fn an_epoch_of_many_hashes_gets_a_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("shares.parquet");
    let first = &chain(1, 1, 1)[0];
    let share = |nonce: u32| {
        let mut share = MadeBlock { height: 1 + u64::from(nonce % 7), ..first.clone() };
        // Versions of a byte each, a timestamp of five, and the id of the block before.
        share.hashing_blob[39..43].copy_from_slice(&nonce.to_le_bytes());
        share
    };
    let shares: Vec<MadeBlock> = (0..2600).map(share).collect();
    write(&input, &shares, 1000);
    let fast = folder.path().join("fast");
    let (code, size) = peak(&input, &fast, 2500);
    assert_eq!(code, Some(0));
    assert!((2080..2500 + REST).contains(&size), "{size} MiB");
    assert_eq!(summary(&fast)["valid"], 2600);
    let file = fs::File::open(fast.join("epoch-0000000000.parquet")).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a table");
    let first = reader.build().expect("a reader").next().expect("a batch").expect("rows");
    let hashes = first["pow_hash"].as_fixed_size_binary();
    for (row, (hash, _)) in expected(&shares[..5]).into_iter().enumerate() {
        assert_eq!(hashes.value(row), hash);
    }
}
