//! The folder of results: one file for each epoch, each whole, empty or absent.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use randomx_files::FolderLock;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::checksum::{self, End};
use crate::epoch::Epoch;
use crate::error::Error;
use crate::input::results;
use crate::locks::{create_locked, lock, remove_unlocked};
use crate::new_file::{NewFile, TASK};
use crate::storage::{Chunks, Storage};

/// The name of the file that says what the folder contains.
const MANIFEST: &str = "run.json";

/// The longest manifest that is read.
const MAX_MANIFEST: u64 = 64 << 10;

/// How the names of unfinished files begin.
const UNFINISHED: &str = ".unfinished-";

/// The key, in a file's metadata, of the rules by which the rows were judged.
pub(crate) const RULES: &str = "randomx.rules";

/// A folder with the results of one run, which may have been interrupted.
pub struct Folder {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    /// The files whose checksums were correct, by their names, each with the hash of its end.
    checked: Mutex<HashMap<String, [u8; 32]>>,
    lock: Option<FolderLock>,
}

/// A file of a result in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The label of the task. That of a damaged file may be wrong.
    pub label: Option<String>,
    /// Whether the file is as it was written.
    pub state: State,
    /// The number of the rules by which the rows were judged. Files without verdicts, and those of early versions,
    /// have none.
    pub rules: Option<u32>,
    /// The value that was searched, unless the file is damaged.
    pub value: Option<String>,
    /// The number of rows that the footer of a damaged file names. It may be wrong, too.
    pub rows: Option<u64>,
}

impl Held {
    /// Returns the blocks that the label names, if they are of an epoch. The damage of a damaged file may be in its
    /// label. Then the label names another number of blocks than the footer.
    pub fn blocks(&self, epoch: &Epoch) -> Option<RangeInclusive<u64>> {
        let blocks = epoch.labelled(self.label.as_ref()?)?;
        let is_likely =
            self.state != State::Damaged || self.rows == Some(blocks.end() - blocks.start() + 1);
        is_likely.then_some(blocks)
    }
}

/// Whether a file is as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its bytes have the checksum that it contains.
    Intact,
    /// Its bytes have another checksum.
    Damaged,
    /// It contains no checksum. Earlier versions wrote none.
    Unknown,
}

/// The manifest of a folder: the command and the input whose results it contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program's command.
    pub command: String,
    /// The identifier of the input.
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
        let mut folder = Folder::new(storage, path);
        if folder.storage.is_local() {
            // A refused folder stays as it is, without a lock.
            if path.is_dir() && !path.join(FolderLock::FILE).exists() {
                folder.has(manifest)?;
            }
            folder.lock = Some(lock(path)?);
        }
        if !folder.has(manifest)? {
            let json = serde_json::to_vec_pretty(manifest).unwrap_or_default();
            folder.replace(MANIFEST, &json)?;
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
        let folder = Folder::new(storage, path);
        let found = folder.manifest()?;
        let found = found.ok_or_else(|| Error::NotShared { folder: path.to_owned() })?;
        folder.check(manifest, &found)?;
        Ok(folder)
    }

    fn new(storage: Arc<dyn Storage>, path: &Path) -> Folder {
        Folder { storage, path: path.to_owned(), checked: Mutex::default(), lock: None }
    }

    /// Whether the folder has this run's manifest. Fails for another run's, or for files without one.
    fn has(&self, manifest: &Manifest) -> Result<bool, Error> {
        match self.manifest()? {
            Some(found) => self.check(manifest, &found).map(|()| true),
            None => self.check_new().map(|()| false),
        }
    }

    /// Checks that a folder without a manifest has no files either: results could replace them.
    fn check_new(&self) -> Result<(), Error> {
        let names = match self.storage.list(&self.path) {
            Ok(names) => names.unwrap_or_default(),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(problem) => return Err(Error::Read { path: self.path.clone(), problem }),
        };
        // A manifest here is empty.
        let is_own = |name: &OsString| {
            name == FolderLock::FILE
                || name == MANIFEST
                || name.to_string_lossy().starts_with(UNFINISHED)
        };
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

    /// Reads the manifest, if there is one. An empty file is none. Some object stores show an empty file first. If the
    /// process is killed, it stays empty.
    fn manifest(&self) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path(MANIFEST);
        let read = || -> io::Result<Vec<u8>> {
            let file = Chunks::open(self.storage.as_ref(), &path)?;
            let mut bytes = Vec::new();
            file.part(0..file.size.min(MAX_MANIFEST)).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(problem) => Err(Error::Read { path: path.clone(), problem }),
        }
    }

    /// Removes the files that processes had not finished when they ended. A task of an earlier run may still write one,
    /// which is locked. It stays, unless locks on its file server apply to one machine only.
    pub fn remove_unfinished(&self) {
        if !self.storage.is_local() {
            return;
        }
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                // A file that stays takes space and does no other harm.
                let _ = remove_unlocked(&entry.path());
            }
        }
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Returns what the folder has under the name of a result, with the value of a key in the file's
    /// metadata. Reads all of a file, once.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub fn held(&self, file: &str, key: &str) -> Result<Option<Held>, Error> {
        self.find(file, |opened, path| {
            let fail = |problem| Error::Read { path: path.to_owned(), problem };
            let end = End::read(opened).map_err(fail)?;
            let label = end.text(TASK).map(str::to_owned);
            let state = self.state(file, opened, &end).map_err(fail)?;
            let (value, rows) = match state {
                State::Damaged => (None, results::rows(opened, path)),
                State::Intact | State::Unknown => (results::value(opened, path, key), None),
            };
            let rules = end.text(RULES).and_then(|rules| rules.parse().ok());
            Ok(Some(Held { label, state, rules, value, rows }))
        })
    }

    /// Compares the checksum of a file, unless that was done before.
    fn state(&self, file: &str, opened: &Chunks, end: &End) -> io::Result<State> {
        let hash = end.hash();
        let checked = || self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked().get(file) == Some(&hash) {
            return Ok(State::Intact);
        }
        Ok(match checksum::check(opened, end)? {
            Some(true) => {
                checked().insert(file.to_owned(), hash);
                State::Intact
            }
            Some(false) => State::Damaged,
            None => State::Unknown,
        })
    }

    /// Reads columns of a task's result into `take`. Returns `None` if there is no file, it is damaged, or
    /// `take` returns `None`.
    pub(crate) fn read(
        &self,
        file: &str,
        columns: [&str; 2],
        take: impl FnMut(&RecordBatch) -> Option<()>,
    ) -> Result<Option<()>, Error> {
        self.find(file, |opened, path| results::read(opened, path, columns, take))
    }

    /// Searches a file, if it exists, for what `search` returns.
    fn find<T>(
        &self,
        file: &str,
        search: impl FnOnce(&Chunks, &Path) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let path = self.path(file);
        let opened = match Chunks::open(self.storage.as_ref(), &path) {
            Ok(opened) => opened,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(Error::Read { path, problem }),
        };
        let found = search(&opened, &path);
        match opened.take_failure() {
            Some(problem) => Err(Error::Read { path, problem }),
            None => found,
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
        let new = begin().map_err(|problem| Error::Write { path: path.clone(), problem })?;
        NewFile::new(new, schema, Arc::clone(&self.storage), path)
    }

    /// Replaces a small file.
    ///
    /// # Errors
    ///
    /// If it cannot be written. The file stays as it was then, unless only the flush of its folder failed.
    pub fn replace(&self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(file);
        let replace = || {
            let mut new = self.begin(".json")?;
            new.write_all(bytes)?;
            self.storage.put(new, &path)
        };
        replace().map_err(|problem| Error::Write { path: path.clone(), problem })
    }

    /// Removes a small file, if there is one. In an object store it becomes empty: writers may not have the right to
    /// remove files.
    pub(crate) fn remove(&self, file: &str) -> Result<(), Error> {
        let path = self.path(file);
        if self.storage.is_local() {
            return match fs::remove_file(&path) {
                Err(problem) if problem.kind() != io::ErrorKind::NotFound => {
                    Err(Error::Write { path, problem })
                }
                _ => Ok(()),
            };
        }
        match self.find(file, |opened, _| Ok(Some(opened.size)))? {
            None | Some(0) => Ok(()),
            Some(_) => self.replace(file, b""),
        }
    }

    /// Creates a file under a name of its own: in the folder, or with temporary files if the folder is
    /// elsewhere.
    fn begin(&self, suffix: &str) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED).suffix(suffix);
        #[cfg(unix)]
        builder.permissions(readable());
        if self.storage.is_local() {
            create_locked(|| builder.tempfile_in(&self.path))
        } else {
            builder.tempfile()
        }
    }
}

/// The mode of results, from which the system takes what the user's mask forbids.
#[cfg(unix)]
fn readable() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}
