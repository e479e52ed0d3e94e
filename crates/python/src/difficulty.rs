//! Difficulties as Python's integers.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use randomx_monero::{Difficulty, DifficultyError};

use crate::argument::{Argument, index, refused};

impl Argument for Difficulty {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Difficulty> {
        let expected = "1 to 2^256 - 1";
        let number = index(value).map_err(|problem| refused(name, expected, value, problem))?;
        let refused = |problem| refused(name, expected, &number, problem);
        // Python refuses to write integers of thousands of digits.
        let digits = number.str().map_err(refused)?;
        let outside =
            |problem: DifficultyError| refused(PyValueError::new_err(problem.to_string()));
        digits.to_cow()?.parse().map_err(outside)
    }
}

/// Converts a difficulty, which may have 256 bits.
pub(crate) fn integer<'py>(
    py: Python<'py>,
    difficulty: &Difficulty,
) -> PyResult<Bound<'py, PyInt>> {
    let number = py.get_type::<PyInt>().call1((difficulty.to_string(),))?;
    Ok(number.cast_into()?)
}
