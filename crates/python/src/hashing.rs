//! Keys, VMs and hashes.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyInt;
use randomx::{
    CacheError, DatasetError, HASH_SIZE, Items, KeyMemory, PoolError, Version, VmError, VmOptions,
    VmPool,
};

use crate::difficulty::difficulty;

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
    /// Those of the pool, which may be busy when they are asked for.
    threads: usize,
}

/// A key as functions take it: its bytes, or expanded already.
#[derive(FromPyObject)]
pub(crate) enum Key {
    Cache(Py<Cache>),
    Dataset(Py<Dataset>),
    Bytes(PyBackedBytes),
}

#[pymethods]
impl Cache {
    #[new]
    fn new(py: Python<'_>, key: PyBackedBytes) -> PyResult<Cache> {
        let cache = py.detach(|| randomx::Cache::new(&key)).map_err(cache_error)?;
        Ok(Cache { cache: Arc::new(cache) })
    }
}

#[pymethods]
impl Dataset {
    #[new]
    #[pyo3(signature = (cache, *, threads = None))]
    fn new(py: Python<'_>, cache: &Cache, threads: Option<usize>) -> PyResult<Dataset> {
        let threads = thread_count(threads)?;
        let cache = Arc::clone(&cache.cache);
        let dataset = py.detach(|| {
            randomx::Dataset::new(&Items::new(cache, VmOptions::default().cpu), threads)
        });
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
    fn new(py: Python<'_>, key: Key, version: u64, threads: Option<usize>) -> PyResult<Vm> {
        let pool = pool(py, key, version, threads)?;
        Ok(Vm { threads: pool.threads(), pool: Mutex::new(pool) })
    }

    /// Returns the hash of an input.
    fn hash(&self, py: Python<'_>, data: PyBackedBytes) -> [u8; HASH_SIZE] {
        let hashes = py.detach(|| self.hashes(&[data]));
        hashes.first().copied().unwrap_or_default()
    }

    /// Returns the hashes of inputs, in order.
    fn hash_many(&self, py: Python<'_>, inputs: Vec<PyBackedBytes>) -> Hashes {
        py.detach(|| self.hashes(&inputs))
    }

    /// The number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }
}

impl Vm {
    fn hashes(&self, inputs: &[PyBackedBytes]) -> Hashes {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).hash_many(inputs)
    }
}

/// Returns the hash of an input. Bytes as key are expanded for this call alone.
#[pyfunction]
#[pyo3(signature = (key, data, *, version = 1))]
pub(crate) fn hash(
    py: Python<'_>,
    key: Key,
    data: PyBackedBytes,
    version: u64,
) -> PyResult<[u8; HASH_SIZE]> {
    Ok(hash_many(py, key, vec![data], version, Some(1))?.first().copied().unwrap_or_default())
}

/// Returns the hashes of inputs, in order.
#[pyfunction]
#[pyo3(signature = (key, inputs, *, version = 1, threads = None))]
pub(crate) fn hash_many(
    py: Python<'_>,
    key: Key,
    inputs: Vec<PyBackedBytes>,
    version: u64,
    threads: Option<usize>,
) -> PyResult<Hashes> {
    let mut pool = pool(py, key, version, threads)?;
    Ok(py.detach(|| pool.hash_many(&inputs)))
}

/// Whether the hash of a hashing blob meets a difficulty.
#[pyfunction]
#[pyo3(signature = (key, hashing_blob, difficulty, *, version = 1))]
pub(crate) fn verify(
    py: Python<'_>,
    key: Key,
    hashing_blob: PyBackedBytes,
    #[pyo3(from_py_with = self::difficulty_of)] difficulty: randomx_monero::Difficulty,
    version: u64,
) -> PyResult<bool> {
    Ok(difficulty.is_met_by(&hash(py, key, hashing_blob, version)?))
}

/// Returns the commitment to an input and its hash.
#[pyfunction]
pub(crate) fn calculate_commitment(data: PyBackedBytes, hash: [u8; HASH_SIZE]) -> [u8; HASH_SIZE] {
    randomx::calculate_commitment(&data, &hash)
}

fn difficulty_of(number: &Bound<'_, PyAny>) -> PyResult<randomx_monero::Difficulty> {
    difficulty(number.cast::<PyInt>()?)
}

fn pool(py: Python<'_>, key: Key, version: u64, threads: Option<usize>) -> PyResult<VmPool> {
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
pub(crate) fn thread_count(threads: Option<usize>) -> PyResult<usize> {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.unwrap_or_else(processors);
    if (1..=randomx::MAX_THREADS).contains(&threads) {
        return Ok(threads);
    }
    let most = randomx::MAX_THREADS;
    Err(PyValueError::new_err(format!("threads: expected 1 to {most}, got {threads}")))
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
