//! Inputs of audits: Parquet files and JSON lines.

#[path = "../../../audit/tests/audit/crafted.rs"]
#[allow(dead_code, reason = "the audit's own tests use all of it")]
mod crafted;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use randomx_epochs::{Error, Format, Input, Local, ROWS, Storage, StoredFile};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::{Target, vectors};
use crafted::{BYTE_ARRAY, Column, INT64, columns, dictionary, page, value};

pub(super) const AUDIT_TABLES: Target =
    Target { name: "audit_tables", longest: 4096, quick: 1000, run: tables, seeds: table_seeds };

pub(super) const AUDIT_LINES: Target =
    Target { name: "audit_lines", longest: 2048, quick: 4000, run: lines, seeds: line_seeds };

/// The bytes of an input as its only file.
struct Memory(Arc<Bytes>);

struct Bytes(Vec<u8>);

impl Storage for Memory {
    fn list(&self, _: &Path) -> io::Result<Option<Vec<OsString>>> {
        Ok(None)
    }

    fn open(&self, _: &Path) -> io::Result<Arc<dyn StoredFile>> {
        Ok(Arc::clone(&self.0) as _)
    }

    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()> {
        Local.put(new, path)
    }
}

impl StoredFile for Bytes {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(position).map_err(io::Error::other)?;
        let bytes = self.0.get(start..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Plans an input and reads the rows of each epoch.
fn read(bytes: &[u8], format: Format) -> Result<Vec<RecordBatch>, Error> {
    let storage = Memory(Arc::new(Bytes(bytes.to_vec())));
    let mut input = Input::open(&storage, Path::new("input"), format, ROWS)?;
    let tasks = input.plan(&storage, None, None)?;
    assert_eq!(input.left_out(), 0, "no range was given");
    assert!(input.memory() <= ROWS, "{} bytes", input.memory());
    let mut batches = Vec::new();
    for (task, rows) in tasks {
        let mut count = 0;
        rows.read(&storage, &mut |batch| {
            count += batch.num_rows() as u64;
            batches.push(batch.clone());
            Ok(())
        })?;
        assert_eq!(count, task.rows);
    }
    Ok(batches)
}

fn tables(bytes: &[u8]) -> bool {
    match read(bytes, Format::Parquet) {
        Ok(batches) => {
            assert_eq!(read(bytes, Format::Parquet).ok(), Some(batches), "the same rows again");
            true
        }
        Err(problem) => {
            assert!(!matches!(problem, Error::Changed { .. }), "the file is the same");
            assert!(!problem.to_string().is_empty());
            false
        }
    }
}

fn table_seeds() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("seed.parquet");
    let written = |columns: &[Column], rows| {
        crafted::write(&file, columns, rows);
        fs::read(&file).expect("a file")
    };
    let mut with_height = columns();
    let height = Column { name: "height", ..with_height[2].clone() };
    with_height.push(height);
    let mut with_dictionary = columns();
    with_dictionary[2].dictionary = Some(dictionary(1, &1_i64.to_le_bytes()));
    with_dictionary[2].pages = page(8, 1, &[1, 2, 0]);
    let two = |name, kind, first: &[u8], second: &[u8]| Column {
        name,
        kind,
        pages: page(0, 2, &[first, second].concat()),
        values: 2,
        ..columns()[2].clone()
    };
    let two_rows = [
        two("seed_hash", BYTE_ARRAY, &value(&[7; 32]), &value(&[8; 32])),
        two("hashing_blob", BYTE_ARRAY, &value(&[9; 76]), &value(&[6; 77])),
        two("difficulty", INT64, &1_i64.to_le_bytes(), &9_i64.to_le_bytes()),
    ];
    vec![
        written(&columns(), 1),
        written(&with_height, 1),
        written(&with_dictionary, 1),
        written(&two_rows, 2),
    ]
}

/// Whether a line surely has each field of a proof of work once at most: escapes would hide names.
fn is_plain(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let names = ["height", "version", "seed_hash", "hashing_blob", "difficulty", "target"];
    !text.contains('\\') && names.into_iter().all(|name| text.matches(name).count() < 2)
}

/// Every line becomes a row.
fn lines(bytes: &[u8]) -> bool {
    let batches = match read(bytes, Format::Lines) {
        Ok(batches) => batches,
        Err(Error::NoRows { .. }) => {
            assert!(bytes.is_empty(), "a line has no row");
            return false;
        }
        Err(problem) => panic!("{problem}"),
    };
    let mut found = BTreeMap::new();
    for batch in &batches {
        let column = |name: &str| batch[name].as_primitive::<UInt64Type>();
        let numbers = column("line").iter().map(|number| number.expect("every row has its line"));
        for (number, height) in numbers.zip(column("height")) {
            assert_eq!(found.insert(number, height), None, "a line has one row");
        }
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    assert!(found.keys().copied().eq(1..=lines.len() as u64), "{:?}", found.keys());
    let mut is_any_parsed = false;
    for (line, height) in lines.iter().zip(found.values()) {
        // Numbers that are too large for any type are malformed here alone.
        let Ok(Value::Object(fields)) = serde_json::from_slice(line) else { continue };
        is_any_parsed = true;
        let known = fields.get("height").and_then(Value::as_u64);
        if known.is_some() && is_plain(line) {
            assert_eq!(*height, known);
        }
    }
    is_any_parsed
}

fn line_seeds() -> Vec<Vec<u8>> {
    let blob = hex::encode(&vectors::hashing_blobs()[0]);
    let line = |height: Value, seed: &str, difficulty: Value| {
        json!({
            "height": height, "seed_hash": seed.repeat(32), "hashing_blob": blob,
            "difficulty": difficulty, "version": 1, "pool": "name",
        })
        .to_string()
    };
    let first = line(json!(3_000_000), "0a", json!(716_071_628_829_u64));
    let second = line(json!("3000001"), "0B", json!("7"));
    let third = line(Value::Null, "0a", json!(1));
    vec![
        first.clone().into_bytes(),
        format!("{first}\n{second}\r\n{third}\n").into_bytes(),
        format!("{third}\n\nno JSON\n{first}").into_bytes(),
    ]
}
