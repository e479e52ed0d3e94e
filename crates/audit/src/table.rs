//! The rows of a chain's blocks as record batches.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{
    BinaryBuilder, Decimal128Builder, FixedSizeBinaryBuilder, UInt64Builder,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use randomx_monero::Hash;

/// The most decimal digits of a difficulty. Monero's have 12.
const DIGITS: u8 = 38;

/// A block as its proof of work needs it.
pub(crate) struct Row {
    pub(crate) height: u64,
    pub(crate) seed_hash: Option<Hash>,
    pub(crate) hashing_blob: Vec<u8>,
    pub(crate) difficulty: u128,
}

/// The columns of a chain's blocks.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("height", DataType::UInt64, false),
        Field::new("seed_hash", DataType::FixedSizeBinary(32), true),
        Field::new("hashing_blob", DataType::Binary, false),
        Field::new("difficulty", DataType::Decimal128(DIGITS, 0), true),
    ]))
}

/// Returns the difficulty that a row of a file has, given that of the block.
pub(crate) fn kept(difficulty: u128) -> Option<u128> {
    Some(difficulty).filter(|difficulty| *difficulty > 0 && fits(*difficulty))
}

fn fits(difficulty: u128) -> bool {
    difficulty < 10_u128.pow(u32::from(DIGITS))
}

/// Returns the rows as a batch. A difficulty of more digits than any chain has becomes null.
pub(crate) fn batch(rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let mut height = UInt64Builder::with_capacity(rows.len());
    let mut seed_hash = FixedSizeBinaryBuilder::with_capacity(rows.len(), 32);
    let mut hashing_blob = BinaryBuilder::new();
    let mut difficulty =
        Decimal128Builder::with_capacity(rows.len()).with_precision_and_scale(DIGITS, 0)?;
    for row in rows {
        height.append_value(row.height);
        match row.seed_hash {
            Some(hash) => seed_hash.append_value(hash)?,
            None => seed_hash.append_null(),
        }
        hashing_blob.append_value(&row.hashing_blob);
        difficulty.append_option(fits(row.difficulty).then_some(row.difficulty as i128));
    }
    RecordBatch::try_new(
        schema(),
        vec![
            Arc::new(height.finish()),
            Arc::new(seed_hash.finish()),
            Arc::new(hashing_blob.finish()),
            Arc::new(difficulty.finish()),
        ],
    )
}
