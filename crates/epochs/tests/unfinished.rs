//! Files that are not finished while a folder is opened.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array, new_null_array};
use arrow_schema::DataType;
use randomx_epochs::{
    Epoch, Error, Folder, Local, Manifest, Storage, StoredFile, Take, Task, label,
};
use randomx_monero::Network;
use tempfile::NamedTempFile;

fn manifest() -> Manifest {
    Manifest { command: "audit".to_owned(), input: "x".to_owned() }
}

fn open(path: &Path) -> Folder {
    Folder::open(Arc::new(Local), path, &manifest()).expect("a folder")
}

#[test]
fn a_file_that_a_task_still_writes_stays() {
    let parent = tempfile::tempdir().expect("a folder");
    let path = parent.path().join("audit");
    let first = open(&path);
    let joined = Folder::join(Arc::new(Local), &path, &manifest()).expect("a folder");
    let numbers = Arc::new(UInt64Array::from_iter_values(0..9)) as ArrayRef;
    let rows = RecordBatch::try_from_iter([("x", numbers)]).expect("a batch");
    let mut file = joined.create("x.parquet".to_owned(), rows.schema()).expect("a file");
    file.write(&rows).expect("writable");
    // The process that started the task ended, and was started again.
    drop(first);
    let left = path.join(".unfinished-left.parquet");
    fs::write(&left, "PAR1").expect("writable");
    let again = open(&path);
    assert!(!left.exists());
    again.remove_unfinished();
    file.finish("task", &[("key", "")]).expect("the file is there");
    let mut names: Vec<_> = fs::read_dir(&path)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["lock", "run.json", "x.parquet"]);
}

/// This machine's files, as those of an object store.
struct Elsewhere;

impl Storage for Elsewhere {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<OsString>>> {
        Local.list(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        Local.open(path)
    }

    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()> {
        // In the same folder, since a file cannot be moved to another disk.
        let near = NamedTempFile::new_in(path.parent().expect("a folder"))?;
        fs::copy(new.path(), near.path())?;
        Local.put(near, path)
    }
}

#[test]
fn a_run_that_has_begun_has_no_summary_of_an_earlier_one() {
    let columns: [(&str, ArrayRef); 4] = [
        ("height", Arc::new(UInt64Array::from_iter_values(5..7))),
        ("seed_hash", new_null_array(&DataType::FixedSizeBinary(32), 2)),
        ("hashing_blob", new_null_array(&DataType::Binary, 2)),
        ("difficulty", new_null_array(&DataType::UInt64, 2)),
    ];
    let rows = RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, true)),
    )
    .expect("a batch");
    let storages: [(Arc<dyn Storage>, Option<&str>); 2] =
        [(Arc::new(Local), None), (Arc::new(Elsewhere), Some(""))];
    for (storage, expected) in storages {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("audit");
        fs::create_dir(&path).expect("a folder");
        let folder = Folder::open(storage, &path, &manifest()).expect("a folder");
        let summary = || fs::read_to_string(path.join("summary.json")).ok();
        let task = Task { epoch: Epoch::of_height(5), rows: 2, label: label(&(5..=6)) };
        let audit = |goes_on: bool| {
            let read = |take: Take<'_>| take(&rows);
            let mut kernel = randomx_epochs::kernel(1, Network::Mainnet, false);
            randomx_epochs::audit(&folder, &mut kernel, &task, false, read, |_| goes_on)
        };
        audit(true).expect("an audit");
        assert_eq!(summary(), None);
        randomx_epochs::summarize(&folder, [&task].into_iter()).expect("a result");
        let whole = summary();
        assert!(whole.is_some_and(|json| json.contains("\"blocks\": 2")));
        let stopped = audit(false);
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        assert_eq!(summary().as_deref(), expected);
        // What is gone stays so.
        audit(true).expect("an audit");
        assert_eq!(summary().as_deref(), expected);
        randomx_epochs::summarize(&folder, [&task].into_iter()).expect("a result");
        assert!(summary().is_some_and(|json| json.contains("\"blocks\": 2")));
    }
}
