//! What a VM reads dataset items from.

use std::sync::Arc;

use super::VmOptions;
use crate::cache::Cache;
use crate::dataset::Dataset;
use crate::items::{ItemSource, Items};

/// A key, expanded to the memory that a VM needs of it.
#[derive(Clone, Debug)]
pub enum KeyMemory {
    /// Light mode: the VM computes items when it needs them, from a cache of 256 MiB.
    Cache(Arc<Cache>),
    /// Fast mode: the VM reads items from a dataset of 2080 MiB.
    Dataset(Arc<Dataset>),
    /// Light mode with a source of items that several VMs can share.
    Items(Arc<dyn ItemSource>),
}

impl KeyMemory {
    /// Compiles the functions of a cache once, so that several VMs can share them.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn shared(self, options: VmOptions) -> KeyMemory {
        match self {
            KeyMemory::Cache(cache) => KeyMemory::Items(items(cache, options)),
            other => other,
        }
    }
}

impl From<Arc<Cache>> for KeyMemory {
    fn from(cache: Arc<Cache>) -> KeyMemory {
        KeyMemory::Cache(cache)
    }
}

impl From<Arc<Dataset>> for KeyMemory {
    fn from(dataset: Arc<Dataset>) -> KeyMemory {
        KeyMemory::Dataset(dataset)
    }
}

/// Where dataset items come from.
#[derive(Debug)]
pub(super) enum Source {
    /// Computed when they are needed.
    Light(Arc<dyn ItemSource>),
    /// Read from the dataset.
    Fast(Arc<Dataset>),
}

impl Source {
    pub(super) fn new(key: KeyMemory, options: VmOptions) -> Source {
        match key {
            KeyMemory::Cache(cache) => Source::Light(items(cache, options)),
            KeyMemory::Items(items) => Source::Light(items),
            KeyMemory::Dataset(dataset) => Source::Fast(dataset),
        }
    }

    /// Returns whether there is a dataset.
    pub(super) fn is_fast(&self) -> bool {
        matches!(self, Source::Fast(_))
    }
}

/// Returns a source of a cache's items.
///
/// [`Items`] refuses only an explicit request for the JIT, and where the processor has none the VM
/// is refused too. Any other refusal is a lack of memory for machine code, which the interpreter
/// does without.
fn items(cache: Arc<Cache>, options: VmOptions) -> Arc<dyn ItemSource> {
    let items = Items::with_options(Arc::clone(&cache), options.into());
    Arc::new(items.unwrap_or_else(|_| Items::interpreted(cache, options.cpu)))
}
