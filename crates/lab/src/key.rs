//! The dataset items, and the dataset, of a seed's key.

use std::ops::ControlFlow;
use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::{Cache, CacheBuilder, Dataset, DatasetBuilder};

use crate::{LabError, Progress};

/// Returns the dataset items of the key that consists of the seed's bytes.
pub(crate) fn items(seed: u64, progress: &mut dyn Progress) -> Result<Arc<Items>, LabError> {
    Ok(Arc::new(Items::new(Arc::new(cache(seed, progress)?), Cpu::detect())))
}

/// Computes the dataset of that key.
pub(crate) fn dataset(
    seed: u64,
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<Arc<Dataset>, LabError> {
    // Reserves the memory first, so that running out of it shows before the cache is filled.
    let builder = DatasetBuilder::new(threads)?;
    let items = items(seed, progress)?;
    let dataset = builder.fill(&items, |computed| {
        progress.at("dataset", computed as u64, Dataset::ITEMS as u64);
        ControlFlow::Continue(())
    });
    Ok(Arc::new(dataset?))
}

fn cache(seed: u64, progress: &mut dyn Progress) -> Result<Cache, LabError> {
    /// Blocks between two reports, for some tens of reports a second.
    const STEP: usize = CacheBuilder::BLOCKS / 48;
    let mut builder = CacheBuilder::new(&seed.to_le_bytes(), Cpu::detect())?;
    while !builder.fill(STEP) {
        progress.at("cache", builder.filled() as u64, CacheBuilder::BLOCKS as u64);
    }
    Ok(builder.finish())
}
