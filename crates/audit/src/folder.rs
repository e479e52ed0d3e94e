//! The folder of results: one file for each epoch, each whole or absent.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use randomx_client::replace_file;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::Error;

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

/// A folder with the results of one run, which may have been interrupted. Only one process can have
/// it open.
pub(crate) struct Folder {
    path: PathBuf,
    /// Locked until the folder is dropped, or the process ends.
    _lock: File,
}

/// What a folder contains: the results of a program for an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) command: String,
    pub(crate) input: String,
}

impl Folder {
    /// Opens the folder of a run, and creates it if it does not exist.
    pub(crate) fn open(path: &Path, manifest: &Manifest) -> Result<Folder, Error> {
        let fail = |problem| Error::Write { path: path.to_owned(), problem };
        fs::create_dir_all(path).map_err(fail)?;
        let mut options = OpenOptions::new();
        let lock = options.create(true).truncate(false).write(true).open(path.join(LOCK));
        let lock = lock.map_err(fail)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse { folder: path.to_owned() }),
            Err(TryLockError::Error(problem)) => return Err(fail(problem)),
        }
        let folder = Folder { path: path.to_owned(), _lock: lock };
        folder.check(manifest)?;
        folder.remove_unfinished();
        Ok(folder)
    }

    /// Checks that the folder is new, or belongs to the same run.
    fn check(&self, manifest: &Manifest) -> Result<(), Error> {
        let path = self.path.join(MANIFEST);
        let Some(found) = read_limited(&path)? else {
            let json = serde_json::to_vec_pretty(manifest).unwrap_or_default();
            return replace_file(&path, &json).map_err(|problem| Error::Write { path, problem });
        };
        let folder = || self.path.clone();
        match serde_json::from_slice::<Manifest>(&found) {
            Ok(found) if found == *manifest => Ok(()),
            Ok(found) => Err(Error::OtherRun {
                folder: folder(),
                expected: format!("{} of {}", manifest.command, manifest.input),
                got: format!("{} of {}", found.command, found.input),
            }),
            Err(problem) => Err(Error::Manifest { folder: folder(), problem: problem.to_string() }),
        }
    }

    /// Removes the files that a process had not finished when it ended.
    fn remove_unfinished(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let of_small_file = name.contains(".json.") && name.ends_with(".new");
            if name.starts_with(UNFINISHED) || of_small_file {
                // A file that stays takes space and does no other harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Returns the value of a key in the metadata of a task's result, if the task is done.
    pub(crate) fn done(&self, file: &str, task: &str, key: &str) -> Option<String> {
        let opened = File::open(self.path.join(file)).ok()?;
        let reader = SerializedFileReader::new(opened).ok()?;
        let metadata = reader.metadata().file_metadata().key_value_metadata()?;
        let value = |key: &str| metadata.iter().find(|pair| pair.key == key)?.value.clone();
        (value(TASK)? == task).then(|| value(key))?
    }

    /// Begins the file of a task's result.
    pub(crate) fn create(&self, file: String, schema: SchemaRef) -> Result<NewFile, Error> {
        let path = self.path.join(&file);
        let fail = |problem| Error::Write { path: path.clone(), problem };
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED).suffix(".parquet");
        #[cfg(unix)]
        builder.permissions(readable());
        let new = builder.tempfile_in(&self.path).map_err(fail)?;
        let writer = ArrowWriter::try_new(new, schema, Some(properties()))
            .map_err(|problem| Error::Parquet { path: path.clone(), problem })?;
        Ok(NewFile { writer, folder: self.path.clone(), path })
    }

    /// Replaces a small file.
    pub(crate) fn replace(&self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path.join(file);
        replace_file(&path, bytes).map_err(|problem| Error::Write { path, problem })
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

fn read_limited(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let fail = |problem| Error::Read { path: path.to_owned(), problem };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => return Err(fail(problem)),
    };
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, MAX_MANIFEST), &mut bytes).map_err(fail)?;
    Ok(Some(bytes))
}

/// A file that is being written. Unless it is finished, it disappears, at the latest when the folder
/// is opened again.
pub(crate) struct NewFile {
    writer: ArrowWriter<NamedTempFile>,
    folder: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// Appends rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let fail = |problem| Error::Parquet { path: self.path.clone(), problem };
        self.writer.write(batch).map_err(fail)?;
        if self.writer.in_progress_size() > ROW_GROUP {
            self.writer.flush().map_err(fail)?;
        }
        Ok(())
    }

    /// Finishes the file: it appears under its name when the disk has all of it.
    pub(crate) fn finish(mut self, task: &str, key: &str, value: String) -> Result<(), Error> {
        self.writer.append_key_value_metadata(KeyValue::new(TASK.to_owned(), task.to_owned()));
        self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        let new = self
            .writer
            .into_inner()
            .map_err(|problem| Error::Parquet { path: self.path.clone(), problem })?;
        let appear = || {
            new.as_file().sync_all()?;
            new.persist(&self.path)?;
            // Windows opens no folders, so it cannot flush one.
            if cfg!(windows) {
                return Ok(());
            }
            // The rename itself is on the disk once the folder is.
            File::open(&self.folder)?.sync_all()
        };
        appear().map_err(|problem| Error::Write { path: self.path.clone(), problem })
    }
}
