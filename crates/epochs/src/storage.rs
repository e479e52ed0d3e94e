//! Where files are: in folders of this machine, or elsewhere.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use randomx_files::{flush_folder, folder_of};
use tempfile::NamedTempFile;

/// The bytes that are read at a time from the middle of a file.
const BUFFER: u64 = 1 << 20;

/// A file that can be read from any position.
pub trait StoredFile: Send + Sync {
    /// Returns the number of bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn size(&self) -> io::Result<u64>;

    /// Fills the buffer with the bytes from a position on.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or ends before the buffer does.
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// Where files are.
pub trait Storage: Send + Sync {
    /// Returns the names of all files and subfolders of a folder, or `None` if the path is a file.
    ///
    /// # Errors
    ///
    /// If there is no such path, or it cannot be read.
    fn list(&self, path: &Path) -> io::Result<Option<Vec<OsString>>>;

    /// Opens a file.
    ///
    /// # Errors
    ///
    /// If there is no such file ([`io::ErrorKind::NotFound`]), or it cannot be read.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>>;

    /// Makes a written file appear under a path, in the place of one that is there. All of it appears
    /// at once. An empty file may appear before.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. It has not appeared then, unless only the flush of its folder failed.
    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()>;

    /// Whether folders are those of this machine: they must be created, one process can lock them, and
    /// files are written beside those that they replace.
    fn is_local(&self) -> bool {
        false
    }
}

/// The folders of this machine, also those of file servers.
#[derive(Clone, Copy, Debug)]
pub struct Local;

impl Storage for Local {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<OsString>>> {
        if !fs::metadata(path)?.is_dir() {
            return Ok(None);
        }
        let names = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.file_name()));
        names.collect::<io::Result<_>>().map(Some)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        // Opening a pipe blocks until a writer appears.
        if !fs::metadata(path)?.is_file() {
            let problem = "expected a file, got a folder, a pipe or a device";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(Arc::new(File::open(path)?))
    }

    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()> {
        new.as_file().sync_all()?;
        let file = new.persist(path)?;
        // Windows may release a lock some time after its file is closed.
        let _ = file.unlock();
        flush_folder(folder_of(path))
    }

    fn is_local(&self) -> bool {
        true
    }
}

impl StoredFile for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, position)
    }

    #[cfg(windows)]
    fn read_at(&self, mut position: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            let count = std::os::windows::fs::FileExt::seek_read(self, buffer, position)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            position += count as u64;
            buffer = &mut buffer[count..];
        }
        Ok(())
    }
}

/// Reads a part of a file from its start to its end.
pub(crate) struct Part {
    file: Arc<dyn StoredFile>,
    left: Range<u64>,
}

impl Part {
    /// Reads in pieces of a mebibyte, or of the part's size.
    pub(crate) fn buffered(self) -> BufReader<Part> {
        let size = self.left.end.saturating_sub(self.left.start).clamp(1, BUFFER);
        BufReader::with_capacity(size as usize, self)
    }
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.end.saturating_sub(self.left.start);
        let count = left.min(buffer.len() as u64) as usize;
        if count == 0 {
            return Ok(0);
        }
        self.file.read_at(self.left.start, &mut buffer[..count])?;
        self.left.start += count as u64;
        Ok(count)
    }
}

/// A file that remembers why a read failed.
struct Watched {
    file: Arc<dyn StoredFile>,
    failure: Mutex<Option<io::Error>>,
}

impl StoredFile for Watched {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_at(position, buffer).map_err(|problem| {
            let reported = io::Error::new(problem.kind(), problem.to_string());
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
            reported
        })
    }
}

/// A file as the Parquet reader takes it. The reader reports failures of the storage as text, like faults
/// of the file, so the file remembers the last failure.
#[derive(Clone)]
pub(crate) struct Chunks {
    file: Arc<Watched>,
    pub(crate) size: u64,
}

impl Chunks {
    pub(crate) fn open(storage: &dyn Storage, path: &Path) -> io::Result<Chunks> {
        let file = storage.open(path)?;
        let size = file.size()?;
        Ok(Chunks::new(file, size))
    }

    pub(crate) fn new(file: Arc<dyn StoredFile>, size: u64) -> Chunks {
        Chunks { file: Arc::new(Watched { file, failure: Mutex::default() }), size }
    }

    /// Returns a part of the file.
    pub(crate) fn part(&self, range: Range<u64>) -> Part {
        Part { file: self.file.clone(), left: range }
    }

    /// Fills the buffer with the bytes from a position on.
    pub(crate) fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_at(position, buffer)
    }

    /// Returns the last failure of the storage, once.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.file.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<Part>;

    fn get_read(&self, start: u64) -> Result<BufReader<Part>, ParquetError> {
        Ok(BufReader::new(self.part(start..self.size)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // A malformed file may name any length.
        if start.checked_add(length as u64).is_none_or(|end| end > self.size) {
            let problem = format!("expected {length} bytes from {start} on, got {}", self.size);
            return Err(ParquetError::EOF(problem));
        }
        let mut bytes = vec![0; length];
        self.file.read_at(start, &mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe.parquet");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        for path in [pipe.as_path(), folder.path()] {
            let problem = Local.open(path).err().expect("a refusal");
            assert_eq!(problem.to_string(), "expected a file, got a folder, a pipe or a device");
        }
    }
}
