//! Checkpoints as Python objects.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use randomx_monero::{Hash, Network, RecentBlock, Seed};

use crate::argument;

/// A trusted chain up to a block, as far as the rules need it to judge the blocks after it.
#[pyclass(frozen, eq, module = "randomx_web")]
#[derive(PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) checkpoint: randomx_monero::Checkpoint,
}

#[pymethods]
impl Checkpoint {
    #[new]
    #[pyo3(signature = (*, height, id, work, recent, seeds))]
    fn new(
        #[pyo3(from_py_with = argument::height)] height: u64,
        #[pyo3(from_py_with = argument::id)] id: Hash,
        #[pyo3(from_py_with = argument::work)] work: u128,
        #[pyo3(from_py_with = argument::recent)] recent: Vec<(u64, u128)>,
        #[pyo3(from_py_with = argument::seeds)] seeds: Vec<(u64, Hash)>,
    ) -> Checkpoint {
        let block = |(timestamp, difficulty)| RecentBlock { timestamp, difficulty };
        let recent = recent.into_iter().map(block).collect();
        let seeds = seeds.into_iter().map(|(height, id)| Seed { height, id }).collect();
        let checkpoint = randomx_monero::Checkpoint { height, id, work, recent, seeds };
        Checkpoint { checkpoint }
    }

    /// Returns the start of a network's chain.
    #[staticmethod]
    #[pyo3(signature = (network = "mainnet"))]
    fn genesis(#[pyo3(from_py_with = argument::network)] network: &str) -> PyResult<Checkpoint> {
        Ok(Checkpoint { checkpoint: randomx_monero::Checkpoint::genesis(self::network(network)?) })
    }

    /// The height of the last block.
    #[getter]
    fn height(&self) -> u64 {
        self.checkpoint.height
    }

    /// Its id.
    #[getter]
    fn id(&self) -> Hash {
        self.checkpoint.id
    }

    /// The sum of difficulties up to it; 0 if it is unknown.
    #[getter]
    fn work(&self) -> u128 {
        self.checkpoint.work
    }

    /// The timestamps and difficulties of the last 735 blocks, the oldest first.
    #[getter]
    fn recent(&self) -> Vec<(u64, u128)> {
        let pair = |block: &RecentBlock| (block.timestamp, block.difficulty);
        self.checkpoint.recent.iter().map(pair).collect()
    }

    /// The heights and ids of the blocks whose ids are keys of the next blocks.
    #[getter]
    fn seeds(&self) -> Vec<(u64, Hash)> {
        self.checkpoint.seeds.iter().map(|seed| (seed.height, seed.id)).collect()
    }

    /// Whether the difficulties and keys of the next blocks follow from it.
    #[getter]
    fn is_complete(&self) -> bool {
        self.checkpoint.is_complete()
    }
}

/// Returns a network by its name.
pub(crate) fn network(name: &str) -> PyResult<Network> {
    name.parse().map_err(|problem| {
        PyValueError::new_err(format!("network: {problem}, got {:?}", shorten(name)))
    })
}

fn shorten(name: &str) -> &str {
    name.char_indices().nth(80).map_or(name, |(end, _)| &name[..end])
}
