//! Difficulties as Python's integers.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use randomx_monero::Difficulty;

/// Converts a Python integer.
pub(crate) fn difficulty(number: &Bound<'_, PyInt>) -> PyResult<Difficulty> {
    let digits = number.str()?.to_cow()?.into_owned();
    let refused = |problem: String| PyValueError::new_err(format!("difficulty: {problem}"));
    if digits.starts_with('-') {
        return Err(refused(format!("expected at least 1, got {digits:.80}")));
    }
    digits.parse::<Difficulty>().map_err(|problem| refused(problem.to_string()))
}

/// Converts a difficulty, which may have 256 bits.
pub(crate) fn integer<'py>(
    py: Python<'py>,
    difficulty: &Difficulty,
) -> PyResult<Bound<'py, PyInt>> {
    let number = py.get_type::<PyInt>().call1((difficulty.to_string(),))?;
    Ok(number.cast_into()?)
}
