//! Tables that come through Arrow's C stream interface.

#![expect(unsafe_code, reason = "calls the functions of a C interface")]

use std::ffi::CStr;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::argument::type_name;

/// The name of capsules with a stream.
pub(crate) const NAME: &CStr = c"arrow_array_stream";

/// The method of tables that returns such a capsule.
const METHOD: &str = "__arrow_c_stream__";

/// The name of capsules with a schema.
pub(crate) const SCHEMA_NAME: &CStr = c"arrow_schema";

/// The rows of a table. Unlike arrow's reader, it refuses nulls in the place of rows, and streams may fail
/// without a message.
pub(crate) struct Stream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl Stream {
    /// Takes the stream of an object.
    pub(crate) fn of(data: &Bound<'_, PyAny>) -> PyResult<Stream> {
        let Some(method) = data.getattr_opt(METHOD)? else {
            let problem = format!("data: expected a table with the method {METHOD}");
            return Err(PyTypeError::new_err(problem));
        };
        let expected = format!("data: expected a capsule arrow_array_stream from {METHOD}");
        let capsule = method.call0()?;
        let Ok(capsule) = capsule.cast::<PyCapsule>() else {
            let kind = type_name(&capsule.get_type());
            return Err(PyTypeError::new_err(format!("{expected}, got {kind}")));
        };
        let Ok(stream) = capsule.pointer_checked(Some(NAME)) else {
            return Err(PyValueError::new_err(format!("{expected}, got one of another name")));
        };
        let stream = stream.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name points to a stream, which the one who got the capsule may take;
        // an empty one stays.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
        guard(|| Stream::open(stream))
            .map_err(|problem| PyValueError::new_err(format!("data: {problem}")))
    }

    fn open(mut stream: FFI_ArrowArrayStream) -> Result<Stream, ArrowError> {
        let Some(get_schema) = stream.get_schema.filter(|_| stream.release.is_some()) else {
            return Err(error("expected a stream, got one that was released"));
        };
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and both are structures of this function.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(failure(&mut stream, code));
        }
        let schema = Arc::new(Schema::try_from(&schema)?);
        Ok(Stream { stream, schema })
    }

    /// Returns the schema.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the next rows, if there are more.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(get_next) = self.stream.get_next else {
            return Err(error("expected a stream, got one without rows"));
        };
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released before it is dropped, and the array is of this function.
        let code = unsafe { get_next(&raw mut self.stream, &raw mut array) };
        if code != 0 {
            return Err(failure(&mut self.stream, code));
        }
        if array.is_released() {
            return Ok(None);
        }
        let kind = DataType::Struct(self.schema.fields().clone());
        // SAFETY: the arrays of a stream have the type in its schema. Nothing here can check their memory, whose length
        // does not pass through the interface: callers of `verify_table` answer for it, as its documentation says. They
        // answer for the lengths of arrays and buffers, and for the last offset of each array, which arrow takes for
        // the length of its bytes. In a slice that is an offset of the middle, which pyarrow does not check in files.
        // The kernel checks keys, views and other offsets against these lengths, and reads texts as bytes. Other
        // columns are passed on unread.
        let rows = StructArray::from(unsafe { from_ffi_and_data_type(array, kind) }?);
        let (count, nulls) = (rows.len(), rows.null_count());
        if nulls > 0 {
            return Err(error(&format!("data: expected no null rows, got {nulls}")));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let (_, columns, _) = rows.into_parts();
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options).map(Some)
    }
}

/// Returns the reason of a failed call. A stream may give none.
fn failure(stream: &mut FFI_ArrowArrayStream, code: i32) -> ArrowError {
    let message = stream.get_last_error.and_then(|get_last_error| {
        // SAFETY: the stream is not released.
        let message = unsafe { get_last_error(stream) };
        // SAFETY: a message ends with a zero, and stays until the next call.
        (!message.is_null()).then(|| unsafe { CStr::from_ptr(message) })
    });
    match message {
        Some(message) => error(&message.to_string_lossy()),
        None => error(&format!("data: the stream failed with code {code} and no message")),
    }
}

/// Runs code of arrow, which panics on some malformed data. A panic must not leave a function that C calls.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    let panicked = |_| Err(error("data: arrow failed on malformed data"));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

pub(crate) fn error(problem: &str) -> ArrowError {
    ArrowError::CDataInterface(problem.to_owned())
}
