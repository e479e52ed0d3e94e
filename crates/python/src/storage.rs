//! Files that Python code reads and writes, and those of this machine.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::path::{MAIN_SEPARATOR, Path};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyException, PyInterruptedError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use randomx_epochs::{Local, Storage, StoredFile};
use tempfile::NamedTempFile;

use crate::signals::Signals;
use crate::slashed::slashed;

/// The bytes that are read at a time: each read may be a request over a network.
const AHEAD: u64 = 1 << 20;

/// The most bytes that are read at a time. The bytes of Python are not in the measured memory of a task.
const PIECE: usize = 4 << 20;

/// Where an audit reads and writes: by default, in this machine's folders.
pub(crate) struct Storages {
    pub(crate) reads: Arc<dyn Storage>,
    pub(crate) writes: Arc<dyn Storage>,
}

impl Storages {
    /// Returns the storages that arguments name.
    pub(crate) fn new(reads: Option<Py<PyAny>>, writes: Option<Py<PyAny>>) -> Storages {
        let storage = |object: Option<Py<PyAny>>| -> Arc<dyn Storage> {
            match object {
                Some(object) => Arc::new(PyStorage { object }),
                None => Arc::new(Folders),
            }
        };
        Storages { reads: storage(reads), writes: storage(writes) }
    }
}

thread_local! {
    /// The innermost call of [`detach`] on this thread. Its work uses storages on this thread only, and a storage may
    /// belong to an audit that another thread made.
    static CALL: RefCell<Option<Rc<Call>>> = const { RefCell::new(None) };
}

/// A call that uses storages. To their users interrupts are failures to read or write, which they may ignore or report
/// as such, so the call keeps the first one.
struct Call {
    signals: Signals,
    interrupt: RefCell<Option<PyErr>>,
}

impl Call {
    fn remember(&self, py: Python<'_>, problem: &PyErr) {
        self.interrupt.borrow_mut().get_or_insert_with(|| problem.clone_ref(py));
    }
}

fn call() -> Option<Rc<Call>> {
    CALL.with_borrow(Option::clone)
}

/// Works without the interpreter's lock.
///
/// # Errors
///
/// An interrupt, such as that of Ctrl-C, that a storage met meanwhile.
pub(crate) fn detach<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    /// Returns this thread to the call before, also after a panic.
    struct End(Option<Rc<Call>>);

    impl Drop for End {
        fn drop(&mut self) {
            CALL.set(self.0.take());
        }
    }

    let call = Rc::new(Call { signals: Signals::new(), interrupt: RefCell::default() });
    // A handler of signals may use an audit inside a call.
    let end = End(CALL.replace(Some(Rc::clone(&call))));
    let result = py.detach(work);
    drop(end);
    match call.interrupt.take() {
        Some(interrupt) => Err(interrupt),
        None => Ok(result),
    }
}

/// Handles signals like [`Signals::handle`], and returns whether the work goes on. If a handler raised an exception,
/// [`detach`] returns it. Any thread may call this.
pub(crate) fn handle_signals() -> bool {
    handle().is_ok()
}

/// See [`Signals::handle`].
fn handle() -> io::Result<()> {
    // The other threads of a call handle no signals.
    let Some(call) = call() else { return Ok(()) };
    call.signals.handle().map_err(|problem| {
        // A handler may raise any exception, which is no failure of a storage.
        Python::attach(|py| call.remember(py, &problem));
        io::Error::other(problem)
    })
}

/// Runs code of Python for a storage, and remembers an error that is no `Exception`.
fn attach<T>(run: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    Python::attach(|py| {
        run(py).map_err(|problem| {
            if !problem.is_instance_of::<PyException>(py)
                && let Some(call) = call()
            {
                call.remember(py, &problem);
            }
            if problem.is_instance_of::<PyInterruptedError>(py) {
                // Rust's loops that read would try again, without end.
                return io::Error::other(problem);
            }
            io::Error::from(problem)
        })
    })
}

/// The folders of this machine. Ctrl-C ends a read.
struct Folders;

impl Storage for Folders {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<OsString>>> {
        Local.list(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        let file = Local.open(path)?;
        Ok(Arc::new(FolderFile { file }))
    }

    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()> {
        Local.put(new, path)
    }

    fn is_local(&self) -> bool {
        true
    }
}

/// An open file of this machine.
struct FolderFile {
    file: Arc<dyn StoredFile>,
}

impl StoredFile for FolderFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        handle()?;
        self.file.read_at(position, buffer)
    }
}

/// An object of Python with the methods of the protocol `_Storage` in `_native.pyi`.
struct PyStorage {
    object: Py<PyAny>,
}

impl Storage for PyStorage {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<OsString>>> {
        let path = address(path)?;
        attach(|py| {
            let names = self.object.call_method1(py, "list", (path,))?;
            let names: Option<Vec<String>> = names.extract(py)?;
            Ok(names.map(|names| names.into_iter().map(OsString::from).collect()))
        })
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        let path = address(path)?;
        attach(|py| {
            let file = self.object.call_method1(py, "open", (path,))?;
            let size = file.call_method0(py, "size")?.extract(py)?;
            Ok(Arc::new(PyFile { file, size, last: Mutex::default() }) as _)
        })
    }

    fn put(&self, new: NamedTempFile, path: &Path) -> io::Result<()> {
        let (source, path) = (text(new.path())?, address(path)?);
        attach(|py| self.object.call_method1(py, "put", (source, path)).map(drop))
    }
}

/// An open file of such an object.
struct PyFile {
    file: Py<PyAny>,
    size: u64,
    /// The bytes that were read last, and their position.
    last: Mutex<(u64, Vec<u8>)>,
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
        if length > AHEAD {
            *last = (0, Vec::new());
            return self.fetch(position, buffer);
        }
        let (start, bytes) = &*last;
        if position < *start || end > start + bytes.len() as u64 {
            // The end of a file is read as a whole, because its parts are read one after another.
            let start = position.min(self.size.saturating_sub(AHEAD));
            let mut bytes = vec![0; AHEAD.min(self.size - start) as usize];
            self.fetch(start, &mut bytes)?;
            *last = (start, bytes);
        }
        let (start, bytes) = &*last;
        let from = (position - start) as usize;
        buffer.copy_from_slice(&bytes[from..from + buffer.len()]);
        Ok(())
    }
}

impl PyFile {
    /// Fills the buffer with the bytes from a position on.
    fn fetch(&self, mut position: u64, buffer: &mut [u8]) -> io::Result<()> {
        for piece in buffer.chunks_mut(PIECE) {
            let is_whole = attach(|py| {
                let bytes = self.file.call_method1(py, "read_at", (piece.len(), position))?;
                let bytes: PyBackedBytes = bytes.extract(py)?;
                let is_whole = bytes.len() == piece.len();
                if is_whole {
                    piece.copy_from_slice(&bytes);
                }
                Ok(is_whole)
            })?;
            if !is_whole {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            position += piece.len() as u64;
        }
        Ok(())
    }
}

/// Returns the path of a file or folder in another storage.
fn address(path: &Path) -> io::Result<Cow<'_, str>> {
    text(path).map(|path| slashed(path, MAIN_SEPARATOR))
}

/// Returns a path as text.
pub(crate) fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| {
        let problem = format!("expected a path in UTF-8, got {}", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, problem)
    })
}
