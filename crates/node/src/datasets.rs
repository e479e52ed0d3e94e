//! The datasets of this process, built behind the workers' backs. Workers share the dataset of a key.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use randomx::{Dataset, DatasetBuilder, DatasetError};

use crate::caches::Shared;

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
    key: Box<[u8]>,
    state: Mutex<State>,
}

impl Building {
    /// Returns the state.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static DATASETS: Mutex<Vec<Weak<Building>>> = Mutex::new(Vec::new());

/// Returns the dataset of a cache's key. If no worker holds one, `threads` threads begin to build it,
/// unless workers hold `limit` datasets already. It is abandoned when no worker holds it.
pub fn begin(cache: &Shared, threads: usize, limit: usize) -> Option<Arc<Building>> {
    let mut datasets = DATASETS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut held: Vec<Arc<Building>> = datasets.iter().filter_map(Weak::upgrade).collect();
    if let Some(at) = held.iter().position(|dataset| *dataset.key == *cache.key()) {
        return Some(held.swap_remove(at));
    }
    if held.len() >= limit {
        return None;
    }
    let key = cache.key().into();
    let building = Arc::new(Building { key, state: Mutex::new(State::Building(0.0)) });
    let (items, owner) = (cache.items(), Arc::downgrade(&building));
    let build = move || {
        give_way();
        let finished = DatasetBuilder::new(threads).and_then(|builder| {
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
    datasets.retain(|dataset| dataset.strong_count() > 0);
    datasets.push(Arc::downgrade(&building));
    Some(building)
}

/// Returns the number of datasets that workers hold.
pub fn count() -> usize {
    let datasets = DATASETS.lock().unwrap_or_else(PoisonError::into_inner);
    datasets.iter().filter(|dataset| dataset.strong_count() > 0).count()
}

/// Lets hashing go first. Threads that this one starts do the same.
fn give_way() {
    // On Linux this is the priority of the thread. It matters only where processors are scarce.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 10);
}
