//! The datasets of this process, which threads of their own build. Workers share the dataset of a cache.

use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use randomx::{Dataset, DatasetBuilder, DatasetError, Items, MAX_THREADS};

use crate::caches::Shared;
use crate::error::Code;
use crate::priority;
use crate::registry::{Registry, Value};

/// How far a dataset is.
pub enum State {
    /// The part that is computed, 0 to 1.
    Building(f64),
    /// All items are there.
    Ready(Arc<Dataset>),
    /// It could not be built.
    Failed {
        /// The code of the error that workers throw.
        code: Code,
        /// The message of the error.
        message: String,
    },
}

impl State {
    fn finished(result: thread::Result<Result<Dataset, DatasetError>>) -> State {
        match result {
            Ok(Ok(dataset)) => State::Ready(Arc::new(dataset)),
            Ok(Err(error)) => State::Failed { code: code_of(&error), message: error.to_string() },
            Err(_) => State::Failed {
                code: Code::WorkerFailed,
                message: "the thread that computes the dataset panicked".into(),
            },
        }
    }
}

fn code_of(error: &DatasetError) -> Code {
    match error {
        DatasetError::OutOfMemory { .. } => Code::OutOfMemory,
        // All others refuse an argument.
        _ => Code::InvalidArgument,
    }
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
        !matches!(*self.state(), State::Failed { .. })
    }
}

static DATASETS: Registry<Building> = Registry::new();

/// The number of threads that compute a dataset.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// A thread that computes a dataset. It holds the memory even if no worker wants the dataset any more.
struct Working;

impl Working {
    fn begin() -> Working {
        THREADS.fetch_add(1, Ordering::Relaxed);
        Working
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::Release);
    }
}

/// Returns the dataset of a cache. If no worker holds one, `threads` threads begin to build it, unless
/// `limit` datasets take memory already. Datasets that could not be built do not count. A dataset is
/// abandoned when no worker holds it.
pub fn begin(cache: &Arc<Shared>, threads: usize, limit: usize) -> Option<Arc<Building>> {
    let spawn =
        |build: Build| thread::Builder::new().name("randomx-dataset".into()).spawn(build).map(drop);
    begin_with(cache, limit, spawn, move |items, progress| {
        let builder = DatasetBuilder::new(threads.min(MAX_THREADS))?;
        builder.on_thread_start(priority::give_way).fill(items, progress)
    })
}

/// The work of the thread that builds a dataset.
pub type Build = Box<dyn FnOnce() + Send>;

/// Receives the number of computed items, and can cancel the work.
pub type Progress<'a> = &'a mut dyn FnMut(usize) -> ControlFlow<()>;

/// [`begin`], with a thread that `spawn` starts and items that `compute` computes.
pub fn begin_with(
    cache: &Arc<Shared>,
    limit: usize,
    spawn: impl FnOnce(Build) -> io::Result<()>,
    compute: impl FnOnce(&Items, Progress<'_>) -> Result<Dataset, DatasetError> + Send + 'static,
) -> Option<Arc<Building>> {
    let mut datasets = DATASETS.lock();
    if let Some(held) = datasets.find(|building| building.cache.as_ptr() == Arc::as_ptr(cache)) {
        return Some(held);
    }
    let wanted = datasets.count_of(|building| matches!(*building.state(), State::Building(_)));
    let abandoned = THREADS.load(Ordering::Acquire).saturating_sub(wanted);
    if datasets.count() + abandoned >= limit {
        return None;
    }
    let state = Mutex::new(State::Building(0.0));
    let building = Arc::new(Building { cache: Arc::downgrade(cache), state });
    let (items, owner) = (cache.items(), Arc::downgrade(&building));
    let working = Working::begin();
    let build = move || {
        priority::give_way();
        let mut progress = |done| match owner.upgrade() {
            Some(building) => {
                *building.state() = State::Building(done as f64 / Dataset::ITEMS as f64);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        };
        // A panic is a bug, but a worker that waits for the dataset must learn that it will not come.
        let result = catch_unwind(AssertUnwindSafe(|| compute(&items, &mut progress)));
        let owner = owner.upgrade();
        let result = owner.is_some().then_some(result);
        // `begin_with` counts this thread or the finished dataset, and never neither.
        let datasets = DATASETS.lock();
        drop(working);
        if let (Some(building), Some(result)) = (&owner, result) {
            *building.state() = State::finished(result);
        }
        drop(datasets);
    };
    if let Err(error) = spawn(Box::new(build)) {
        // A lack of resources, as without memory. The worker lives on.
        *building.state() = State::Failed {
            code: Code::OutOfMemory,
            message: format!("no thread could start to compute the dataset: {error}"),
        };
    }
    datasets.add(&building);
    Some(building)
}

/// Returns the number of datasets that workers hold, without those that could not be built.
pub fn count() -> usize {
    DATASETS.lock().count()
}
