//! Parquet files as input.

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use predicates::prelude::*;
use serde_json::json;

use crate::made::{batch, chain, expected, write, write_rows};
use crate::{audit, read, results, summary, text, verdicts};

#[test]
fn every_row_is_hashed_once_whatever_the_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    let blocks = chain(4, 6, 2);
    let expected = expected(&blocks);
    let input = folder.path().join("chain.parquet");
    write(&input, &blocks, 5);
    let run = |output: &str, more: &[&str]| {
        let output = folder.path().join(output);
        let arguments = ["audit", "--parquet", text(&input), "--output", text(&output)];
        audit(&[&arguments[..], more].concat()).assert().code(1);
        results(&output)
    };
    let found = run("a", &[]);
    assert_eq!(found, run("b", &["--threads", "1", "--memory", "336M"]));
    assert_eq!(found, run("c", &["--threads", "3", "--memory", "4G"]));
    let mut numbers = Vec::new();
    for (epoch, blocks) in expected.chunks(6).enumerate() {
        let path = folder.path().join(format!("a/epoch-{:010}.parquet", 2048 * epoch));
        let result = read(&path);
        numbers.extend(result["number"].as_primitive::<UInt64Type>().values().to_vec());
        let hashes = result["pow_hash"].as_fixed_size_binary();
        assert_eq!(hashes.len(), 6);
        for (row, ((hash, valid), verdict)) in blocks.iter().zip(verdicts(&path)).enumerate() {
            assert_eq!(hashes.value(row), hash);
            let reason = (!valid).then(|| "the hash does not meet difficulty 2".to_owned());
            assert_eq!(verdict, (Some(*valid), reason));
        }
    }
    assert_eq!(numbers, (0..24).collect::<Vec<u64>>());
    let valid = expected.iter().filter(|(_, valid)| *valid).count();
    assert!((1..24).contains(&valid), "a difficulty of 2 refuses some");
    let summary = summary(&folder.path().join("a"));
    assert_eq!(summary["blocks"], 24);
    assert_eq!(summary["valid"], valid);
    assert_eq!(summary["invalid"], 24 - valid);
    assert_eq!(summary["without_work"], 0);
    assert_eq!(summary["work"], json!((2 * valid).to_string()));
    let evidence: Vec<_> = summary["epochs"]
        .as_array()
        .expect("epochs")
        .iter()
        .flat_map(|epoch| epoch["evidence"].as_array().cloned().unwrap_or_default())
        .collect();
    let invalid = || blocks.iter().zip(&expected).filter(|(_, (_, valid))| !valid);
    assert_eq!(evidence.len(), invalid().count());
    for (found, (block, (hash, _))) in evidence.iter().zip(invalid()) {
        assert_eq!(found["height"], json!(block.height.to_string()));
        assert_eq!(found["seed_hash"], json!(hex::encode(block.seed_hash)));
        assert_eq!(found["hashing_blob"], json!(hex::encode(&block.hashing_blob)));
        assert_eq!(found["difficulty"], "2");
        assert_eq!(found["pow_hash"], json!(hex::encode(hash)));
    }
}

#[test]
fn a_second_run_does_nothing_and_a_longer_range_only_what_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let blocks = chain(3, 4, 1);
    fs::create_dir(folder.path().join("chain")).expect("a folder");
    // The rows of the second epoch are in both files. Some systems write names in capitals.
    write(&folder.path().join("chain/a.parquet"), &blocks[..6], 100);
    write(&folder.path().join("chain/B.PARQUET"), &blocks[6..], 100);
    let (input, output) = (folder.path().join("chain"), folder.path().join("audit"));
    let run = |to: &str| {
        let arguments = ["audit", "--parquet", text(&input), "--output", text(&output)];
        let run = audit(&[&arguments[..], &["--from", "2", "--to", to]].concat()).assert().code(0);
        let stdout = String::from_utf8(run.get_output().stdout.clone()).expect("text");
        let name = |epoch: u64| output.join(format!("epoch-{:010}.parquet", 2048 * epoch));
        let written = [0, 1, 2]
            .map(|epoch| fs::metadata(name(epoch)).and_then(|metadata| metadata.modified()).ok());
        (stdout, written)
    };
    let (stdout, first) = run("2114");
    let counts = ["epochs        2", "blocks        5", "valid         5", "invalid       0"];
    assert_eq!(stdout.lines().take(4).collect::<Vec<_>>(), counts);
    assert!(first[2].is_none());
    assert_eq!(run("2114").1, first);
    let (stdout, second) = run("9999");
    assert!(stdout.starts_with("epochs        3\nblocks        11\n"), "{stdout}");
    assert_eq!(second[0], first[0]);
    assert!(second[1] > first[1] && second[2].is_some());
}

#[test]
fn files_of_a_folder_have_the_same_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["chain", "audit"].map(|name| folder.path().join(name));
    fs::create_dir(&input).expect("a folder");
    let blocks = chain(1, 4, 1);
    write(&input.join("a.parquet"), &blocks[..2], 10);
    let rows = batch(&blocks[2..]);
    let run = |rows: &RecordBatch| {
        write_rows(&input.join("b.parquet"), rows);
        audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert()
    };
    let text_rows = {
        let mut columns: Vec<(&str, ArrayRef)> = vec![("height", Arc::clone(rows.column(0)))];
        columns.push(("seed_hash", Arc::new(StringArray::from_iter_values(["", ""]))));
        RecordBatch::try_from_iter(columns).expect("a batch")
    };
    for (rows, column, here) in [
        (
            rows.project(&[0, 1, 3, 2, 4]).expect("columns"),
            "difficulty",
            r#"here "hashing_blob" of type Binary, got "difficulty" of type Decimal128(38, 0)"#,
        ),
        (
            rows.project(&[0, 1, 2, 3]).expect("columns"),
            "number",
            r#"here "number" of type UInt64, got none"#,
        ),
        (
            text_rows,
            "seed_hash",
            r#"here "seed_hash" of type FixedSizeBinary(32), got "seed_hash" of type Utf8"#,
        ),
    ] {
        let mention = format!("b.parquet: column \"{column}\": expected the same columns as in ");
        let refused = run(&rows).code(2).stdout("");
        let here = predicate::str::contains(format!("a.parquet, {here}\n"));
        refused.stderr(predicate::str::contains(mention).and(here));
        assert!(!output.exists(), "nothing is written");
    }
    // The same columns, but nullable in the second file, as most writers declare them.
    let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
    let fields: Vec<Field> = rows.schema().fields().iter().map(nullable).collect();
    let mut columns = rows.columns().to_vec();
    columns[2] = new_null_array(&DataType::Binary, 2);
    run(&RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("a batch")).code(1);
    let result = output.join("epoch-0000000000.parquet");
    let missing = (Some(false), Some("hashing_blob: expected bytes, got null".to_owned()));
    assert_eq!(
        verdicts(&result),
        [(Some(true), None), (Some(true), None), missing.clone(), missing]
    );
    assert_eq!(read(&result)["hashing_blob"].null_count(), 2);
}

#[test]
fn rows_of_tables_are_no_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["x.parquet", "audit"].map(|name| folder.path().join(name));
    let numbers = |value| Arc::new(UInt64Array::from(vec![value])) as ArrayRef;
    let mut columns = vec![("line", numbers(Some(1)), true), ("height", numbers(None), true)];
    // The names of the columns that JSON lines become.
    for name in ["version", "seed_hash", "hashing_blob", "difficulty", "target", "other"] {
        columns.push((name, new_null_array(&DataType::Utf8, 1), true));
    }
    write_rows(&input, &RecordBatch::try_from_iter_with_nullable(columns).expect("a batch"));
    audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert().code(1);
    let missing = (Some(false), Some("hashing_blob: expected bytes, got null".to_owned()));
    assert_eq!(verdicts(&output.join("unknown.parquet")), [missing]);
}
