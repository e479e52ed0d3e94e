//! The native part of the Python package `randomx-web`.

mod argument;
mod audit;
mod blocks;
mod chain;
mod checkpoint;
mod difficulty;
mod export;
mod hashing;
mod signals;
mod slashed;
mod storage;
mod stream;
mod table;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::audit::{Audit, audit_epoch, printable};
    #[pymodule_export]
    use crate::blocks::{Chain, Check, Verdict, Work};
    #[pymodule_export]
    use crate::chain::{
        Block, block_id, difficulty_after, median_timestamp, meets_difficulty, seed_height,
        tree_hash,
    };
    #[pymodule_export]
    use crate::checkpoint::Checkpoint;
    #[pymodule_export]
    use crate::hashing::{Cache, Dataset, Vm, calculate_commitment, hash, hash_many, verify};
    #[pymodule_export]
    use crate::table::{VerifiedTable, verify_table};
}
