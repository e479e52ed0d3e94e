//! The dataset of one key (specification, section 7.3), built in the background.

use std::sync::Arc;

use napi_derive::napi;

use crate::cache::Cache;
use crate::datasets::{self, Building, State};
use crate::error::{Failure, Result};
use crate::owned::Owned;

/// Returns the number of datasets that workers of this process hold with this copy of the add-on, 2080 MiB each.
#[napi(catch_unwind)]
pub fn dataset_count() -> u32 {
    u32::try_from(datasets::count()).unwrap_or(u32::MAX)
}

/// A dataset, as one worker holds it.
#[napi]
pub struct Dataset(Owned<Arc<Building>>);

#[napi]
impl Dataset {
    /// Returns the dataset of a cache. If no worker of the process holds it, `threads` threads begin to
    /// build it, unless workers hold `limit` datasets already: then it returns `null`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a cache that was freed.
    #[napi(catch_unwind)]
    pub fn begin(cache: &Cache, threads: u32, limit: u32) -> Result<Option<Dataset>> {
        let building = datasets::begin(&cache.shared()?, threads as usize, limit as usize);
        Ok(building.map(|building| Dataset(Owned::new(building))))
    }

    /// Returns the part that is computed, 0 to 1.
    ///
    /// # Errors
    ///
    /// `out-of-memory` if it could not be allocated or no thread could start, `worker-failed` if one panicked.
    #[napi(catch_unwind)]
    pub fn progress(&self) -> Result<f64> {
        let building = self.0.lock();
        let Some(building) = &*building else { return Ok(0.0) };
        match &*building.state() {
            State::Building(done) => Ok(done.min(0.999)),
            State::Ready(_) => Ok(1.0),
            State::Failed { code, message } => Err(napi::Error::new(*code, message.clone())),
        }
    }

    /// Lets go of the dataset. Its memory is freed when no worker holds it.
    #[napi(catch_unwind)]
    pub fn free(&mut self) {
        self.0.free();
    }
}

impl Dataset {
    pub(crate) fn ready(&self) -> Result<Arc<randomx::Dataset>> {
        let building = self.0.lock();
        let state = building.as_ref().map(|building| building.state());
        match state.as_deref() {
            Some(State::Ready(dataset)) => Ok(dataset.clone()),
            _ => Err(Failure::invalid_argument(
                "dataset: expected one that is complete, got another".into(),
            )),
        }
    }
}
