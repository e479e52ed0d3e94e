//! A sequence of blocks, checked one after another.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyInt};
use randomx_monero::{Candidate, ChainError, Difficulty, Hash, Link, Outcome};

use crate::argument::{self, Argument, refused};
use crate::checkpoint::{Checkpoint, network};
use crate::difficulty::integer;

/// Checks a chain block by block, by the rules that need the blocks before.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct Chain {
    chain: Mutex<randomx_monero::Chain>,
}

/// A proof of work to check: the requirements that a block must meet.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct Work {
    work: randomx_monero::Work,
}

/// The verdict on a block.
#[pyclass(frozen, module = "randomx_web")]
pub(crate) struct Verdict {
    verdict: randomx_monero::Verdict,
}

/// A check of a block, of one rule.
#[pyclass(frozen, get_all, module = "randomx_web")]
pub(crate) struct Check {
    name: String,
    passed: Option<bool>,
    detail: String,
}

/// Where a chain begins.
enum Start {
    Checkpoint(Py<Checkpoint>),
    Height(u64),
}

impl Argument for Start {
    fn convert(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Start> {
        if let Ok(checkpoint) = value.cast::<Checkpoint>() {
            return Ok(Start::Checkpoint(checkpoint.clone().unbind()));
        }
        let expected = "a Checkpoint or 0 to 2^64 - 1";
        let refused = |problem| refused(name, expected, value, problem);
        value.extract().map(Start::Height).map_err(refused)
    }
}

#[pymethods]
impl Chain {
    #[new]
    #[pyo3(signature = (start, *, network = "mainnet", fixed_difficulty = None, allow_incomplete = false))]
    fn new(
        #[pyo3(from_py_with = argument::start)] start: Start,
        #[pyo3(from_py_with = argument::network)] network: &str,
        #[pyo3(from_py_with = argument::fixed_difficulty)] fixed_difficulty: Option<u128>,
        #[pyo3(from_py_with = argument::allow_incomplete)] allow_incomplete: bool,
    ) -> PyResult<Chain> {
        use randomx_monero::Chain as Rules;
        let network = self::network(network)?;
        let chain = match start {
            Start::Height(height) => Rules::begin_at(height, network),
            Start::Checkpoint(start) => {
                let checkpoint = start.get().checkpoint.clone();
                if allow_incomplete {
                    Rules::resume_unchecked(checkpoint, network)
                } else {
                    Rules::resume(checkpoint, network)
                }
            }
        };
        let chain = chain.map_err(|problem| PyValueError::new_err(format!("start: {problem}")))?;
        let chain = match fixed_difficulty {
            Some(0) => {
                let problem = "fixed_difficulty: expected 1 to 2^128 - 1, got 0";
                return Err(PyValueError::new_err(problem));
            }
            Some(fixed) => chain.with_fixed_difficulty(fixed),
            None => chain,
        };
        Ok(Chain { chain: Mutex::new(chain) })
    }

    /// The height of the block to push next.
    #[getter]
    fn next_height(&self) -> u64 {
        self.lock().next_height()
    }

    /// The number of blocks that wait to be settled.
    #[getter]
    fn pending(&self) -> usize {
        self.lock().pending()
    }

    /// Checks the next block. Returns the hash to compute, or `None` if the block is refused whatever
    /// its hash.
    #[pyo3(signature = (
        block = None, *, hashing_blob = None, id = None, height = None, seed_hash = None,
        difficulty = None, now = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python has keywords")]
    fn push(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::block)] block: Option<PyBackedBytes>,
        #[pyo3(from_py_with = argument::hashing_blob)] hashing_blob: Option<PyBackedBytes>,
        #[pyo3(from_py_with = argument::id)] id: Option<Hash>,
        #[pyo3(from_py_with = argument::height)] height: Option<u64>,
        #[pyo3(from_py_with = argument::seed_hash)] seed_hash: Option<Hash>,
        #[pyo3(from_py_with = argument::difficulty)] difficulty: Option<Difficulty>,
        #[pyo3(from_py_with = argument::now)] now: Option<u64>,
    ) -> PyResult<Option<Work>> {
        let block = Candidate {
            block: block.as_deref(),
            hashing_blob: hashing_blob.as_deref(),
            id,
            height,
        };
        let link = Link { block, seed_hash, difficulty };
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let now = now.unwrap_or_else(clock);
        let work = py.detach(|| self.lock().push(&link, now)).map_err(error)?;
        Ok(work.map(|work| Work { work }))
    }

    /// Returns the verdict on the first block that waits, by its hash. Without one, its proof of work
    /// is not checked.
    #[pyo3(signature = (hash = None))]
    fn settle(
        &self,
        #[pyo3(from_py_with = argument::hash)] hash: Option<Hash>,
    ) -> PyResult<Verdict> {
        Ok(Verdict { verdict: self.lock().settle(hash).map_err(error)? })
    }

    /// Returns the chain up to the last block whose own proof of work was checked; after a refused block, or without
    /// such a block, the checkpoint with which the chain began. `None` if there is neither.
    fn checkpoint(&self) -> Option<Checkpoint> {
        self.lock().checkpoint().map(|checkpoint| Checkpoint { checkpoint })
    }
}

impl Chain {
    fn lock(&self) -> MutexGuard<'_, randomx_monero::Chain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Work {
    /// The RandomX key.
    #[getter]
    fn seed_hash(&self) -> Hash {
        self.work.seed_hash
    }

    /// The RandomX input.
    #[getter]
    fn hashing_blob<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.work.hashing_blob)
    }

    /// The difficulty that the hash must meet.
    #[getter]
    fn difficulty<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyInt>> {
        integer(py, &self.work.difficulty)
    }
}

#[pymethods]
impl Verdict {
    /// `valid`, `unproven`, `update-needed` or `invalid`.
    #[getter]
    fn status(&self) -> &'static str {
        self.verdict.status.as_str()
    }

    /// Whether later blocks can follow this one.
    #[getter]
    fn is_accepted(&self) -> bool {
        self.verdict.status.is_accepted()
    }

    /// The height that the block has in the chain.
    #[getter]
    fn height(&self) -> u64 {
        self.verdict.height
    }

    /// The block's id, if it could be parsed.
    #[getter]
    fn id(&self) -> Option<Hash> {
        self.verdict.id
    }

    /// The hash, if it was computed.
    #[getter]
    fn hash(&self) -> Option<Hash> {
        self.verdict.hash
    }

    /// The difficulty that the block had to meet, if it came to that.
    #[getter]
    fn difficulty<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyInt>>> {
        self.verdict.difficulty.as_ref().map(|difficulty| integer(py, difficulty)).transpose()
    }

    /// The chain's work up to this block.
    #[getter]
    fn work(&self) -> u128 {
        self.verdict.work
    }

    /// Whether the chain began with a complete and plausible checkpoint.
    #[getter]
    fn complete_start(&self) -> bool {
        self.verdict.complete_start
    }

    /// The hashes of the block's transactions, the miner's first.
    #[getter]
    fn transaction_ids(&self) -> Vec<Hash> {
        self.verdict.transaction_ids.clone()
    }

    /// All checks, in a fixed order.
    #[getter]
    fn checks(&self) -> Vec<Check> {
        let check = |check: &randomx_monero::Check| Check {
            name: check.name.as_str().to_owned(),
            passed: match check.outcome {
                Outcome::Passed => Some(true),
                Outcome::Failed | Outcome::UpdateNeeded => Some(false),
                Outcome::NotChecked => None,
            },
            detail: check.detail.clone(),
        };
        self.verdict.checks.iter().map(check).collect()
    }
}

fn error(problem: ChainError) -> PyErr {
    let argument = match problem {
        ChainError::SeedHashNeeded { .. } => "seed_hash",
        ChainError::DifficultyNeeded => "difficulty",
        _ => return PyRuntimeError::new_err(problem.to_string()),
    };
    PyValueError::new_err(format!("{argument}: {problem}"))
}
