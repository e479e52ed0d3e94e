//! Files that are not finished while a folder is opened.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use randomx_epochs::{Folder, Local, Manifest};

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
