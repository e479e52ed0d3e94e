//! What keys of the laboratory expand to.

use std::ops::ControlFlow;
use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::{Cache, CacheBuilder, Dataset, DatasetBuilder};

use crate::{LabError, Progress};

/// The items of the key that follows from a seed.
pub(crate) fn items(seed: u64, progress: &mut dyn Progress) -> Result<Arc<Items>, LabError> {
    Ok(Arc::new(Items::new(Arc::new(cache(seed, progress)?), Cpu::detect())))
}

/// The dataset of that key.
pub(crate) fn dataset(
    seed: u64,
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<Arc<Dataset>, LabError> {
    // Whether there is room should be known before the work of filling a cache.
    let builder = DatasetBuilder::new(threads)?;
    let items = items(seed, progress)?;
    let dataset = builder.fill(&items, |computed| {
        progress.at("dataset", computed as u64, Dataset::ITEMS as u64);
        ControlFlow::Continue(())
    });
    Ok(Arc::new(dataset?))
}

fn cache(seed: u64, progress: &mut dyn Progress) -> Result<Cache, LabError> {
    /// Some tens of steps a second.
    const STEP: usize = CacheBuilder::BLOCKS / 48;
    let mut builder = CacheBuilder::new(&seed.to_le_bytes(), Cpu::detect())?;
    while !builder.fill(STEP) {
        progress.at("cache", builder.filled() as u64, CacheBuilder::BLOCKS as u64);
    }
    Ok(builder.finish())
}
