//! RandomX hashes for the client.

use std::sync::Arc;

use randomx::{CacheBuilder, CacheError, PoolError, Version, VmOptions, VmPool};
use randomx_monero::Hash;
use thiserror::Error;

/// Computes RandomX hashes, version 1, in the order of the inputs.
pub trait Hasher: Send {
    /// Hashes inputs with one key.
    ///
    /// # Errors
    ///
    /// If there is no memory, for example.
    fn hash(&mut self, key: &Hash, inputs: &[Vec<u8>]) -> Result<Vec<Hash>, HashError>;

    /// Drops what it keeps for the last key, so that the next hash does not use memory that may be wrong.
    fn forget(&mut self);
}

/// The reason why hashes could not be computed.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct HashError(pub String);

impl From<CacheError> for HashError {
    fn from(error: CacheError) -> HashError {
        HashError(error.to_string())
    }
}

impl From<PoolError> for HashError {
    fn from(error: PoolError) -> HashError {
        HashError(error.to_string())
    }
}

/// Hashes in light mode, with the cache of the last key: 256 MiB, and 2 MiB for each lane of each
/// thread.
pub struct LightHasher {
    threads: usize,
    options: VmOptions,
    key: Option<Hash>,
    pool: Option<VmPool>,
}

impl LightHasher {
    /// Returns a hasher with this many threads. It takes its memory when it is first used.
    pub fn new(threads: usize) -> LightHasher {
        LightHasher::with_options(threads, VmOptions::default())
    }

    /// Returns a hasher with this many threads, whose VMs have `options`.
    pub fn with_options(threads: usize, options: VmOptions) -> LightHasher {
        LightHasher { threads, options, key: None, pool: None }
    }
}

impl Hasher for LightHasher {
    fn hash(&mut self, key: &Hash, inputs: &[Vec<u8>]) -> Result<Vec<Hash>, HashError> {
        if self.key != Some(*key) {
            // Two caches at once are not needed.
            self.forget();
            let cache = Arc::new(CacheBuilder::new(key, self.options.cpu)?.finish());
            self.pool = Some(VmPool::new(cache, Version::V1, self.options, self.threads)?);
            self.key = Some(*key);
        }
        Ok(self.pool.as_mut().map(|pool| pool.hash_many(inputs)).unwrap_or_default())
    }

    fn forget(&mut self) {
        (self.key, self.pool) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use randomx::MAX_LANES;

    use super::*;

    #[test]
    fn its_vms_have_the_options() {
        let options = VmOptions { lanes: Some(MAX_LANES + 1), ..VmOptions::default() };
        let error = LightHasher::with_options(1, options).hash(&[0; 32], &[vec![0; 76]]);
        let HashError(text) = error.expect_err("no VM has as many lanes");
        assert!(text.contains("lanes"), "{text}");
    }
}
