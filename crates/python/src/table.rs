//! The Arrow kernel through the PyCapsule interface.

#![expect(unsafe_code, reason = "takes a stream out of a capsule")]

use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use randomx_arrow::{Kernel, Settings};
use randomx_monero::Network;

use crate::hashing::thread_count;

/// The name of capsules with a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// A table whose rows are verified while they are read. It can be read once.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct VerifiedTable {
    reader: Mutex<Option<Verifying>>,
}

/// Verifies the batches of a stream.
struct Verifying {
    source: ArrowArrayStreamReader,
    kernel: Kernel,
    schema: SchemaRef,
}

/// Returns a table with the columns `pow_hash`, `valid` and `reason` besides its own. `data` is any
/// object with the method `__arrow_c_stream__`.
#[pyfunction]
#[pyo3(signature = (data, *, threads = None, blocks = false))]
pub(crate) fn verify_table(
    data: &Bound<'_, PyAny>,
    threads: Option<usize>,
    blocks: bool,
) -> PyResult<VerifiedTable> {
    // RandomX began later on the main network than on those for tests.
    let blocks = blocks.then_some(Network::Mainnet);
    let settings = Settings { blocks, ..Settings::new(thread_count(threads)?) };
    let source = stream(data)?;
    let schema = Kernel::schema(&source.schema())
        .map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    let reader = Verifying { source, kernel: Kernel::new(settings), schema };
    Ok(VerifiedTable { reader: Mutex::new(Some(reader)) })
}

/// Takes the stream of an object.
fn stream(data: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let method = "__arrow_c_stream__";
    let Some(method) = data.getattr_opt(method)? else {
        let problem = format!("data: expected a table with the method {method}");
        return Err(PyTypeError::new_err(problem));
    };
    let capsule = method.call0()?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name points to a stream, which the one who got the capsule may take;
    // an empty one stays.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    ArrowArrayStreamReader::try_new(stream)
        .map_err(|problem| PyValueError::new_err(format!("data: {problem}")))
}

#[pymethods]
impl VerifiedTable {
    /// Returns the stream of verified rows. The types of its columns cannot be chosen.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| {
            PyValueError::new_err("the table was read already; verify_table verifies it again")
        })?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}

impl Iterator for Verifying {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Verifying { source, kernel, .. } = self;
        let mut next = || {
            let verified = source.next()?.and_then(|batch| {
                let external = |problem| ArrowError::ExternalError(Box::new(problem));
                kernel.verify(&batch).map_err(external)
            });
            Some(verified)
        };
        // The reader may have the lock of the interpreter.
        Python::attach(|py| py.detach(&mut next))
    }
}

impl RecordBatchReader for Verifying {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
