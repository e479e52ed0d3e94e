//! Keys, VMs and hashes.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use randomx::{
    CacheError, DatasetBuilder, DatasetError, HASH_SIZE, Items, KeyMemory, PoolError, Version,
    VmError, VmOptions, VmPool,
};

use crate::argument::{self, Argument, refused};
use crate::signals::Signals;

/// The inputs of each thread after which signals are handled, such as that of Ctrl-C. In light mode these take some
/// seconds. At the end of each part threads wait for each other, so shorter ones would take longer in all.
const AT_ONCE: usize = 512;

/// The hashes of a batch.
type Hashes = Vec<[u8; HASH_SIZE]>;

/// A key, expanded to 256 MiB. Several VMs can share it.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct Cache {
    cache: Arc<randomx::Cache>,
}

/// A key, expanded to 2080 MiB, for faster hashes.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct Dataset {
    dataset: Arc<randomx::Dataset>,
}

/// Hashes inputs with a key on some threads.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct Vm {
    pool: Mutex<VmPool>,
    /// The pool's number of threads. Stored here, because the pool may be locked.
    threads: usize,
}

/// A key as functions take it: its bytes, or expanded already.
#[derive(FromPyObject)]
pub(crate) enum Key {
    Cache(Py<Cache>),
    Dataset(Py<Dataset>),
    Bytes(PyBackedBytes),
}

impl Argument for Key {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Key> {
        value
            .extract()
            .map_err(|problem| refused(name, "a cache, a dataset or bytes", value, problem))
    }
}

impl Argument for Py<Cache> {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Py<Cache>> {
        let refused = |problem| refused(name, "a Cache", value, PyErr::from(problem));
        value.cast::<Cache>().map(|cache| cache.clone().unbind()).map_err(refused)
    }
}

#[pymethods]
impl Cache {
    #[new]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = argument::key)] key: PyBackedBytes,
    ) -> PyResult<Cache> {
        let cache = py.detach(|| randomx::Cache::new(&key)).map_err(cache_error)?;
        Ok(Cache { cache: Arc::new(cache) })
    }
}

#[pymethods]
impl Dataset {
    #[new]
    #[pyo3(signature = (cache, *, threads = None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = argument::cache)] cache: Py<Cache>,
        #[pyo3(from_py_with = argument::threads)] threads: Option<u64>,
    ) -> PyResult<Dataset> {
        let threads = thread_count(threads)?;
        let cache = Arc::clone(&cache.get().cache);
        let signals = Signals::new();
        let mut interrupt = None;
        let go_on = |_| {
            interrupt = signals.handle().err();
            if interrupt.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let dataset = py.detach(|| {
            let memory = DatasetBuilder::new(threads)?;
            memory.fill(&Items::new(cache, VmOptions::default().cpu), go_on)
        });
        if let Some(problem) = interrupt {
            return Err(problem);
        }
        let dataset = dataset.map_err(|problem| match problem {
            DatasetError::OutOfMemory { .. } => PyMemoryError::new_err(problem.to_string()),
            _ => PyRuntimeError::new_err(problem.to_string()),
        })?;
        Ok(Dataset { dataset: Arc::new(dataset) })
    }
}

#[pymethods]
impl Vm {
    #[new]
    #[pyo3(signature = (key, *, version = 1, threads = 1))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = argument::key)] key: Key,
        #[pyo3(from_py_with = argument::version)] version: u64,
        #[pyo3(from_py_with = argument::threads)] threads: Option<u64>,
    ) -> PyResult<Vm> {
        let pool = pool(py, key, version, threads)?;
        Ok(Vm { threads: pool.threads(), pool: Mutex::new(pool) })
    }

    /// Returns the hash of an input.
    fn hash(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::data)] data: PyBackedBytes,
    ) -> PyResult<[u8; HASH_SIZE]> {
        Ok(self.hash_many(py, vec![data])?.first().copied().unwrap_or_default())
    }

    /// Returns the hashes of inputs, in order.
    fn hash_many(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::inputs)] inputs: Vec<PyBackedBytes>,
    ) -> PyResult<Hashes> {
        let lock = || self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        in_parts(py, &inputs, self.threads, |inputs| lock().hash_many(inputs))
    }

    /// The number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }
}

/// Hashes inputs without the interpreter's lock, and handles signals between parts of them. Handlers may hash, too: no
/// VM is locked meanwhile.
fn in_parts(
    py: Python<'_>,
    inputs: &[PyBackedBytes],
    threads: usize,
    mut hash: impl FnMut(&[PyBackedBytes]) -> Hashes + Send,
) -> PyResult<Hashes> {
    let mut hashes = Vec::with_capacity(inputs.len());
    for part in inputs.chunks(threads * AT_ONCE) {
        hashes.extend(py.detach(|| hash(part)));
        py.check_signals()?;
    }
    Ok(hashes)
}

/// Returns the hash of an input. Bytes as key are expanded for this call alone.
#[pyfunction]
#[pyo3(signature = (key, data, *, version = 1))]
pub(crate) fn hash(
    py: Python<'_>,
    #[pyo3(from_py_with = argument::key)] key: Key,
    #[pyo3(from_py_with = argument::data)] data: PyBackedBytes,
    #[pyo3(from_py_with = argument::version)] version: u64,
) -> PyResult<[u8; HASH_SIZE]> {
    Ok(hash_many(py, key, vec![data], version, Some(1))?.first().copied().unwrap_or_default())
}

/// Returns the hashes of inputs, in order.
#[pyfunction]
#[pyo3(signature = (key, inputs, *, version = 1, threads = None))]
pub(crate) fn hash_many(
    py: Python<'_>,
    #[pyo3(from_py_with = argument::key)] key: Key,
    #[pyo3(from_py_with = argument::inputs)] inputs: Vec<PyBackedBytes>,
    #[pyo3(from_py_with = argument::version)] version: u64,
    #[pyo3(from_py_with = argument::threads)] threads: Option<u64>,
) -> PyResult<Hashes> {
    let mut pool = pool(py, key, version, threads)?;
    in_parts(py, &inputs, pool.threads(), |inputs| pool.hash_many(inputs))
}

/// Whether the hash of a hashing blob meets a difficulty.
#[pyfunction]
#[pyo3(signature = (key, hashing_blob, difficulty, *, version = 1))]
pub(crate) fn verify(
    py: Python<'_>,
    #[pyo3(from_py_with = argument::key)] key: Key,
    #[pyo3(from_py_with = argument::hashing_blob)] hashing_blob: PyBackedBytes,
    #[pyo3(from_py_with = argument::difficulty)] difficulty: randomx_monero::Difficulty,
    #[pyo3(from_py_with = argument::version)] version: u64,
) -> PyResult<bool> {
    Ok(difficulty.is_met_by(&hash(py, key, hashing_blob, version)?))
}

/// Returns the commitment to an input and its hash.
#[pyfunction]
pub(crate) fn calculate_commitment(
    py: Python<'_>,
    #[pyo3(from_py_with = argument::data)] data: PyBackedBytes,
    #[pyo3(from_py_with = argument::hash)] hash: [u8; HASH_SIZE],
) -> [u8; HASH_SIZE] {
    py.detach(|| randomx::calculate_commitment(&data, &hash))
}

fn pool(py: Python<'_>, key: Key, version: u64, threads: Option<u64>) -> PyResult<VmPool> {
    let refused = |_| PyValueError::new_err(format!("version: expected 1 or 2, got {version}"));
    let version = Version::try_from(version).map_err(refused)?;
    let threads = thread_count(threads)?;
    let memory = match key {
        Key::Cache(cache) => Ok(KeyMemory::from(Arc::clone(&cache.get().cache))),
        Key::Dataset(dataset) => Ok(KeyMemory::from(Arc::clone(&dataset.get().dataset))),
        Key::Bytes(key) => {
            py.detach(|| randomx::Cache::new(&key)).map(|cache| Arc::new(cache).into())
        }
    };
    let memory = memory.map_err(cache_error)?;
    py.detach(|| VmPool::new(memory, version, VmOptions::default(), threads)).map_err(pool_error)
}

/// Returns the number of threads; by default, one for each processor.
pub(crate) fn thread_count(threads: Option<u64>) -> PyResult<usize> {
    let most = randomx::MAX_THREADS;
    let Some(threads) = threads else {
        return Ok(thread::available_parallelism().map_or(1, NonZero::get).min(most));
    };
    let refused = || PyValueError::new_err(format!("threads: expected 1 to {most}, got {threads}"));
    let count = usize::try_from(threads).ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(refused)
}

fn cache_error(problem: CacheError) -> PyErr {
    match problem {
        CacheError::OutOfMemory { .. } => PyMemoryError::new_err(problem.to_string()),
        _ => PyRuntimeError::new_err(problem.to_string()),
    }
}

fn pool_error(problem: PoolError) -> PyErr {
    match problem {
        PoolError::OutOfMemory { .. } | PoolError::Vm(VmError::OutOfMemory { .. }) => {
            PyMemoryError::new_err(problem.to_string())
        }
        _ => PyRuntimeError::new_err(problem.to_string()),
    }
}
