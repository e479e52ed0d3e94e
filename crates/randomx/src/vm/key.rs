//! The source of a VM's dataset items.

use std::sync::Arc;

use super::VmOptions;
use crate::cache::Cache;
use crate::dataset::Dataset;
use crate::engine::EngineChoice;
use crate::items::{ItemSource, Items};
use crate::jit::JitError;

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
    ///
    /// # Errors
    ///
    /// [`JitError`] if `options` demand machine code and it is refused.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn shared(self, options: VmOptions) -> Result<KeyMemory, JitError> {
        Source::new(self, options).map(KeyMemory::from)
    }

    /// As [`shared`](Self::shared). The interpreter replaces machine code that is refused.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn shared_or_interpreted(self, options: VmOptions) -> KeyMemory {
        Source::or_interpreted(self, options).into()
    }
}

#[cfg(not(target_family = "wasm"))]
impl From<Source> for KeyMemory {
    fn from(source: Source) -> KeyMemory {
        match source {
            Source::Light(items) => KeyMemory::Items(items),
            Source::Fast(dataset) => KeyMemory::Dataset(dataset),
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
    /// Returns the source of a key. It computes items with the engine that `options` select.
    ///
    /// # Errors
    ///
    /// [`JitError`] if `options` demand machine code and it is refused.
    pub(super) fn new(key: KeyMemory, options: VmOptions) -> Result<Source, JitError> {
        match key {
            KeyMemory::Cache(cache) if options.engine == EngineChoice::Jit => {
                let items = Items::with_options(cache, options.into())?;
                Ok(Source::Light(Arc::new(items)))
            }
            key => Ok(Source::or_interpreted(key, options)),
        }
    }

    /// As [`new`](Self::new). The interpreter replaces machine code that is refused.
    pub(super) fn or_interpreted(key: KeyMemory, options: VmOptions) -> Source {
        match key {
            KeyMemory::Cache(cache) => {
                let items = Items::with_options(Arc::clone(&cache), options.into());
                let items = items.unwrap_or_else(|_| Items::interpreted(cache, options.cpu));
                Source::Light(Arc::new(items))
            }
            KeyMemory::Items(items) => Source::Light(items),
            KeyMemory::Dataset(dataset) => Source::Fast(dataset),
        }
    }

    /// Returns whether there is a dataset.
    pub(super) fn is_fast(&self) -> bool {
        matches!(self, Source::Fast(_))
    }
}
