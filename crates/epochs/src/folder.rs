//! The folder of results: one file for each epoch, each whole or absent.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::storage::{Chunks, Storage};

/// The name of the file that says what the folder contains.
const MANIFEST: &str = "run.json";

/// The name of the file that is locked.
const LOCK: &str = "lock";

/// The longest manifest that is read.
const MAX_MANIFEST: u64 = 64 << 10;

/// How the names of unfinished files begin.
const UNFINISHED: &str = ".unfinished-";

/// The key, in a file's metadata, of the task that the file is the result of.
const TASK: &str = "randomx.task";

/// The bytes of rows that a file's writer keeps in memory.
const ROW_GROUP: usize = 24 << 20;

/// A folder with the results of one run, which may have been interrupted.
pub struct Folder {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    /// Locked until the folder is dropped, or the process ends.
    _lock: Option<File>,
}

/// What a folder contains: the results of a program for an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program's command.
    pub command: String,
    /// What distinguishes the input from others.
    pub input: String,
}

impl Folder {
    /// Opens the folder of a run, and creates it if it does not exist. Only one process can have a
    /// folder of this machine open. Elsewhere there are no locks.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written, is in use, belongs to another run, or has files and belongs to none.
    pub fn open(
        storage: Arc<dyn Storage>,
        path: &Path,
        manifest: &Manifest,
    ) -> Result<Folder, Error> {
        let lock = if storage.is_local() { Some(lock(path)?) } else { None };
        let folder = Folder { storage, path: path.to_owned(), _lock: lock };
        match folder.manifest()? {
            Some(found) => folder.check(manifest, &found)?,
            None => {
                folder.check_new()?;
                let json = serde_json::to_vec_pretty(manifest).unwrap_or_default();
                folder.replace(MANIFEST, &json)?;
            }
        }
        folder.remove_unfinished();
        Ok(folder)
    }

    /// Opens the folder of a run that another process has open, perhaps on another machine.
    ///
    /// # Errors
    ///
    /// If this machine does not have the folder, or it belongs to another run.
    pub fn join(
        storage: Arc<dyn Storage>,
        path: &Path,
        manifest: &Manifest,
    ) -> Result<Folder, Error> {
        let folder = Folder { storage, path: path.to_owned(), _lock: None };
        let found = folder.manifest()?;
        let found = found.ok_or_else(|| Error::NotShared { folder: path.to_owned() })?;
        folder.check(manifest, &found)?;
        Ok(folder)
    }

    /// Checks that a folder without a manifest has no files either: results could replace them.
    fn check_new(&self) -> Result<(), Error> {
        let names = match self.storage.list(&self.path) {
            Ok(names) => names.unwrap_or_default(),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(problem) => return Err(Error::Read { path: self.path.clone(), problem }),
        };
        let is_own =
            |name: &OsString| name == LOCK || name.to_string_lossy().starts_with(UNFINISHED);
        if names.iter().all(is_own) {
            Ok(())
        } else {
            Err(Error::OtherFiles { folder: self.path.clone() })
        }
    }

    /// Checks that the folder belongs to a run, given the contents of its manifest.
    fn check(&self, manifest: &Manifest, found: &[u8]) -> Result<(), Error> {
        let folder = || self.path.clone();
        match serde_json::from_slice::<Manifest>(found) {
            Ok(found) if found == *manifest => Ok(()),
            Ok(found) => Err(Error::OtherRun {
                folder: folder(),
                expected: format!("{} of {}", manifest.command, manifest.input),
                got: format!("{} of {}", found.command, found.input),
            }),
            Err(problem) => Err(Error::Manifest { folder: folder(), problem: problem.to_string() }),
        }
    }

    /// Reads the manifest, if there is one.
    fn manifest(&self) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path(MANIFEST);
        let read = || -> io::Result<Vec<u8>> {
            let file = Chunks::open(self.storage.as_ref(), &path)?;
            let mut bytes = Vec::new();
            file.part(0..file.size.min(MAX_MANIFEST)).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(problem) => Err(Error::Read { path: path.clone(), problem }),
        }
    }

    /// Removes the files that processes had not finished when they ended.
    pub fn remove_unfinished(&self) {
        if !self.storage.is_local() {
            return;
        }
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                // A file that stays takes space and does no other harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Returns the value of a key in the metadata of a task's result, or `None` if the task is not done:
    /// there is no file, or one that is not its result.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub fn done(&self, file: &str, task: &str, key: &str) -> Result<Option<String>, Error> {
        self.find(file, |opened| {
            let reader = SerializedFileReader::new(opened).ok()?;
            let metadata = reader.metadata().file_metadata().key_value_metadata()?;
            let value = |key: &str| metadata.iter().find(|pair| pair.key == key)?.value.clone();
            (value(TASK)? == task).then(|| value(key))?
        })
    }

    /// Reads columns of a task's result into `take`. Returns `None` if there is no file, its contents are
    /// unusable, or `take` returns `None`.
    pub(crate) fn read(
        &self,
        file: &str,
        columns: [&str; 2],
        mut take: impl FnMut(&RecordBatch) -> Option<()>,
    ) -> Result<Option<()>, Error> {
        self.find(file, |opened| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(opened).ok()?;
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns);
            let mut rows = builder.with_projection(mask).build().ok()?;
            rows.try_for_each(|batch| take(&batch.ok()?))
        })
    }

    /// Searches a file, if it exists, for what `search` returns.
    fn find<T>(
        &self,
        file: &str,
        search: impl FnOnce(Chunks) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let path = self.path(file);
        let opened = match Chunks::open(self.storage.as_ref(), &path) {
            Ok(opened) => opened,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(Error::Read { path, problem }),
        };
        let found = search(opened.clone());
        match opened.take_failure() {
            Some(problem) => Err(Error::Read { path, problem }),
            None => Ok(found),
        }
    }

    /// Begins the file of a task's result.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn create(&self, file: String, schema: SchemaRef) -> Result<NewFile, Error> {
        let path = self.path(&file);
        let begin = || {
            let new = self.begin(".parquet")?;
            let file = new.as_file().try_clone()?;
            Ok((new, file))
        };
        let (new, file) =
            begin().map_err(|problem| Error::Write { path: path.clone(), problem })?;
        let writer = ArrowWriter::try_new(file, schema, Some(properties()))
            .map_err(|problem| unwritable(&path, problem))?;
        Ok(NewFile { writer, new, storage: Arc::clone(&self.storage), path })
    }

    /// Replaces a small file.
    ///
    /// # Errors
    ///
    /// If it cannot be written. The file stays as it was then.
    pub fn replace(&self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(file);
        let replace = || {
            let mut new = self.begin(".json")?;
            new.write_all(bytes)?;
            self.storage.put(new, &path)
        };
        replace().map_err(|problem| Error::Write { path: path.clone(), problem })
    }

    /// Creates a file under a name of its own: in the folder, or with temporary files if the folder is
    /// elsewhere.
    fn begin(&self, suffix: &str) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED).suffix(suffix);
        #[cfg(unix)]
        builder.permissions(readable());
        if self.storage.is_local() { builder.tempfile_in(&self.path) } else { builder.tempfile() }
    }
}

/// Creates a folder and locks it.
fn lock(path: &Path) -> Result<File, Error> {
    let fail = |problem| Error::Write { path: path.to_owned(), problem };
    fs::create_dir_all(path).map_err(fail)?;
    let mut options = OpenOptions::new();
    let lock = options.create(true).truncate(false).write(true).open(path.join(LOCK));
    let lock = lock.map_err(fail)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { folder: path.to_owned() }),
        Err(TryLockError::Error(problem)) => Err(fail(problem)),
    }
}

/// How files are written: the same rows give the same bytes.
fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("randomx-audit {}", env!("CARGO_PKG_VERSION")))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build()
}

/// The mode of results, from which the system takes what the user's mask forbids.
#[cfg(unix)]
fn readable() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// Tells a failure to write from other errors of the Parquet writer.
fn unwritable(path: &Path, problem: ParquetError) -> Error {
    let path = path.to_owned();
    match problem {
        ParquetError::External(problem) => match problem.downcast() {
            Ok(problem) => Error::Write { path, problem: *problem },
            Err(other) => Error::Parquet { path, problem: ParquetError::External(other) },
        },
        problem => Error::Parquet { path, problem },
    }
}

/// A file that is being written. Unless it is finished, it disappears, at the latest when the folder
/// is opened again.
pub struct NewFile {
    writer: ArrowWriter<File>,
    new: NamedTempFile,
    storage: Arc<dyn Storage>,
    path: PathBuf,
}

impl NewFile {
    /// Appends rows.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let fail = |problem| unwritable(&self.path, problem);
        self.writer.write(batch).map_err(fail)?;
        if self.writer.in_progress_size() > ROW_GROUP {
            self.writer.flush().map_err(fail)?;
        }
        Ok(())
    }

    /// Finishes the file of a task, with a value in its metadata. It appears under its name when the
    /// storage has all of it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(self, task: &str, key: &str, value: String) -> Result<(), Error> {
        let NewFile { mut writer, new, storage, path } = self;
        writer.append_key_value_metadata(KeyValue::new(TASK.to_owned(), task.to_owned()));
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        // `ArrowWriter::into_inner` would report a failure to write as text.
        writer.finish().map_err(|problem| unwritable(&path, problem))?;
        drop(writer);
        storage.put(new, &path).map_err(|problem| Error::Write { path, problem })
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::UInt64Array;
    use arrow_schema::ArrowError;

    use super::*;
    use crate::storage::Local;

    #[test]
    fn failures_to_write_are_told_from_other_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let new = NamedTempFile::new_in(folder.path()).expect("a file");
        // A handle that cannot write.
        let file = File::open(new.path()).expect("a file");
        let column = Arc::new(UInt64Array::from_iter_values(0..9)) as _;
        let rows = RecordBatch::try_from_iter([("x", column)]).expect("a batch");
        let writer = ArrowWriter::try_new(file, rows.schema(), None).expect("a writer");
        let (storage, path) = (Arc::new(Local), folder.path().join("x.parquet"));
        let mut file = NewFile { writer, new, storage, path };
        file.write(&rows).expect("memory");
        let failed = file.finish("task", "key", String::new());
        assert!(matches!(failed, Err(Error::Write { .. })), "{failed:?}");
        let other = unwritable(Path::new("x"), ParquetError::from(ArrowError::DivideByZero));
        assert!(matches!(other, Error::Parquet { .. }), "{other:?}");
    }
}
