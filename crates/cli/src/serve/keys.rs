//! The memory of keys: the cache of the last one, and the dataset of fast mode.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use randomx::{Cache, CacheBuilder, Dataset, DatasetBuilder, DatasetError, VmOptions};

use super::{
    failure::{Code, Failure},
    lock,
    work::Client,
};
use crate::{backend, error::Error};

/// How long an unused cache is kept.
const KEPT: Duration = Duration::from_secs(120);

/// How long an unused dataset is kept. It takes longer to compute. A page that is closed does not free it.
const DATASET_KEPT: Duration = Duration::from_secs(600);

/// How often the state of fast mode is checked while it stops.
const STEP: Duration = Duration::from_millis(10);

/// The longest wait for a dataset to be unused: threads that hash with it finish their batch first.
const FREEING: Duration = Duration::from_secs(20);

/// At most one cache of 256 MiB and one dataset of 2080 MiB.
#[derive(Default)]
pub(crate) struct Keys {
    cache: Mutex<Option<Held>>,
    fast: Mutex<Fast>,
}

struct Held {
    key: Vec<u8>,
    cache: Arc<Cache>,
    used: Instant,
}

/// The state of fast mode.
#[derive(Default)]
enum Fast {
    #[default]
    Off,
    Starting(Arc<Starting>),
    Ready {
        ready: Ready,
        used: Instant,
    },
}

/// A dataset in progress.
struct Starting {
    key: Vec<u8>,
    items: AtomicUsize,
    stopped: AtomicBool,
}

/// A dataset to hash with. `stopped` ends the work that uses it.
#[derive(Clone)]
pub(crate) struct Ready {
    key: Vec<u8>,
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) stopped: Arc<AtomicBool>,
}

/// The state of fast mode as `/api/info` shows it: with the key in hex, and the part of the dataset
/// that is computed.
pub(crate) struct FastInfo {
    pub(crate) state: &'static str,
    pub(crate) key: Option<String>,
    pub(crate) progress: Option<f64>,
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
        self.drop_unused_at(Instant::now());
    }

    fn drop_unused_at(&self, now: Instant) {
        let is_old = |used: Instant, kept: Duration| now.saturating_duration_since(used) > kept;
        let mut held = lock(&self.cache);
        if held.as_ref().is_some_and(|held| is_old(held.used, KEPT)) {
            *held = None;
        }
        let mut fast = lock(&self.fast);
        if let Fast::Ready { ready, used } = &mut *fast {
            // Those who hash hold it too.
            if Arc::strong_count(&ready.dataset) > 1 {
                *used = now;
            } else if is_old(*used, DATASET_KEPT) {
                *fast = Fast::Off;
            }
        }
    }

    /// Returns the dataset of a key, if it is ready.
    pub(crate) fn dataset(&self, key: &[u8]) -> Option<Ready> {
        match &mut *lock(&self.fast) {
            Fast::Ready { ready, used } if ready.key == key => {
                *used = Instant::now();
                Some(ready.clone())
            }
            _ => None,
        }
    }

    /// Computes the dataset of a key.
    pub(crate) fn start(
        &self,
        key: &[u8],
        threads: usize,
        options: VmOptions,
        client: &Client,
    ) -> Result<(), Failure> {
        if self.dataset(key).is_some() {
            return Ok(());
        }
        let starting = Arc::new(Starting {
            key: key.to_vec(),
            items: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        *lock(&self.fast) = Fast::Starting(Arc::clone(&starting));
        let computed = self.compute(&starting, threads, options, client);
        let mut fast = lock(&self.fast);
        match computed {
            Ok(dataset) if !starting.stopped.load(Ordering::Relaxed) => {
                let dataset = Arc::new(dataset);
                let stopped = Arc::new(AtomicBool::new(false));
                let ready = Ready { key: key.to_vec(), dataset, stopped };
                *fast = Fast::Ready { ready, used: Instant::now() };
                Ok(())
            }
            computed => {
                *fast = Fast::Off;
                // Frees its memory before reporting.
                Err(computed.map(drop).err().unwrap_or_else(stopped))
            }
        }
    }

    fn compute(
        &self,
        starting: &Starting,
        threads: usize,
        options: VmOptions,
        client: &Client,
    ) -> Result<Dataset, Failure> {
        let check = || match starting.stopped.load(Ordering::Relaxed) {
            true => Err(stopped()),
            false => client.check(),
        };
        // Allocates first, so that running out of memory shows early.
        let builder = DatasetBuilder::new(threads).map_err(Error::from)?;
        let cache = self.cache(&starting.key, options, client)?;
        check()?;
        let items = backend::items(cache, options)?;
        let mut reported = 0;
        let mut end = None;
        let dataset = builder.fill(&items, |computed| {
            starting.items.store(computed, Ordering::Relaxed);
            let mut outcome = check();
            // A report for each hundredth is enough.
            if outcome.is_ok() && 100 * (computed - reported) >= Dataset::ITEMS {
                reported = computed;
                outcome = client.progress("dataset", part(computed));
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
            Err(DatasetError::Cancelled) => Err(end.unwrap_or_else(stopped)),
            Err(problem) => Err(Error::from(problem).into()),
            Ok(dataset) => Ok(dataset),
        }
    }

    /// Stops fast mode, even while it starts, and waits until its memory is free.
    pub(crate) fn stop(&self) -> Result<(), Failure> {
        let end = Instant::now() + FREEING;
        let mut freed = Weak::new();
        while !self.is_off(&mut freed) {
            if Instant::now() > end {
                let message = "the dataset is still being used; try again";
                return Err(Failure::new(Code::Timeout, message));
            }
            thread::sleep(STEP);
        }
        Ok(())
    }

    /// Continues to stop fast mode; `freed` is the dataset that others may still hash with. Returns
    /// whether fast mode is off.
    fn is_off(&self, freed: &mut Weak<Dataset>) -> bool {
        let mut fast = lock(&self.fast);
        match &*fast {
            Fast::Off => return freed.strong_count() == 0,
            // The thread that computes it holds it too, and drops it when it ends.
            Fast::Starting(starting) if Arc::strong_count(starting) > 1 => {
                starting.stopped.store(true, Ordering::Relaxed);
                return false;
            }
            Fast::Starting(_) => {}
            Fast::Ready { ready, .. } => {
                ready.stopped.store(true, Ordering::Relaxed);
                *freed = Arc::downgrade(&ready.dataset);
            }
        }
        *fast = Fast::Off;
        false
    }

    /// Returns the state of fast mode.
    pub(crate) fn info(&self) -> FastInfo {
        match &*lock(&self.fast) {
            Fast::Off => FastInfo { state: "off", key: None, progress: None },
            Fast::Starting(starting) => FastInfo {
                state: "starting",
                key: Some(hex::encode(&starting.key)),
                progress: Some(part(starting.items.load(Ordering::Relaxed))),
            },
            Fast::Ready { ready, .. } => {
                FastInfo { state: "ready", key: Some(hex::encode(&ready.key)), progress: None }
            }
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

fn part(items: usize) -> f64 {
    items as f64 / Dataset::ITEMS as f64
}

fn stopped() -> Failure {
    Failure::new(Code::Aborted, "fast mode was stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dataset is never written, so the system gives it no memory.
    #[test]
    fn a_dataset_is_freed_when_nobody_has_used_it_for_a_while() {
        let dataset = Arc::new(Dataset::zeroed().expect("2080 MiB"));
        let ready = Ready { key: vec![1], dataset, stopped: Arc::default() };
        let begin = Instant::now();
        let keys = Keys { fast: Mutex::new(Fast::Ready { ready, used: begin }), ..Keys::default() };
        let hashing = keys.dataset(&[1]);
        keys.drop_unused_at(begin + 2 * DATASET_KEPT);
        assert_eq!(keys.info().state, "ready", "somebody hashes with it");
        drop(hashing);
        keys.drop_unused_at(begin + 3 * DATASET_KEPT);
        assert_eq!(keys.info().state, "ready", "it was used until then");
        keys.drop_unused_at(begin + 3 * DATASET_KEPT + Duration::from_secs(1));
        assert_eq!(keys.info().state, "off");
    }
}
