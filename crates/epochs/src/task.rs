//! A task of an audit.

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};

use crate::epoch::Epoch;
use crate::error::Error;

/// An epoch to audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The epoch.
    pub epoch: Epoch,
    /// The number of its rows.
    pub rows: u64,
    /// The identifier of the task among those of the same epoch and input.
    pub label: String,
}

/// Takes the rows of a task, batch by batch.
pub type Take<'a> = &'a mut dyn FnMut(&RecordBatch) -> Result<(), Error>;
