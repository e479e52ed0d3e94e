//! The memory of keys: the cache of the last one, and the dataset of fast mode.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use randomx::{Cache, CacheBuilder, Dataset, DatasetBuilder, DatasetError, VmOptions};

use super::{
    failure::Failure,
    leases::{Leases, Starting},
    lock,
    work::Client,
};
use crate::{backend, error::Error};

/// How long an unused cache is kept.
const KEPT: Duration = Duration::from_secs(120);

/// Keeps at most one cache of 256 MiB and one dataset of 2080 MiB. Requests of different kinds that need different
/// caches at the same time hold one each.
#[derive(Default)]
pub(crate) struct Keys {
    cache: Mutex<Option<Held>>,
    pub(crate) leases: Leases,
}

struct Held {
    key: Vec<u8>,
    cache: Arc<Cache>,
    used: Instant,
}

impl Keys {
    /// Returns the cache of a key: the one that is kept, or a new one.
    pub(crate) fn cache(
        &self,
        key: &[u8],
        options: VmOptions,
        client: &Client,
    ) -> Result<Arc<Cache>, Failure> {
        {
            let mut held = lock(&self.cache);
            match &mut *held {
                Some(held) if held.key == key => {
                    held.used = Instant::now();
                    client.progress("cache", 1.0)?;
                    return Ok(Arc::clone(&held.cache));
                }
                // Frees its memory before allocating more.
                other => *other = None,
            }
        }
        let cache = Arc::new(fill(key, options, client)?);
        let held = Held { key: key.to_vec(), cache: Arc::clone(&cache), used: Instant::now() };
        *lock(&self.cache) = Some(held);
        Ok(cache)
    }

    /// Drops what nobody has used for a while.
    pub(crate) fn drop_unused(&self) {
        let mut held = lock(&self.cache);
        if held.as_ref().is_some_and(|held| held.used.elapsed() > KEPT) {
            *held = None;
        }
        drop(held);
        self.leases.drop_unused();
    }

    /// Returns a lease of the dataset of a key, after computing it. One caller at a time may call this.
    /// Waits while other clients need the dataset of another key.
    pub(crate) fn lease(
        &self,
        key: &[u8],
        threads: usize,
        options: VmOptions,
        client: &Client,
    ) -> Result<String, Failure> {
        if let Some(lease) = self.leases.join_or_free(key, client)? {
            return Ok(lease);
        }
        let starting = self.leases.begin(key);
        let computed = self.compute(&starting, threads, options, client);
        self.leases.end(&starting, computed)
    }

    fn compute(
        &self,
        starting: &Starting,
        threads: usize,
        options: VmOptions,
        client: &Client,
    ) -> Result<Dataset, Failure> {
        // Allocates first, so that running out of memory shows early.
        let builder = DatasetBuilder::new(threads).map_err(Error::from)?;
        let cache = self.cache(&starting.key, options, client)?;
        client.check()?;
        let items = backend::items(cache, options)?;
        let mut reported = 0;
        let mut end = None;
        let dataset = builder.fill(&items, |computed| {
            starting.set(computed);
            let mut outcome = client.check();
            // A report for each hundredth is enough.
            if outcome.is_ok() && 100 * (computed - reported) >= Dataset::ITEMS {
                reported = computed;
                outcome = client.progress("dataset", starting.part());
            }
            match outcome {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    end = Some(failure);
                    ControlFlow::Break(())
                }
            }
        });
        match dataset {
            Err(DatasetError::Cancelled) => Err(end.unwrap_or_else(Failure::aborted)),
            Err(problem) => Err(Error::from(problem).into()),
            Ok(dataset) => Ok(dataset),
        }
    }
}

fn fill(key: &[u8], options: VmOptions, client: &Client) -> Result<Cache, Failure> {
    /// Blocks between two reports: some tens of reports a second.
    const STEP: usize = CacheBuilder::BLOCKS / 48;
    client.progress("cache", 0.0)?;
    let mut builder = CacheBuilder::new(key, options.cpu).map_err(Error::from)?;
    while !builder.fill(STEP) {
        client.check()?;
        client.progress("cache", builder.filled() as f64 / CacheBuilder::BLOCKS as f64)?;
    }
    client.progress("cache", 1.0)?;
    Ok(builder.finish())
}
