"""RandomX, Monero's proof of work, with Monero's rules and an Arrow kernel."""

from ._native import (
    Block,
    Cache,
    Dataset,
    VerifiedTable,
    Vm,
    block_id,
    calculate_commitment,
    difficulty_after,
    hash,
    hash_many,
    median_timestamp,
    meets_difficulty,
    seed_height,
    tree_hash,
    verify,
    verify_table,
)

__all__ = [
    "Block",
    "Cache",
    "Dataset",
    "VerifiedTable",
    "Vm",
    "block_id",
    "calculate_commitment",
    "difficulty_after",
    "hash",
    "hash_many",
    "median_timestamp",
    "meets_difficulty",
    "seed_height",
    "tree_hash",
    "verify",
    "verify_table",
]
