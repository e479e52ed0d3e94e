//! The Arrow kernel through the PyCapsule interface.

use std::sync::{Mutex, PoisonError, TryLockError};

use arrow_array::RecordBatch;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use randomx_arrow::{Kernel, Settings};
use randomx_monero::Network;

use crate::argument;
use crate::export::{Source, export};
use crate::hashing::thread_count;
use crate::signals::Signals;
use crate::stream::{self, Stream};

/// The most rows that are verified at a time. Their results are in memory at once.
const MOST_ROWS: usize = 1 << 16;

/// A table whose rows are verified while they are read. It can be read once.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct VerifiedTable {
    schema: SchemaRef,
    reader: Mutex<Option<Verifying>>,
}

/// Verifies the rows of a stream.
struct Verifying {
    schema: SchemaRef,
    /// Locked while rows are verified. Handlers of signals and other threads may call [`Source::next`] meanwhile.
    state: Mutex<State>,
}

/// The state between two batches.
struct State {
    /// Released at its end, or at the first error.
    source: Option<Stream>,
    /// The text of the first error. Without it, a reader that tries again would see the end of the rows.
    failed: Option<String>,
    /// Rows that were read and not yet verified.
    left: Option<RecordBatch>,
    kernel: Kernel,
}

/// Returns a table with the columns `pow_hash`, `valid` and `reason` besides its own. `data` is any
/// object with the method `__arrow_c_stream__`.
#[pyfunction]
#[pyo3(signature = (data, *, threads = None, blocks = false))]
pub(crate) fn verify_table(
    data: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = argument::threads)] threads: Option<u64>,
    #[pyo3(from_py_with = argument::blocks)] blocks: bool,
) -> PyResult<VerifiedTable> {
    // RandomX began later on the main network than on those for tests.
    let blocks = blocks.then_some(Network::Mainnet);
    let settings = Settings { blocks, ..Settings::new(thread_count(threads)?) };
    let source = Stream::of(data)?;
    let schema = Kernel::schema(source.schema())
        .map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    let kernel = Kernel::new(settings);
    let state = State { source: Some(source), failed: None, left: None, kernel };
    let reader = Verifying { schema: SchemaRef::clone(&schema), state: Mutex::new(state) };
    Ok(VerifiedTable { schema, reader: Mutex::new(Some(reader)) })
}

#[pymethods]
impl VerifiedTable {
    /// Returns the schema of the verified rows. Nothing is read for it: DuckDB asks for it before the stream.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref())
            .map_err(|problem| PyValueError::new_err(format!("data: {problem}")))?;
        PyCapsule::new_with_value(py, schema, stream::SCHEMA_NAME)
    }

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
        PyCapsule::new_with_value(py, export(Box::new(reader)), stream::NAME)
    }
}

impl State {
    /// Verifies the next rows, if there are more.
    fn verify(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(source) = &mut self.source else { return Ok(None) };
        let rows = match self.left.take() {
            Some(rows) => rows,
            None => match source.next()? {
                Some(rows) => rows,
                None => return Ok(None),
            },
        };
        let count = rows.num_rows().min(MOST_ROWS);
        let left = rows.num_rows() - count;
        self.left = (left > 0).then(|| rows.slice(count, left));
        let signals = Signals::new();
        let verified = self.kernel.try_verify(&rows.slice(0, count), |_| Ok(signals.handle()?));
        verified.map(Some).map_err(ArrowError::ExternalError)
    }
}

impl Source for Verifying {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next(&self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(problem)) => problem.into_inner(),
            // The thread that verifies may be this one, which would wait for itself.
            Err(TryLockError::WouldBlock) => {
                return Err(stream::error("data: the table is being read already"));
            }
        };
        let state = &mut *state;
        if let Some(problem) = &state.failed {
            return Err(stream::error(&format!("data: an earlier read failed: {problem}")));
        }
        Python::attach(|py| {
            let verified = stream::guard(|| {
                // Rows that take little time call nothing that handles signals.
                py.check_signals().map_err(|problem| ArrowError::ExternalError(problem.into()))?;
                py.detach(|| state.verify())
            });
            state.failed = verified.as_ref().err().map(ToString::to_string);
            if !matches!(verified, Ok(Some(_))) {
                py.detach(|| (state.source, state.left) = (None, None));
            }
            verified
        })
    }
}
