//! Files that Python code reads and writes.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use randomx_epochs::{Local, Storage, StoredFile};
use tempfile::NamedTempFile;

/// The bytes that are read at a time: each read may be a request over a network.
const AHEAD: u64 = 1 << 20;

/// An object of Python with the methods of the protocol `Storage` in `_native.pyi`.
struct PyStorage(Py<PyAny>);

/// An open file of such an object.
struct PyFile {
    file: Py<PyAny>,
    size: u64,
    /// The bytes that were read last, and their position.
    last: Mutex<(u64, Vec<u8>)>,
}

/// Returns the storage that an argument names: by default, this machine's folders.
pub(crate) fn storage(object: Option<Py<PyAny>>) -> Arc<dyn Storage> {
    match object {
        Some(object) => Arc::new(PyStorage(object)),
        None => Arc::new(Local),
    }
}

impl Storage for PyStorage {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<OsString>>> {
        Python::attach(|py| {
            let names = self.0.call_method1(py, "list", (text(path)?,))?;
            let names: Option<Vec<String>> = names.extract(py)?;
            Ok(names.map(|names| names.into_iter().map(OsString::from).collect()))
        })
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        Python::attach(|py| {
            let file = self.0.call_method1(py, "open", (text(path)?,))?;
            let size = file.call_method0(py, "size")?.extract(py)?;
            Ok(Arc::new(PyFile { file, size, last: Mutex::default() }) as _)
        })
    }

    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()> {
        Python::attach(|py| {
            self.0.call_method1(py, "put", (text(new.path())?, text(path)?))?;
            Ok(())
        })
    }
}

impl StoredFile for PyFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let length = buffer.len() as u64;
        let end = position.checked_add(length).filter(|&end| end <= self.size);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, bytes) = &*last;
        if position < *start || end > start + bytes.len() as u64 {
            // The end of a file is read as a whole, because its parts are read one after another.
            let start = position.min(self.size.saturating_sub(AHEAD));
            let count = (end - start).max(AHEAD).min(self.size - start);
            *last = (start, self.fetch(start, count)?);
        }
        let (start, bytes) = &*last;
        let from = (position - start) as usize;
        buffer.copy_from_slice(&bytes[from..from + buffer.len()]);
        Ok(())
    }
}

impl PyFile {
    fn fetch(&self, position: u64, count: u64) -> io::Result<Vec<u8>> {
        let bytes = Python::attach(|py| -> PyResult<PyBackedBytes> {
            Ok(self.file.call_method1(py, "read_at", (count, position))?.extract(py)?)
        })?;
        if bytes.len() as u64 != count {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes.to_vec())
    }
}

/// Returns a path as text: the paths of other storages are.
fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| {
        let problem = format!("expected a path in UTF-8, got {}", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, problem)
    })
}
