//! Made chains: every block links to the one before it, every key is the id of a block, and nobody
//! mined. With a difficulty of 2, half of the blocks are valid by chance.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, FixedSizeBinaryArray, RecordBatch, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use randomx::{Cache, Version, VmOptions, VmPool};
use randomx_monero::{Block, Difficulty, Hash, seed_height};
use randomx_testing::blocks::block;

/// A block of a made chain.
#[derive(Clone, Debug)]
pub(crate) struct MadeBlock {
    pub(crate) height: u64,
    pub(crate) seed_hash: Hash,
    pub(crate) hashing_blob: Vec<u8>,
    pub(crate) difficulty: u64,
}

/// Returns the first blocks of each of the first epochs of a chain, with this difficulty.
pub(crate) fn chain(epochs: u64, of_each: u64, difficulty: u64) -> Vec<MadeBlock> {
    let mut ids: Vec<Hash> = Vec::new();
    let mut blocks = Vec::new();
    let last = (epochs - 1) * 2048 + 64 + of_each;
    for height in 0..=last {
        let previous = ids.last().copied().unwrap_or_default();
        let parsed = block(height, 1_700_000_000 + 120 * height, &previous, 0);
        let parsed = Block::parse(&parsed).expect("a block");
        ids.push(parsed.id());
        let seed = seed_height(height);
        let first = if seed == 0 { 1 } else { seed + 65 };
        if (first..first + of_each).contains(&height) {
            let hashing_blob = parsed.hashing_blob().as_bytes().to_vec();
            blocks.push(MadeBlock {
                height,
                seed_hash: ids[seed as usize],
                hashing_blob,
                difficulty,
            });
        }
    }
    assert_eq!(blocks.len() as u64, epochs * of_each);
    blocks
}

/// Hashes blocks with the core alone, and returns the hashes and which of them meet their difficulty.
pub(crate) fn expected(blocks: &[MadeBlock]) -> Vec<(Hash, bool)> {
    let mut found = Vec::new();
    for epoch in blocks.chunk_by(|a, b| a.seed_hash == b.seed_hash) {
        let cache = Arc::new(Cache::new(&epoch[0].seed_hash).expect("a cache"));
        let pool = VmPool::new(cache, Version::V1, VmOptions::default(), 2);
        let inputs: Vec<&[u8]> = epoch.iter().map(|block| block.hashing_blob.as_slice()).collect();
        let hashes = pool.expect("a pool").hash_many(&inputs);
        found.extend(epoch.iter().zip(hashes).map(|(block, hash)| {
            let difficulty = Difficulty::try_from(u128::from(block.difficulty));
            (hash, difficulty.expect("a difficulty").is_met_by(&hash))
        }));
    }
    found
}

/// Returns blocks as a batch.
pub(crate) fn batch(blocks: &[MadeBlock]) -> RecordBatch {
    let seeds = blocks.iter().map(|block| block.seed_hash);
    let difficulties = blocks.iter().map(|block| i128::from(block.difficulty));
    let columns: [(&str, ArrayRef); 5] = [
        ("height", Arc::new(UInt64Array::from_iter_values(blocks.iter().map(|b| b.height)))),
        ("seed_hash", Arc::new(FixedSizeBinaryArray::try_from_iter(seeds).expect("hashes"))),
        (
            "hashing_blob",
            Arc::new(BinaryArray::from_iter_values(blocks.iter().map(|b| &b.hashing_blob))),
        ),
        (
            "difficulty",
            Arc::new(
                Decimal128Array::from_iter_values(difficulties)
                    .with_precision_and_scale(38, 0)
                    .expect("decimals"),
            ),
        ),
        ("number", Arc::new(UInt64Array::from_iter_values(0..blocks.len() as u64))),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

/// Writes blocks to a Parquet file with groups of this many rows.
pub(crate) fn write(path: &Path, blocks: &[MadeBlock], group: usize) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    write_with(path, &batch(blocks), Some(properties));
}

/// Writes rows to a Parquet file.
pub(crate) fn write_rows(path: &Path, rows: &RecordBatch) {
    write_with(path, rows, None);
}

fn write_with(path: &Path, rows: &RecordBatch, properties: Option<WriterProperties>) {
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, rows.schema(), properties).expect("a writer");
    writer.write(rows).expect("writable");
    writer.close().expect("writable");
}
