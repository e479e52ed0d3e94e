//! Monero's rules that need no hash.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use randomx_monero::{
    DIFFICULTY_BLOCKS, DIFFICULTY_TARGET, Difficulty, Hash, HashingBlob, PastBlock,
    TIMESTAMP_WINDOW,
};

use crate::argument::{self, Limited};

/// A block, parsed from its blob.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct Block {
    block: randomx_monero::Block,
}

#[pymethods]
impl Block {
    #[new]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = argument::blob)] blob: PyBackedBytes,
    ) -> PyResult<Block> {
        let refused = |problem| PyValueError::new_err(format!("blob: {problem}"));
        let block = py.detach(|| randomx_monero::Block::parse(&blob));
        Ok(Block { block: block.map_err(refused)? })
    }

    /// The height in the miner transaction.
    #[getter]
    fn height(&self) -> u64 {
        self.block.height()
    }

    /// The block's id.
    #[getter]
    fn id(&self) -> Hash {
        self.block.id()
    }

    /// The id of the block before it.
    #[getter]
    fn previous_id(&self) -> Hash {
        self.block.header().previous_id
    }

    #[getter]
    fn major_version(&self) -> u8 {
        self.block.header().major_version
    }

    #[getter]
    fn minor_version(&self) -> u8 {
        self.block.header().minor_version
    }

    /// Seconds since 1970.
    #[getter]
    fn timestamp(&self) -> u64 {
        self.block.header().timestamp
    }

    #[getter]
    fn nonce(&self) -> u32 {
        self.block.header().nonce
    }

    /// The bytes that RandomX hashes.
    #[getter]
    fn hashing_blob<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.block.hashing_blob().as_bytes())
    }

    /// The hashes of all transactions, the miner's first.
    #[getter]
    fn transaction_ids(&self) -> Vec<Hash> {
        self.block.transaction_ids()
    }
}

/// Returns the height of the block whose id is the key at a height.
#[pyfunction]
pub(crate) fn seed_height(#[pyo3(from_py_with = argument::height)] height: u64) -> u64 {
    randomx_monero::seed_height(height)
}

/// Returns the id of the block with a hashing blob.
#[pyfunction]
pub(crate) fn block_id(
    py: Python<'_>,
    #[pyo3(from_py_with = argument::hashing_blob)] hashing_blob: PyBackedBytes,
) -> PyResult<Hash> {
    let refused = |problem| PyValueError::new_err(format!("hashing_blob: {problem}"));
    let id = py.detach(|| HashingBlob::parse(&hashing_blob).map(|blob| blob.id()));
    id.map_err(refused)
}

/// Whether a hash meets a difficulty.
#[pyfunction]
pub(crate) fn meets_difficulty(
    #[pyo3(from_py_with = argument::hash)] hash: Hash,
    #[pyo3(from_py_with = argument::difficulty)] difficulty: Difficulty,
) -> bool {
    difficulty.is_met_by(&hash)
}

/// Returns the difficulty of the block after others: the last 735 blocks in order, or all of a shorter
/// chain without its genesis block, which Monero leaves out. Takes their timestamps and the sums of
/// difficulties up to them. `None` where the rule has no result.
#[pyfunction]
#[pyo3(signature = (timestamps, cumulative_difficulties, *, target = DIFFICULTY_TARGET))]
pub(crate) fn difficulty_after(
    #[pyo3(from_py_with = argument::timestamps)] timestamps: Limited<u64, DIFFICULTY_BLOCKS>,
    #[pyo3(from_py_with = argument::cumulative_difficulties)] cumulative_difficulties: Limited<
        u128,
        DIFFICULTY_BLOCKS,
    >,
    #[pyo3(from_py_with = argument::target)] target: u64,
) -> PyResult<Option<u128>> {
    if timestamps.count > DIFFICULTY_BLOCKS {
        let got = timestamps.count;
        let problem = format!("timestamps: expected at most {DIFFICULTY_BLOCKS}, got {got}");
        return Err(PyValueError::new_err(problem));
    }
    let (expected, got) = (timestamps.count, cumulative_difficulties.count);
    if expected != got {
        let problem = format!("cumulative_difficulties: expected {expected} numbers, got {got}");
        return Err(PyValueError::new_err(problem));
    }
    let past: Vec<PastBlock> = timestamps
        .items
        .into_iter()
        .zip(cumulative_difficulties.items)
        .map(|(timestamp, cumulative_difficulty)| PastBlock { timestamp, cumulative_difficulty })
        .collect();
    Ok(randomx_monero::next_difficulty(&past, target))
}

/// Returns the median of the last 60 timestamps, which a block's must not be before.
#[pyfunction]
pub(crate) fn median_timestamp(
    #[pyo3(from_py_with = argument::last)] last: Limited<u64, TIMESTAMP_WINDOW>,
) -> PyResult<u64> {
    let got = last.count;
    let last: [u64; TIMESTAMP_WINDOW] = last.items.try_into().map_err(|_| {
        PyValueError::new_err(format!("last: expected {TIMESTAMP_WINDOW} timestamps, got {got}"))
    })?;
    Ok(randomx_monero::median_timestamp(&last))
}

/// Returns the root of the tree over transaction hashes, the miner's first.
#[pyfunction]
pub(crate) fn tree_hash(
    py: Python<'_>,
    #[pyo3(from_py_with = argument::hashes)] hashes: Vec<Hash>,
) -> Hash {
    py.detach(|| randomx_monero::tree_hash(&hashes))
}
