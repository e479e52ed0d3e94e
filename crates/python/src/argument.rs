//! Arguments that errors name in their messages. PyO3 names them in notes, which Python 3.10 does not have.

use std::path::PathBuf;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PySequence, PyString, PyType};
use randomx::MAX_THREADS;
use randomx_monero::Hash;

use crate::storage::text;

/// A type of arguments.
pub(crate) trait Argument: Sized {
    /// Converts the argument of a name.
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self>;
}

/// Defines converters for arguments of these names, which `from_py_with` takes.
macro_rules! arguments {
    ($($name:ident),+ $(,)?) => {$(
        pub(crate) fn $name<T: Argument>(value: &Bound<'_, PyAny>) -> PyResult<T> {
            T::convert(stringify!($name), value)
        }
    )+};
}

arguments!(
    allow_incomplete,
    blob,
    block,
    blocks,
    cache,
    cumulative_difficulties,
    data,
    difficulty,
    first,
    fixed_difficulty,
    hash,
    hashes,
    hashing_blob,
    height,
    id,
    input,
    inputs,
    job,
    key,
    last,
    lines,
    now,
    output,
    recent,
    seed_hash,
    seeds,
    start,
    target,
    timestamps,
    work,
);

/// Converts a number of threads, which is checked later.
pub(crate) fn threads(value: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if value.is_none() {
        return Ok(None);
    }
    let refused = |problem| refused("threads", &format!("1 to {MAX_THREADS}"), value, problem);
    value.extract().map(Some).map_err(refused)
}

/// Converts the name of a network, which is checked later.
pub(crate) fn network<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let refused = |problem| refused("network", "str", value, problem);
    let name = value.cast::<PyString>().map_err(|problem| refused(problem.into()))?;
    name.to_str().map_err(refused)
}

/// Converts a version of RandomX, which is checked later.
pub(crate) fn version(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract().map_err(|problem| refused("version", "1 or 2", value, problem))
}

impl Argument for bool {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        value.extract().map_err(|problem| refused(name, "bool", value, problem))
    }
}

impl Argument for u64 {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        value.extract().map_err(|problem| refused(name, "0 to 2^64 - 1", value, problem))
    }
}

impl Argument for u128 {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u128> {
        let number = index(value).and_then(|number| number.extract());
        number.map_err(|problem| refused(name, "0 to 2^128 - 1", value, problem))
    }
}

/// Returns the value of an integer as an `int` itself: a subclass may have other methods.
pub(crate) fn index<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    value.py().import("operator")?.getattr("index")?.call1((value,))
}

impl Argument for Hash {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Hash> {
        let bytes: PyBackedBytes = value
            .extract()
            .map_err(|problem| refused(name, "32 bytes", value, PyErr::from(problem)))?;
        let got = bytes.len();
        let refused = |_| PyValueError::new_err(format!("{name}: expected 32 bytes, got {got}"));
        Hash::try_from(&*bytes).map_err(refused)
    }
}

impl Argument for PyBackedBytes {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
        let refused = |problem| refused(name, "bytes or bytearray", value, PyErr::from(problem));
        value.extract().map_err(refused)
    }
}

/// Jobs for other processes are JSON texts, which contain the paths.
impl Argument for PathBuf {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
        let refused = |problem| refused(name, "a path", value, problem);
        let path: PathBuf = value.extract().map_err(refused)?;
        text(&path).map_err(|problem| PyValueError::new_err(format!("{name}: {problem}")))?;
        Ok(path)
    }
}

impl<T: Argument> Argument for Option<T> {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
        if value.is_none() { Ok(None) } else { T::convert(name, value).map(Some) }
    }
}

impl<T: Argument> Argument for Vec<T> {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
        // A sequence can claim any length, so nothing is allocated for it before an item is there.
        sequence(name, value)?.try_iter()?.map(|item| T::convert(name, &item?)).collect()
    }
}

/// The items of a sequence with a limit, which may be longer.
pub(crate) struct Limited<T, const MOST: usize> {
    /// No items if there are more than the limit.
    pub(crate) items: Vec<T>,
    /// The number of items in the sequence.
    pub(crate) count: usize,
}

impl<T: Argument, const MOST: usize> Argument for Limited<T, MOST> {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Limited<T, MOST>> {
        let sequence = sequence(name, value)?;
        match sequence.len() {
            Ok(count) if count > MOST => return Ok(Limited { items: Vec::new(), count }),
            Err(problem) if !problem.is_instance_of::<PyOverflowError>(value.py()) => {
                return Err(problem);
            }
            // The number may be wrong, or too large for Python, so the items are counted.
            _ => {}
        }
        let mut items = Vec::new();
        for item in sequence.try_iter()? {
            if items.len() == MOST {
                return Ok(Limited { items: Vec::new(), count: MOST + 1 });
            }
            items.push(T::convert(name, &item?)?);
        }
        Ok(Limited { count: items.len(), items })
    }
}

fn sequence<'a, 'py>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PySequence>> {
    value.cast().map_err(|problem| refused(name, "a sequence", value, PyErr::from(problem)))
}

impl<A: Argument, B: Argument> Argument for (A, B) {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<(A, B)> {
        let (first, second): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            value.extract().map_err(|problem| refused(name, "pairs", value, problem))?;
        Ok((A::convert(name, &first)?, B::convert(name, &second)?))
    }
}

/// Names the argument in an error of its conversion. Other errors, such as that of Ctrl-C, stay.
pub(crate) fn refused(
    name: &str,
    expected: &str,
    value: &Bound<'_, PyAny>,
    problem: PyErr,
) -> PyErr {
    let py = value.py();
    if problem.is_instance_of::<PyTypeError>(py) {
        let kind = type_name(&value.get_type());
        PyTypeError::new_err(format!("{name}: expected {expected}, got {kind}"))
    } else if problem.is_instance_of::<PyOverflowError>(py)
        || problem.is_instance_of::<PyValueError>(py)
    {
        // Python refuses to write integers of thousands of digits.
        let got =
            value.str().map_or_else(|_| "a longer number".to_owned(), |text| text.to_string());
        PyValueError::new_err(format!("{name}: expected {expected}, got {got:.80}"))
    } else {
        problem
    }
}

/// Returns the name of a type for an error.
pub(crate) fn type_name(kind: &Bound<'_, PyType>) -> String {
    kind.name().map_or_else(|_| "another type".to_owned(), |name| name.to_string())
}
