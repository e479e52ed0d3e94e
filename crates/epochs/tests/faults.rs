//! Storages that fail: each failure is reported as one of reading, not as a fault of the file.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel};
use parquet::file::properties::WriterProperties;
use randomx_epochs::{
    EpochSummary, Error, Folder, Format, Input, Local, Manifest, ROWS, Rows, Storage, StoredFile,
    Task,
};
use randomx_monero::Network;
use tempfile::NamedTempFile;

/// This machine's files, with one read that fails.
#[derive(Clone, Default)]
struct Failing {
    /// The reads before the one that fails.
    before: Arc<AtomicU64>,
}

impl Failing {
    /// Fails a read, after this many others.
    fn fail_after(&self, reads: u64) {
        self.before.store(reads, Ordering::Relaxed);
    }

    /// Whether the read has failed.
    fn has_failed(&self) -> bool {
        self.before.load(Ordering::Relaxed) > u64::MAX / 2
    }
}

impl Storage for Failing {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<OsString>>> {
        Local.list(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        let file = FailingFile { file: File::open(path)?, before: Arc::clone(&self.before) };
        Ok(Arc::new(file))
    }

    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()> {
        Local.put(new, path)
    }
}

struct FailingFile {
    file: File,
    before: Arc<AtomicU64>,
}

impl StoredFile for FailingFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        // Wraps around at the read that fails, so no other one does.
        match self.before.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(io::Error::other("the cable was cut")),
            _ => self.file.read_at(position, buffer),
        }
    }
}

/// Writes rows of one epoch that need no hash: their seed hashes are malformed.
fn write(path: &Path, properties: WriterProperties) {
    const COUNT: u64 = 5000;
    let texts = (0..COUNT).map(|row| format!("{row} {}", "x".repeat(50)));
    let blobs = (0..COUNT).map(|row| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes());
    let columns: [(&str, ArrayRef); 4] = [
        ("height", Arc::new(UInt64Array::from_iter_values((0..COUNT).map(|_| 7)))),
        ("seed_hash", Arc::new(StringArray::from_iter_values(texts))),
        ("hashing_blob", Arc::new(BinaryArray::from_iter_values(blobs))),
        ("difficulty", Arc::new(UInt64Array::from_iter_values((0..COUNT).map(|_| 1)))),
    ];
    let rows = RecordBatch::try_from_iter(columns).expect("a batch");
    let file = File::create(path).expect("a file");
    let writer = ArrowWriter::try_new(file, rows.schema(), Some(properties));
    let mut writer = writer.expect("a writer");
    writer.write(&rows).expect("writable");
    writer.close().expect("writable");
}

fn plan(storage: &dyn Storage, path: &Path) -> Result<Vec<(Task, Rows)>, Error> {
    Input::open(storage, path, Format::Parquet, ROWS)?.plan(storage, None, None)
}

/// Fails each read of some work in turn, and returns the result without a failure.
fn each_failure<T>(storage: &Failing, mut work: impl FnMut() -> Result<T, Error>) -> T {
    for reads in 0..10_000 {
        storage.fail_after(reads);
        let result = work();
        if !storage.has_failed() {
            assert!(reads > 0, "no read");
            return result.expect("a storage without failures");
        }
        match result {
            Err(Error::Read { problem, .. }) => {
                assert!(problem.to_string().contains("the cable was cut"), "{reads}: {problem}");
            }
            Err(other) => panic!("read {reads}: {other}"),
            Ok(_) => panic!("read {reads}: the failure was lost"),
        }
    }
    panic!("the work reads without end");
}

#[test]
fn a_failed_read_is_named_so_while_files_are_measured_and_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.parquet");
    let groups = || WriterProperties::builder().set_max_row_group_row_count(Some(2000));
    let gzip = Compression::GZIP(GzipLevel::default());
    for properties in [groups(), groups().set_dictionary_enabled(false).set_compression(gzip)] {
        write(&path, properties.build());
        let storage = Failing::default();
        let tasks = each_failure(&storage, || plan(&storage, &path));
        assert_eq!(tasks.len(), 1);
        let (task, rows) = &tasks[0];
        let count = each_failure(&storage, || {
            let mut count = 0;
            rows.read(&storage, &mut |batch| {
                count += batch.num_rows() as u64;
                Ok(())
            })?;
            Ok(count)
        });
        assert_eq!(count, task.rows);
    }
}

#[test]
fn a_failed_read_of_a_result_does_not_mean_that_there_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["x.parquet", "audit"].map(|name| folder.path().join(name));
    write(&input, WriterProperties::default());
    let tasks = plan(&Local, &input).expect("a table");
    let (task, rows) = &tasks[0];
    let manifest = Manifest { command: "audit".to_owned(), input: "x".to_owned() };
    let local = Folder::open(Arc::new(Local), &output, &manifest).expect("a new folder");
    let storage = Failing::default();
    storage.fail_after(u64::MAX / 2);
    let join = || {
        storage.fail_after(u64::MAX / 2);
        Folder::join(Arc::new(storage.clone()), &output, &manifest).expect("the folder")
    };
    let remote = join();
    assert_eq!(randomx_epochs::done(&remote, task).expect("an absent file"), None);
    let mut kernel = randomx_epochs::kernel(1, Network::Mainnet, false);
    let read = |take: randomx_epochs::Take<'_>| rows.read(&Local, take);
    randomx_epochs::audit(&local, &mut kernel, task, false, read, |_| true).expect("an audit");
    let done = |found: Option<EpochSummary>| found.map(|summary| summary.counts.invalid);
    let found = each_failure(&storage, || randomx_epochs::done(&remote, task));
    assert_eq!(done(found), Some(task.rows));
    // The rows of a file that was checked are not read again.
    let remote = join();
    let reads = || {
        storage.fail_after(1000);
        assert!(randomx_epochs::done(&remote, task).expect("a file").is_some());
        1000 - storage.before.load(Ordering::Relaxed)
    };
    assert!(reads() > reads());
    let remote = join();
    let left = each_failure(&storage, || {
        randomx_epochs::left(&remote, &[task], |task| task).map(|left| left.len())
    });
    assert_eq!(left, 0);
    let summary = each_failure(&storage, || randomx_epochs::summarize(&remote, [task].into_iter()));
    assert_eq!(summary.counts.blocks, task.rows);
    // Unusable contents are no result.
    let file = output.join(task.epoch.file());
    std::fs::write(&file, b"PAR1 and no more").expect("writable");
    storage.fail_after(u64::MAX / 2);
    assert_eq!(randomx_epochs::done(&remote, task).expect("a readable file"), None);
    std::fs::remove_file(&file).expect("a file");
    let gone = randomx_epochs::summarize(&remote, [task].into_iter());
    assert!(matches!(gone, Err(Error::Gone { .. })));
    // A folder cannot be read as a file.
    std::fs::create_dir(&file).expect("writable");
    let unreadable = randomx_epochs::done(&local, task);
    assert!(matches!(unreadable, Err(Error::Read { .. })), "{unreadable:?}");
}
