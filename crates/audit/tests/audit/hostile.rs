//! Parquet files whose author wants the program to run out of memory or time, or to give a wrong verdict.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, RecordBatch, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use predicates::prelude::*;

use crate::crafted::{
    BINARY, Column, I32, LIST, STRUCT, add_pairs, binary, columns, dictionary, fields, finish,
    index, int, list, page, page_of_two_types, schema, value, write,
};
use crate::fake_node::{FakeChain, Reply, serve};
use crate::made::{batch, chain};
use crate::memory::{REST, peak};
use crate::{audit, results, summary, text};

/// Audits a file that must be refused.
fn refused(input: &Path, mention: &str) {
    let output = input.with_extension("audit");
    let arguments = ["audit", "--parquet", text(input), "--output", text(&output)];
    let run = audit(&arguments).assert().code(2).stdout("");
    run.stderr(predicate::str::contains(mention));
}

#[test]
fn the_crafted_file_without_a_fault_is_audited() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["x.parquet", "audit"].map(|name| folder.path().join(name));
    write(&input, &columns(), 1);
    audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert().code(0);
    assert_eq!(summary(&output)["valid"], 1);
}

#[test]
fn columns_that_claim_more_than_they_have_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    let case = |change: &dyn Fn(&mut Vec<Column>), rows, mention| {
        let mut columns = columns();
        change(&mut columns);
        write(&input, &columns, rows);
        refused(&input, mention);
    };
    // Two billion numbers in a dictionary of eight bytes.
    let huge_dictionary = |columns: &mut Vec<Column>| {
        columns[2].dictionary = Some(dictionary(i64::from(i32::MAX), &[1; 8]));
        columns[2].pages = page(8, 1, &[1, 2, 0]);
    };
    case(
        &huge_dictionary,
        1,
        "column \"difficulty\": malformed Parquet: expected a byte or more for each",
    );
    // A billion nulls in a few bytes.
    let nulls = |columns: &mut Vec<Column>| {
        for column in columns {
            column.repetition = 1;
            column.pages = page(0, 1 << 30, &[4, 0, 0, 0, 0xfe, 0xff, 0xff, 0x7f, 0]);
            column.values = 1 << 30;
        }
    };
    case(&nulls, 1 << 30, "rows (1,048,576 plus one per byte of the file), got more");
    // Rows that the groups do not count: other rows would be read in their place.
    let rows = |columns: &mut Vec<Column>| {
        for column in columns {
            column.pages = [column.pages.clone(), column.pages.clone()].concat();
        }
    };
    case(
        &rows,
        1,
        "column \"seed_hash\": malformed Parquet: expected 1 values in a row group, got 2",
    );
    // A billion lengths in twenty bytes.
    let lengths = |columns: &mut Vec<Column>| {
        let data = [0x80, 1, 4, 0x80, 0x80, 0x80, 0x80, 4, 0, 0, 0, 0, 0, 0];
        columns[1].pages = page(6, 1, &data);
    };
    case(
        &lengths,
        1,
        "column \"hashing_blob\": unsupported Parquet: expected pages in PLAIN or dictionary encoding, \
         got DELTA_LENGTH_BYTE_ARRAY",
    );
    let beyond = |columns: &mut Vec<Column>| columns[0].pages.truncate(20);
    case(&beyond, 1, "column \"seed_hash\": malformed Parquet: expected pages within their column");
    // The reader would decompress this page from its second byte on.
    let two_types =
        |columns: &mut Vec<Column>| columns[1].pages = page_of_two_types(1, &value(&[9; 76]));
    case(
        &two_types,
        1,
        "column \"hashing_blob\": malformed Parquet: expected a page with the header of one type",
    );
    let repeated = |columns: &mut Vec<Column>| {
        columns[2].repetition = 2;
    };
    case(
        &repeated,
        1,
        "column \"difficulty\": unsupported Parquet: expected values that are not repeated",
    );
}

#[test]
fn pages_in_the_contents_of_another_are_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    let mut columns = columns();
    // Three rows. The second belongs to another epoch.
    let heights = [1, 3000, 2].map(i64::to_le_bytes).concat();
    columns.push(Column { name: "height", pages: page(0, 3, &heights), ..columns[2].clone() });
    for (column, data) in columns.iter_mut().zip([value(&[7; 32]), value(&[9; 76]), vec![1; 8]]) {
        column.pages = page(0, 1, &data).repeat(3);
    }
    // To skip the second row, the reader would look into this page, and find one.
    let [first, hidden] = [9, 6].map(|byte| page(0, 1, &value(&[byte; 76])));
    columns[1].pages = [&first[..], &index(&hidden), &first.repeat(2)].concat();
    columns.iter_mut().for_each(|column| column.values = 3);
    write(&input, &columns, 3);
    refused(
        &input,
        "column \"hashing_blob\": unsupported Parquet: expected pages of data and dictionaries, got a page of type 1",
    );
}

#[test]
fn footers_that_make_the_reader_allocate_or_recurse_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    let start = || b"PAR1".to_vec();
    // Two billion row groups in a few bytes.
    let groups = vec![0xf0 + STRUCT, 0xff, 0xff, 0xff, 0xff, 7];
    finish(&input, start(), &schema(&columns()), 1, groups);
    refused(&input, "unsupported Parquet: expected at most 32768 row groups");
    // Two billion columns in a few bytes.
    let mut footer = schema(&columns());
    footer[0] = fields(&[(4, BINARY, binary(b"schema")), (5, I32, int(i64::from(i32::MAX)))]);
    finish(&input, start(), &footer, 1, list(STRUCT, &[]));
    refused(&input, "malformed Parquet: expected 3 columns in the schema, got 2147483647");
    write_nested(&input);
    refused(&input, "column \"deep\": expected values that are not nested");
    // The reader takes a number for a list, and what follows for something else.
    let mut footer = schema(&columns());
    footer[1] = fields(&[(1, LIST, list(I32, &[])), (3, I32, int(0)), (4, BINARY, binary(b"x"))]);
    finish(&input, start(), &footer, 1, list(STRUCT, &[]));
    refused(&input, "malformed Parquet: expected a field of another type");
    write_long(&input);
    refused(&input, "write fewer row groups, or allow more with --memory");
}

/// Writes a file whose footer has 40 MiB.
fn write_long(path: &Path) {
    let long = fields(&[(3, I32, int(0)), (4, BINARY, binary(&vec![b'x'; 40 << 20]))]);
    finish(path, b"PAR1".to_vec(), &[long], 1, list(STRUCT, &[]));
}

/// Writes a file with 200,000 columns, each in the one before it.
fn write_nested(path: &Path) {
    let nested = fields(&[(3, I32, int(0)), (4, BINARY, binary(b"deep")), (5, I32, int(1))]);
    let mut elements = vec![nested; 200_000];
    elements.insert(0, fields(&[(4, BINARY, binary(b"schema")), (5, I32, int(1))]));
    finish(path, b"PAR1".to_vec(), &elements, 1, list(STRUCT, &[]));
}

#[test]
fn results_that_make_the_reader_recurse_or_panic_are_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = serve(Arc::new(FakeChain::new(2130)), |_, _, honest| Reply::Result(honest));
    for command in ["collect", "audit"] {
        let output = folder.path().join(command);
        let arguments = [command, "--node", &node, "--output", text(&output)];
        let run =
            || audit(&[&arguments[..], &["--from", "2111", "--to", "2112"]].concat()).assert();
        run().code(0);
        let before = results(&output);
        let result = output.join("epoch-0000000000.parquet");
        let pairs = pairs(&result);
        for craft in [write_nested, write_long, write_panicking] {
            // A collection says which blocks a file without their numbers may have had.
            craft(&result);
            if command == "collect" {
                let crafted = fs::read(&result).expect("a file");
                let mention = "epoch-0000000000.parquet is damaged, so it may have had any of blocks 1 to 2112";
                run().code(2).stdout("").stderr(predicate::str::contains(mention));
                assert!(fs::read(&result).expect("a file") == crafted);
            }
            add_pairs(&result, &pairs);
            run().code(0);
            assert!(results(&output) == before);
        }
    }
}

/// The pairs of a result's metadata, as an earlier version wrote them, without a checksum.
fn pairs(path: &Path) -> Vec<(String, String)> {
    let file = SerializedFileReader::new(File::open(path).expect("a file")).expect("a table");
    let pairs = file.metadata().file_metadata().key_value_metadata().expect("pairs");
    let is_kept = |key: &str| key.starts_with("randomx.") && key != "randomx.sha256";
    let pairs = pairs.iter().filter(|pair| is_kept(&pair.key));
    pairs.map(|pair| (pair.key.clone(), pair.value.clone().expect("a value"))).collect()
}

/// Writes a file with a decimal of 38 digits in 20 bytes.
fn write_panicking(path: &Path) {
    let mut columns = columns();
    columns[2].name = "height";
    columns[2].kind = crate::crafted::BYTE_ARRAY;
    columns[2].schema = vec![(6, I32, int(5)), (7, I32, int(0)), (8, I32, int(38))];
    columns[2].pages = page(0, 1, &value(&[1; 20]));
    write(path, &columns, 1);
}

#[test]
fn a_panic_of_the_parquet_reader_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("x.parquet");
    write_panicking(&input);
    refused(&input, "x.parquet: the Parquet library failed on malformed data");
}

/// Writes rows without a proof of work: nulls, and columns of heights and values. Every eighth row belongs
/// to the second epoch.
fn write_values(path: &Path, values: ArrayRef, properties: WriterProperties) {
    let rows = values.len();
    let seed_hash = FixedSizeBinaryArray::new_null(32, rows);
    let heights = (0..rows).map(|row| if row % 8 == 7 { 3000 } else { 1 });
    let columns: [(&str, ArrayRef); 5] = [
        ("height", Arc::new(UInt64Array::from_iter_values(heights))),
        ("seed_hash", Arc::new(seed_hash)),
        ("hashing_blob", Arc::new(BinaryArray::new_null(rows))),
        ("difficulty", Arc::new(UInt64Array::new_null(rows))),
        ("value", values),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("a batch");
    let file = File::create(path).expect("a file");
    let mut writer =
        ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("writable");
    writer.close().expect("writable");
}

#[test]
fn values_take_no_more_memory_than_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let audited = |name: &str, values: ArrayRef, dictionary| {
        let input = folder.path().join(name).with_extension("parquet");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(dictionary);
        write_values(&input, values, properties.build());
        peak(&input, &folder.path().join(name), 400)
    };
    // A page of 100 MiB in a few KiB.
    let page = BinaryArray::from_vec(vec![&vec![0; 100 << 20]]);
    let (code, size) = audited("page", Arc::new(page), false);
    assert_eq!(code, Some(2));
    assert!(size < REST, "{size} MiB");
    // 128 MiB of values: one in the file, or views, which keep pages with values of other epochs.
    let values = || std::iter::repeat_n([3; 64 << 10], 2048);
    let one = BinaryArray::from_iter_values(values());
    let views = BinaryViewArray::from_iter_values(values());
    for (name, values, dictionary) in
        [("one", Arc::new(one) as ArrayRef, true), ("views", Arc::new(views), false)]
    {
        let (code, size) = audited(name, values, dictionary);
        assert_eq!(code, Some(1));
        assert_eq!(summary(&folder.path().join(name))["invalid"], 2048);
        assert!(size < 64 + REST, "{name}: {size} MiB");
    }
    // 256 pages, each with one long value, which belongs to the epoch of a few rows.
    let long = vec![0; 1 << 20];
    let values = (0..1 << 16).map(|row| if row % 256 == 7 { &long[..] } else { &[0] });
    let input = folder.path().join("scattered.parquet");
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(256)
        .set_data_page_size_limit(2 << 20)
        .set_write_batch_size(256);
    write_values(&input, Arc::new(BinaryArray::from_iter_values(values)), properties.build());
    let (code, size) = peak(&input, &folder.path().join("scattered"), 400);
    assert_eq!(code, Some(1));
    assert!(size < 64 + REST, "{size} MiB");
}

#[test]
fn a_file_whose_columns_would_take_too_much_memory_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["x.parquet", "audit"].map(|name| folder.path().join(name));
    let other = |number: usize| {
        let name = Box::leak(format!("column {number}").into_boxed_str());
        Column { name, ..columns()[2].clone() }
    };
    let wide: Vec<Column> = columns().into_iter().chain((0..20_000).map(other)).collect();
    write(&input, &wide, 1);
    let places = ["audit", "--parquet", text(&input), "--output", text(&output)];
    let run = audit(&[&places[..], &["--memory", "3G"]].concat()).assert().code(2).stdout("");
    let mention = "x.parquet: expected rows that take at most 2800 MiB to read, got ";
    run.stderr(predicate::str::contains(mention));
    assert!(!output.exists());
}

#[test]
fn files_with_the_same_footer_are_distinguished() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["x.parquet", "audit"].map(|name| folder.path().join(name));
    let run = |nonce: u8| {
        let mut blocks = chain(1, 1, 1);
        blocks[0].hashing_blob[39] = nonce;
        let properties = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(false);
        let rows = batch(&blocks);
        let file = File::create(&input).expect("a file");
        let mut writer =
            ArrowWriter::try_new(file, rows.schema(), Some(properties.build())).expect("a writer");
        writer.write(&rows).expect("writable");
        writer.close().expect("writable");
        audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert()
    };
    run(1).code(0);
    run(2).code(2).stderr(predicate::str::contains("or that of audit of Parquet files"));
}
