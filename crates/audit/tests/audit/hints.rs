//! Parquet files with a schema of Arrow, whose types are those of the writer's table and not of the file.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, FixedSizeBinaryArray, Int32Array, RecordBatch,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowWriter, encode_arrow_schema};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use predicates::prelude::*;

use crate::crafted::{self, I32, int, page};
use crate::made::{MadeBlock, batch, chain};
use crate::{audit, read, results, text, verdicts};

const EPOCH: &str = "epoch-0000000000.parquet";

/// Blocks with a difficulty that every hash meets.
fn blocks() -> Vec<MadeBlock> {
    chain(1, 4, 1)
}

/// Returns blocks as a batch with another column.
fn with(blocks: &[MadeBlock], name: &str, column: ArrayRef) -> RecordBatch {
    let rows = batch(blocks);
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for (field, array) in rows.schema_ref().fields().iter().zip(rows.columns()) {
        if field.name() != name {
            columns.push((field.name(), Arc::clone(array)));
        }
    }
    columns.push((name, column));
    RecordBatch::try_from_iter(columns).expect("a batch")
}

fn dictionary(keys: DataType, values: DataType) -> DataType {
    DataType::Dictionary(Box::new(keys), Box::new(values))
}

/// Writes rows to a file that gives a column another type in its schema of Arrow.
fn write_hinted(path: &Path, rows: &RecordBatch, name: &str, hint: DataType) {
    let hinted = |field: &Arc<Field>| {
        let hint = if field.name() == name { &hint } else { field.data_type() };
        field.as_ref().clone().with_data_type(hint.clone())
    };
    let fields: Vec<Field> = rows.schema_ref().fields().iter().map(hinted).collect();
    let hints = encode_arrow_schema(&Schema::new(fields));
    let hints = KeyValue::new("ARROW:schema".to_owned(), hints);
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![hints])).build();
    let options = ArrowWriterOptions::new().with_properties(properties);
    let file = File::create(path).expect("a file");
    let writer = ArrowWriter::try_new_with_options(
        file,
        rows.schema(),
        options.with_skip_arrow_metadata(true),
    );
    let mut writer = writer.expect("a writer");
    writer.write(rows).expect("writable");
    writer.close().expect("writable");
}

/// Audits a file, and returns the column of this name in the result.
fn audited(input: &Path, name: &str) -> ArrayRef {
    let output = tempfile::tempdir().expect("a folder");
    audit(&["audit", "--parquet", text(input), "--output", text(output.path())]).assert().code(0);
    let result = output.path().join(EPOCH);
    assert_eq!(verdicts(&result), vec![(Some(true), None); blocks().len()]);
    Arc::clone(&read(&result)[name])
}

#[test]
fn columns_that_are_no_text_are_bytes_whatever_their_hint() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![
        b"\x10abc\xf0",
        b"\xff\xfe\xfd",
        b"\x10zz\xe2\x82",
        b"\x10ordinary",
    ]));
    for (hint, expected) in [
        (DataType::Utf8, DataType::Binary),
        (DataType::LargeUtf8, DataType::LargeBinary),
        (DataType::Utf8View, DataType::Binary),
        (dictionary(DataType::Int8, DataType::Utf8), dictionary(DataType::Int8, DataType::Binary)),
        (
            dictionary(DataType::Int8, DataType::LargeUtf8),
            dictionary(DataType::Int8, DataType::LargeBinary),
        ),
        (
            dictionary(DataType::Int8, DataType::Utf8View),
            dictionary(DataType::Int8, DataType::Binary),
        ),
        (
            dictionary(DataType::Int8, dictionary(DataType::Int8, DataType::Utf8)),
            dictionary(DataType::Int8, DataType::Binary),
        ),
    ] {
        write_hinted(&input, &with(&blocks(), "value", Arc::clone(&bytes)), "value", hint.clone());
        let value = audited(&input, "value");
        assert_eq!(value.data_type(), &expected, "{hint}");
    }
    // In a column that the kernel reads, they are a block of these bytes.
    let rows = with(&blocks(), "hashing_blob", Arc::clone(&bytes));
    write_hinted(&input, &rows, "hashing_blob", DataType::Utf8);
    assert_eq!(audited(&input, "hashing_blob").as_ref(), bytes.as_ref());
}

#[test]
fn dictionaries_of_values_of_one_length_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    let rows = batch(&blocks());
    // As pyarrow writes the results of `dictionary_encode`.
    for (name, expected) in [
        ("seed_hash", rows["seed_hash"].data_type().clone()),
        ("difficulty", rows["difficulty"].data_type().clone()),
        ("number", dictionary(DataType::Int32, DataType::UInt64)),
    ] {
        let hint = dictionary(DataType::Int32, rows[name].data_type().clone());
        write_hinted(&input, &rows, name, hint);
        let found = audited(&input, name);
        assert_eq!(found.data_type(), &expected, "{name}");
        if found.data_type() == rows[name].data_type() {
            assert_eq!(&found, &rows[name]);
        }
    }
    write_hinted(&input, &rows, "hashing_blob", dictionary(DataType::Int8, DataType::BinaryView));
    let found = audited(&input, "hashing_blob");
    assert_eq!(found.data_type(), &dictionary(DataType::Int8, DataType::Binary));
}

#[test]
fn dictionaries_of_another_length_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    let blocks = blocks();
    let seeds = FixedSizeBinaryArray::try_from_iter([blocks[0].seed_hash].iter()).expect("a hash");
    let keys = Int32Array::from(vec![0; blocks.len()]);
    let seeds = DictionaryArray::<Int32Type>::new(keys, Arc::new(seeds));
    let rows = with(&blocks, "seed_hash", Arc::new(seeds));
    // The Parquet crate writes a length before each hash, as if they had several.
    let mut writer =
        ArrowWriter::try_new(File::create(&input).expect("a file"), rows.schema(), None)
            .expect("a writer");
    writer.write(&rows).expect("writable");
    writer.close().expect("writable");
    let output = folder.path().join("audit");
    let run = audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert();
    run.code(2).stderr(predicate::str::contains(
        "column \"seed_hash\": malformed Parquet: expected a dictionary of values of 32 bytes, got 36 bytes for 1",
    ));
}

#[test]
fn texts_of_json_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    let run = |value: &[u8], output: &str| {
        let mut columns = crafted::columns();
        let mut json = columns[1].clone();
        // Its converted type is JSON, which the Parquet reader takes for text and does not check.
        (json.name, json.schema) = ("json", vec![(6, I32, int(19))]);
        json.pages = page(0, 1, &crafted::value(value));
        columns.push(json);
        crafted::write(&input, &columns, 1);
        let output = folder.path().join(output);
        (audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert(), output)
    };
    let (valid, output) = run("\"é\"".as_bytes(), "valid");
    valid.code(0);
    let file = results(&output).into_keys().find(|name| name.ends_with(".parquet"));
    let result = read(&output.join(file.expect("a result")));
    assert_eq!(result["json"].as_string::<i32>().value(0), "\"é\"");
    let (malformed, _) = run(b"\"\xf0\x9f\"", "malformed");
    let mention = "x.parquet: column \"json\": Invalid argument error: Invalid UTF8 sequence";
    malformed.code(2).stderr(predicate::str::contains(mention));
}
