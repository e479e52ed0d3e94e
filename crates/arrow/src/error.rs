//! Errors that concern a whole batch.

use arrow_schema::{ArrowError, DataType};
use randomx::{CacheError, DatasetError, PoolError};
use thiserror::Error;

/// The reason why a batch cannot be verified.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A column is missing.
    #[error("{name}: expected a column of this name")]
    Missing {
        /// The column's name.
        name: &'static str,
    },
    /// The batch says neither how difficult the work is nor which target it meets.
    #[error("difficulty: expected a column of this name, or one named target")]
    NoRequirement,
    /// A column has a type that does not fit.
    #[error("{name}: expected a column of {expected}, got {got}")]
    Type {
        /// The column's name.
        name: &'static str,
        /// The types that fit.
        expected: &'static str,
        /// The column's type, or that of its dictionary's values.
        got: DataType,
    },
    /// Several columns have the same name.
    #[error("{name}: expected one column of this name, got several")]
    Repeated {
        /// The columns' name.
        name: &'static str,
    },
    /// A column has the name of one that is appended.
    #[error("{name}: expected no column of this name, which the result has")]
    Taken {
        /// The column's name.
        name: &'static str,
    },
    /// There is no memory for a key.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// There is no memory for a dataset.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The threads' VMs cannot be created.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The result cannot be assembled.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}
