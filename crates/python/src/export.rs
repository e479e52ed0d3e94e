//! Exports tables through Arrow's C stream interface.
//!
//! arrow's own exporter needs a reader that makes one call at a time. Code in Python can break this rule: a signal
//! handler may read or close the stream whose rows are being computed, and so may other threads. So the private data
//! of these streams is a number instead of a pointer, and a call keeps its table until it ends.

#![expect(unsafe_code, reason = "defines the functions of a C interface")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::ffi;

use crate::stream::guard;

/// The rows of an exported table. Several threads may call the methods at once, and so may code that the methods run.
pub(crate) trait Source: Send + Sync {
    /// Returns the schema.
    fn schema(&self) -> &SchemaRef;

    /// Returns the next rows, if there are more.
    fn next(&self) -> Result<Option<RecordBatch>, ArrowError>;
}

/// An exported table.
struct Table {
    source: Box<dyn Source>,
    /// The text of the last error, for threads other than the one whose call failed.
    problem: Mutex<Option<CString>>,
}

/// The tables that are not released, by the numbers in their streams. No number is used again.
static TABLES: Mutex<BTreeMap<usize, Arc<Table>>> = Mutex::new(BTreeMap::new());

/// The number of the next stream.
static NEXT: AtomicUsize = AtomicUsize::new(1);

thread_local! {
    /// The text of this thread's last error, and the number of its stream. The reader gets a pointer to it, which stays
    /// valid when another thread releases the stream.
    static LAST: RefCell<(usize, CString)> = RefCell::default();
}

/// Returns a stream of the rows. It can be released at any time, also while it is read.
pub(crate) fn export(source: Box<dyn Source>) -> FFI_ArrowArrayStream {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    lock(&TABLES).insert(number, Arc::new(Table { source, problem: Mutex::default() }));
    FFI_ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: ptr::without_provenance_mut(number),
    }
}

/// The interpreter's lock, for a call by a reader. PyO3 assumes that a thread which has taken the lock keeps it until
/// its code in Rust ends. But that code may run Python, as it does for signals, where readers such as pyarrow release
/// the lock again before they call this module.
struct Interpreter {
    state: ffi::PyGILState_STATE,
}

impl Interpreter {
    /// Takes the lock, unless this thread has it. Fails if the interpreter has ended.
    fn lock() -> Option<Interpreter> {
        // SAFETY: this function may be called at any time.
        let is_running = unsafe { ffi::Py_IsInitialized() } != 0;
        // SAFETY: the interpreter is running. This thread need not have the lock.
        is_running.then(|| Interpreter { state: unsafe { ffi::PyGILState_Ensure() } })
    }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        // SAFETY: the state is that of the last `lock` on this thread: a value stays in the call that made it.
        unsafe { ffi::PyGILState_Release(self.state) };
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the table of a number, unless its stream was released.
fn find(number: usize) -> Option<Arc<Table>> {
    lock(&TABLES).get(&number).map(Arc::clone)
}

/// Returns the number in a stream.
///
/// # Safety
///
/// The pointer is one to a stream of [`export`].
unsafe fn number(stream: *const FFI_ArrowArrayStream) -> usize {
    // SAFETY: the pointer is valid. Nothing writes this field after `export`, so that another thread may have the stream.
    unsafe { (&raw const (*stream).private_data).read() }.addr()
}

unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: a reader passes the stream itself, and a place for a schema.
    unsafe {
        answer(number(stream), out, |source| FFI_ArrowSchema::try_from(source.schema().as_ref()))
    }
}

unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArray,
) -> c_int {
    let next = |source: &dyn Source| {
        let rows = source.next()?;
        let array = |rows| FFI_ArrowArray::new(&StructArray::from(rows).to_data());
        // A released array marks the end.
        Ok(rows.map_or_else(FFI_ArrowArray::empty, array))
    };
    // SAFETY: a reader passes the stream itself, and a place for an array.
    unsafe { answer(number(stream), out, next) }
}

/// Writes a part of a table, and returns the code of success or of an error. Meanwhile the stream may be released, so
/// only its number is used.
///
/// # Safety
///
/// `out` is valid for a write.
unsafe fn answer<T>(
    number: usize,
    out: *mut T,
    get: impl FnOnce(&dyn Source) -> Result<T, ArrowError>,
) -> c_int {
    let Some(table) = find(number) else { return libc::EINVAL };
    // The lock is released before the table. Errors may be exceptions, whose texts and whose ends need the lock.
    let Some(_interpreter) = Interpreter::lock() else { return libc::EINVAL };
    match guard(|| get(table.source.as_ref())) {
        Ok(part) => {
            // SAFETY: this function's caller guarantees it. The place has no value yet that would have to be dropped.
            unsafe { out.write_unaligned(part) };
            0
        }
        Err(problem) => {
            // The text of an exception may have zeros, which a C string cannot have.
            let text = problem.to_string().replace('\0', "\u{fffd}");
            let text = CString::new(text).unwrap_or_default();
            *lock(&table.problem) = Some(text.clone());
            let _ = LAST.try_with(|last| last.replace((number, text)));
            code(&problem)
        }
    }
}

/// Returns the code of an error, as arrow's exporter does.
fn code(problem: &ArrowError) -> c_int {
    match problem {
        ArrowError::NotYetImplemented(_) => libc::ENOSYS,
        ArrowError::MemoryError(_) => libc::ENOMEM,
        ArrowError::IoError(..) => libc::EIO,
        _ => libc::EINVAL,
    }
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: a reader passes the stream itself.
    last_error(unsafe { number(stream) }).unwrap_or(ptr::null())
}

/// Returns the text of a stream's last error: that of this thread's own call, or else of another thread's.
fn last_error(number: usize) -> Option<*const c_char> {
    if LAST.try_with(|last| last.borrow().0 != number).ok()? {
        let text = lock(&find(number)?.problem).clone()?;
        LAST.try_with(|last| last.replace((number, text))).ok()?;
    }
    LAST.try_with(|last| last.borrow().1.as_ptr()).ok()
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: a reader passes the stream itself.
    let number = unsafe { number(stream) };
    // The other functions stay: a call that is under way may use them when it ends.
    // SAFETY: as above.
    unsafe { (&raw mut (*stream).release).write(None) };
    // The lock is released first: the table may own such a stream, too.
    let table = lock(&TABLES).remove(&number);
    drop(table);
}
