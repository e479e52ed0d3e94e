//! Results that are damaged, of earlier versions, or of other blocks than a run asks for.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, UInt64Array, new_null_array};
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use randomx_epochs::{
    Epoch, EpochSummary, Error, Folder, Local, Manifest, State, Take, Task, done, kernel, label,
    left, linked,
};
use randomx_monero::Network;
use tempfile::TempDir;

const SUMMARY: &str = "randomx.summary";
const RULES: &str = "randomx.rules";

/// A folder that is removed with the test.
struct Made {
    parent: TempDir,
}

impl Made {
    fn new() -> Made {
        Made { parent: tempfile::tempdir().expect("a folder") }
    }

    /// Opens the folder anew, without the list of checked files.
    fn open(&self) -> Folder {
        let manifest = Manifest { command: "audit".to_owned(), input: "x".to_owned() };
        let path = self.parent.path().join("audit");
        Folder::open(Arc::new(Local), &path, &manifest).expect("a folder")
    }

    /// Writes the file of a task with these pairs of metadata.
    fn write(&self, task: &Task, pairs: &[(&str, &str)]) {
        let rows = rows(task);
        let mut file = self.open().create(task.epoch.file(), rows.schema()).expect("a file");
        file.write(&rows).expect("writable");
        file.finish(&task.label, pairs).expect("writable");
    }

    fn path(&self, task: &Task) -> PathBuf {
        self.parent.path().join("audit").join(task.epoch.file())
    }

    /// Audits blocks without a proof of work.
    fn audit(&self, task: &Task) -> Result<(), Error> {
        let rows = rows(task);
        let read = |take: Take<'_>| take(&rows);
        let mut kernel = kernel(1, Network::Mainnet, false);
        randomx_epochs::audit(&self.open(), &mut kernel, task, false, read, |_| true)
    }

    fn done(&self, task: &Task) -> Option<EpochSummary> {
        done(&self.open(), task).expect("a readable folder")
    }

    /// Whether a run that begins has to work on a task.
    fn is_left(&self, task: &Task) -> Result<bool, Error> {
        Ok(!left(&self.open(), &[task], |task| task)?.is_empty())
    }
}

/// Blocks from a height on.
fn task(first: u64, rows: u64) -> Task {
    Task { epoch: Epoch::of_height(first), rows, label: label(&(first..=first + rows - 1)) }
}

/// The rows of a task, which need no hash: they have no seed hash.
fn rows(task: &Task) -> RecordBatch {
    let heights = (0..task.rows).map(|row| 5 + row);
    // Bytes that are not compressed.
    let blobs = (1..=u128::from(task.rows)).map(|row| row.wrapping_pow(63).to_be_bytes());
    let columns: [(&str, ArrayRef); 4] = [
        ("height", Arc::new(UInt64Array::from_iter_values(heights))),
        ("seed_hash", new_null_array(&DataType::FixedSizeBinary(32), task.rows as usize)),
        ("hashing_blob", Arc::new(BinaryArray::from_iter_values(blobs))),
        ("difficulty", Arc::new(UInt64Array::from_iter_values((0..task.rows).map(|_| 1)))),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

#[test]
fn a_result_with_any_damage_is_not_done() {
    let made = Made::new();
    let task = task(5, 9);
    made.audit(&task).expect("an audit");
    let path = made.path(&task);
    let whole = fs::read(&path).expect("a file");
    let found = made.done(&task).expect("a result");
    assert_eq!((found.counts.blocks, found.counts.invalid), (9, 9));
    let is_left = |bytes: &[u8], what: &str| {
        // Some systems wait for the disk where a file is emptied first.
        let mut file = File::options().write(true).open(&path).expect("a file");
        file.write_all(bytes).expect("writable");
        file.set_len(bytes.len() as u64).expect("writable");
        assert!(made.is_left(&task).expect("a readable folder"), "{what}");
    };
    for position in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[position] ^= 1 << (position % 8);
        is_left(&bytes, &format!("a bit of byte {position}"));
    }
    let end = whole.len() - 8;
    let length = whole[end..end + 4].try_into().expect("four bytes");
    let footer = end - u32::from_le_bytes(length) as usize;
    is_left(&[b"PAR1", &vec![0; footer - 4][..], &whole[footer..]].concat(), "no pages");
    is_left(&whole[..whole.len() - 1], "a byte less");
    is_left(&[&whole[..], b"x"].concat(), "a byte more");
    is_left(&[&whole[..], &whole[..]].concat(), "twice the file");
    is_left(b"", "nothing");
    is_left(&vec![0; whole.len()], "zeros");
    fs::write(&path, &whole).expect("writable");
    assert_eq!(made.done(&task), Some(found));
    // A damaged result is replaced by the same bytes.
    fs::write(&path, &whole[..500]).expect("writable");
    made.audit(&task).expect("an audit");
    assert!(fs::read(&path).expect("a file") == whole);
}

#[test]
fn damage_far_from_the_end_is_found() {
    let made = Made::new();
    let task = task(5, 200_000);
    made.audit(&task).expect("an audit");
    let path = made.path(&task);
    let mut bytes = fs::read(&path).expect("a file");
    assert!(bytes.len() > 3 << 19, "{} bytes", bytes.len());
    assert!(made.done(&task).is_some());
    bytes[1000] ^= 4;
    fs::write(&path, bytes).expect("writable");
    assert!(made.done(&task).is_none());
}

#[test]
fn damage_after_the_check_is_found_if_it_is_in_the_footer() {
    let made = Made::new();
    let task = task(5, 9);
    made.audit(&task).expect("an audit");
    let folder = made.open();
    let is_done = || done(&folder, &task).expect("a readable folder").is_some();
    assert!(is_done() && is_done());
    let path = made.path(&task);
    let mut bytes = fs::read(&path).expect("a file");
    let key = b"\"work\":\"";
    let digit = bytes.windows(key.len()).position(|part| part == key).expect("a summary");
    bytes[digit + key.len()] ^= 1;
    fs::write(&path, bytes).expect("writable");
    assert!(!is_done());
}

#[test]
fn counts_that_do_not_add_up_are_no_result() {
    let made = Made::new();
    let task = task(5, 9);
    let write = |counts: &str| {
        let name = task.epoch.file();
        let json = format!(r#"{{"file":"{name}",{counts},"work":"8"}}"#);
        made.write(&task, &[(SUMMARY, &json), (RULES, "2")]);
    };
    write(r#""blocks":9,"valid":7,"invalid":1,"without_work":0,"need_update":1"#);
    assert!(made.done(&task).is_some());
    for counts in [
        r#""blocks":9,"valid":8,"invalid":0,"without_work":0,"need_update":0"#,
        r#""blocks":8,"valid":8,"invalid":0,"without_work":0,"need_update":0"#,
        r#""blocks":9,"valid":8,"invalid":0,"without_work":0,"need_update":2"#,
        r#""blocks":9,"valid":18446744073709551615,"invalid":10,"without_work":0,"need_update":0"#,
    ] {
        write(counts);
        assert!(made.is_left(&task).expect("a readable folder"), "{counts}");
    }
}

#[test]
fn a_result_of_other_rules_is_not_done() {
    let made = Made::new();
    let task = task(5, 9);
    made.audit(&task).expect("an audit");
    let whole = fs::read(made.path(&task)).expect("a file");
    let held = made.open().held(&task.epoch.file(), SUMMARY).expect("readable").expect("a file");
    assert_eq!((held.state, held.rules), (State::Intact, Some(2)));
    let summary = held.value.expect("a summary");
    // The blocks of an earlier version of the program stay until all of them are judged again.
    let part = Task { rows: 8, label: label(&(5..=12)), ..task.clone() };
    for rules in [&[(SUMMARY, &*summary)][..], &[(SUMMARY, &summary), (RULES, "1")]] {
        made.write(&task, rules);
        assert_eq!(made.done(&task), None);
        assert!(made.is_left(&task).expect("a readable folder"));
        assert!(matches!(made.is_left(&part), Err(Error::MoreBlocks { .. })));
    }
    made.audit(&task).expect("an audit");
    assert!(fs::read(made.path(&task)).expect("a file") == whole);
}

#[test]
fn a_result_of_later_rules_is_not_replaced() {
    let made = Made::new();
    let same = task(5, 9);
    made.write(&same, &[(SUMMARY, "{}"), (RULES, "3")]);
    let path = made.path(&same);
    let before = fs::read(&path).expect("a file");
    for asked in [task(5, 9), task(5, 10), task(5, 8)] {
        let refused = made.is_left(&asked).expect_err("another release's").to_string();
        let mention = "epoch-0000000000.parquet: expected a result of rules 2 or earlier, got one of rules 3; use \
                       the newer release that wrote it, or a new folder";
        assert!(refused.ends_with(mention), "{refused}");
        let found = done(&made.open(), &asked);
        assert!(matches!(found, Err(Error::LaterRules { got: 3, .. })), "{found:?}");
        // Another process wrote the result while this one hashed.
        assert!(matches!(made.audit(&asked), Err(Error::LaterRules { .. })));
    }
    assert!(fs::read(&path).expect("a file") == before);
    // A damaged one is no result.
    fs::write(&path, &before[..before.len() / 2]).expect("writable");
    made.audit(&same).expect("an audit");
    assert_eq!(made.done(&same).map(|found| found.counts.invalid), Some(9));
}

#[test]
fn the_result_of_another_seed_hash_is_not_done() {
    let made = Made::new();
    let task = |seed| Task { epoch: Epoch::Seed([seed; 32]), rows: 9, label: "all".to_owned() };
    let [first, second] = [task(1), task(2)];
    for task in [&first, &second] {
        made.audit(task).expect("an audit");
    }
    let whole = fs::read(made.path(&second)).expect("a file");
    fs::copy(made.path(&first), made.path(&second)).expect("writable");
    assert!(made.done(&first).is_some());
    assert!(made.is_left(&second).expect("a readable folder"));
    made.audit(&second).expect("an audit");
    assert!(fs::read(made.path(&second)).expect("a file") == whole);
}

#[test]
fn a_result_of_an_earlier_version_is_not_done() {
    let made = Made::new();
    let task = task(5, 9);
    made.audit(&task).expect("an audit");
    let path = made.path(&task);
    let whole = fs::read(&path).expect("a file");
    without_checksum(&path, &rows(&task));
    let held = made.open().held(&task.epoch.file(), SUMMARY).expect("readable").expect("a file");
    assert_eq!((held.state, held.label.as_ref()), (State::Unknown, Some(&task.label)));
    assert!(held.value.is_some_and(|json| json.contains("\"invalid\":9")));
    assert!(made.is_left(&task).expect("a readable folder"));
    // Its blocks are not replaced by fewer, either.
    let part = Task { rows: 8, label: label(&(5..=12)), ..task.clone() };
    assert!(matches!(made.is_left(&part), Err(Error::MoreBlocks { .. })));
    made.audit(&task).expect("an audit");
    assert!(fs::read(&path).expect("a file") == whole);
}

/// Writes a file with the same pairs of metadata, except the checksum.
fn without_checksum(path: &Path, rows: &RecordBatch) {
    let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("a table");
    let pairs = reader.metadata().file_metadata().key_value_metadata().expect("pairs");
    let mut pairs: Vec<KeyValue> = pairs.clone();
    pairs.retain(|pair| pair.key.starts_with("randomx.") && pair.key != "randomx.sha256");
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, rows.schema(), None).expect("a writer");
    writer.write(rows).expect("writable");
    pairs.into_iter().for_each(|pair| writer.append_key_value_metadata(pair));
    writer.close().expect("writable");
}

#[test]
fn a_result_is_not_replaced_by_one_of_fewer_blocks() {
    let made = Made::new();
    let held = task(2200, 100);
    made.audit(&held).expect("an audit");
    let before = fs::read(made.path(&held)).expect("a file");
    for fewer in [task(2200, 99), task(2201, 99), task(2210, 10), task(2113, 100), task(2299, 2)] {
        let refused = made.is_left(&fewer).expect_err("a loss").to_string();
        let mention = format!(
            "epoch-0000002048.parquet: expected the result of {} or of fewer, got that of blocks 2200 to 2299; \
             choose a range with all of these blocks or with none, or use a new folder",
            fewer.label
        );
        assert!(refused.ends_with(&mention), "{refused}");
        // Another process wrote the result while this one hashed.
        assert!(matches!(made.audit(&fewer), Err(Error::MoreBlocks { .. })));
        assert!(made.done(&fewer).is_none());
    }
    assert!(fs::read(made.path(&held)).expect("a file") == before);
    // Damage that leaves the label and the number of rows whole, and damage of the label: blocks 2200 to 2399.
    let path = made.path(&held);
    let at = before.windows(4).position(|part| part == b"2299").expect("a label");
    for (position, is_kept) in [(10, true), (at + 1, false)] {
        let mut bytes = before.clone();
        bytes[position] ^= 1;
        fs::write(&path, &bytes).expect("writable");
        let refused = made.is_left(&task(2200, 99));
        assert_eq!(matches!(refused, Err(Error::MoreBlocks { .. })), is_kept, "{refused:?}");
        assert!(made.is_left(&held).expect("a readable folder"));
    }
    fs::write(&path, &before).expect("writable");
    // A wider range in which the input has no other rows.
    let same = Task { rows: 100, ..task(2250, 10) };
    assert_eq!(made.done(&same).map(|found| found.counts.blocks), Some(100));
    let more = task(2200, 101);
    assert!(made.is_left(&more).expect("a readable folder"));
    made.audit(&more).expect("an audit");
    assert!(made.done(&more).is_some());
}

#[test]
fn rows_that_are_no_blocks_are_not_linked() {
    let made = Made::new();
    let task = task(5, 9);
    made.audit(&task).expect("an audit");
    let folder = made.open();
    assert_eq!(linked(&folder, &task.epoch.file(), 9).expect("readable"), None);
    assert_eq!(linked(&folder, "absent.parquet", 9).expect("readable"), None);
}

#[test]
fn a_file_of_too_many_rows_is_not_read() {
    let made = Made::new();
    let folder = made.open();
    let count = 1_200_000;
    let columns: [(&str, ArrayRef); 2] = [
        ("height", Arc::new(UInt64Array::from_iter_values((0..count).map(|_| 1)))),
        ("hashing_blob", new_null_array(&DataType::Binary, count as usize)),
    ];
    let rows = RecordBatch::try_from_iter(columns).expect("a batch");
    let file = File::create(folder.path("x.parquet")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, rows.schema(), None).expect("a writer");
    writer.write(&rows).expect("writable");
    writer.close().expect("writable");
    assert_eq!(linked(&folder, "x.parquet", 9).expect("readable"), None);
}

#[test]
fn an_empty_manifest_is_none() {
    let made = Made::new();
    let task = task(5, 9);
    let folder = made.parent.path().join("audit");
    fs::create_dir(&folder).expect("a folder");
    let manifest = folder.join("run.json");
    fs::write(&manifest, "").expect("writable");
    made.audit(&task).expect("an audit");
    assert!(fs::read_to_string(&manifest).expect("a file").contains("\"command\": \"audit\""));
    // Results without a manifest may be those of another run.
    fs::write(&manifest, "").expect("writable");
    let other = Manifest { command: "audit".to_owned(), input: "y".to_owned() };
    let refused = Folder::open(Arc::new(Local), &folder, &other).err();
    assert!(matches!(refused, Some(Error::OtherFiles { .. })), "{refused:?}");
}

#[test]
fn a_result_with_a_long_footer_is_done() {
    let made = Made::new();
    let task = task(5, 9);
    // The footer has this name in the schema, in the row group, and in Arrow's schema.
    let name = "x".repeat(6 << 20);
    let rows = rows(&task);
    let schema = rows.schema();
    let columns = schema.fields().iter().map(|field| field.name().as_str());
    let columns = columns.chain([name.as_str()]).zip(rows.columns().iter().chain([rows.column(0)]));
    let columns = columns.map(|(name, values)| (name, Arc::clone(values), true));
    let rows = RecordBatch::try_from_iter_with_nullable(columns).expect("a batch");
    let read = |take: Take<'_>| take(&rows);
    let mut kernel = kernel(1, Network::Mainnet, false);
    randomx_epochs::audit(&made.open(), &mut kernel, &task, false, read, |_| true)
        .expect("an audit");
    let bytes = fs::read(made.path(&task)).expect("a file");
    let length = bytes[bytes.len() - 8..bytes.len() - 4].try_into().expect("four bytes");
    assert!(u32::from_le_bytes(length) > 16 << 20);
    assert_eq!(made.done(&task).map(|found| found.counts.invalid), Some(9));
    assert!(!made.is_left(&task).expect("a readable folder"));
}
