//! The datasets of this process, built behind the workers' backs. Workers share the dataset of a cache.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use randomx::{Dataset, DatasetBuilder, DatasetError, MAX_THREADS};

use crate::caches::Shared;
use crate::priority;
use crate::registry::{Registry, Value};

/// How far a dataset is.
pub enum State {
    /// The part that is computed, 0 to 1.
    Building(f64),
    /// All items are there.
    Ready(Arc<Dataset>),
    /// It could not be built.
    Failed(DatasetError),
}

/// A dataset that is being built or ready. It lives as long as a worker holds it.
pub struct Building {
    /// The cache of its items. Another cache of the key has another dataset, because one may be wrong.
    cache: Weak<Shared>,
    state: Mutex<State>,
}

impl Building {
    /// Returns the state.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Value for Building {
    fn is_usable(&self) -> bool {
        !matches!(*self.state(), State::Failed(_))
    }
}

static DATASETS: Registry<Building> = Registry::new();

/// Returns the dataset of a cache. If no worker holds one, `threads` threads begin to build it, unless
/// workers hold `limit` datasets already. Datasets that could not be built do not count. A dataset is
/// abandoned when no worker holds it.
pub fn begin(cache: &Arc<Shared>, threads: usize, limit: usize) -> Option<Arc<Building>> {
    let mut datasets = DATASETS.lock();
    if let Some(held) = datasets.find(|building| building.cache.as_ptr() == Arc::as_ptr(cache)) {
        return Some(held);
    }
    if datasets.count() >= limit {
        return None;
    }
    let state = Mutex::new(State::Building(0.0));
    let building = Arc::new(Building { cache: Arc::downgrade(cache), state });
    let (items, owner) = (cache.items(), Arc::downgrade(&building));
    let build = move || {
        priority::give_way();
        let finished = DatasetBuilder::new(threads.min(MAX_THREADS)).and_then(|builder| {
            builder.fill(&items, |done| match owner.upgrade() {
                Some(building) => {
                    *building.state() = State::Building(done as f64 / Dataset::ITEMS as f64);
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            })
        });
        if let Some(building) = owner.upgrade() {
            *building.state() = match finished {
                Ok(dataset) => State::Ready(Arc::new(dataset)),
                Err(error) => State::Failed(error),
            };
        }
    };
    // Without a thread there is no dataset now; the next call tries again.
    thread::Builder::new().name("randomx-dataset".into()).spawn(build).ok()?;
    datasets.add(&building);
    Some(building)
}

/// Returns the number of datasets that workers hold, without those that could not be built.
pub fn count() -> usize {
    DATASETS.lock().count()
}
