//! The hashes of a part's blocks, each computed once.

use std::collections::HashMap;

use randomx::Version;

use crate::{backend::Hash, error::Error, hasher::Hasher, queue::Job};

/// Computes hashes, and remembers them.
pub(super) struct Hashes<'h, 'a> {
    hasher: &'h mut Hasher<'a>,
    /// The hash of each hashing blob.
    known: HashMap<Vec<u8>, Hash>,
}

impl<'h, 'a> Hashes<'h, 'a> {
    pub(super) fn new(hasher: &'h mut Hasher<'a>) -> Hashes<'h, 'a> {
        Hashes { hasher, known: HashMap::new() }
    }

    /// Returns the hashes of blobs of one chain with these keys.
    pub(super) fn of(&mut self, work: &[(Hash, &[u8])]) -> Result<Vec<Hash>, Error> {
        let missing: Vec<&(Hash, &[u8])> =
            work.iter().filter(|(_, blob)| !self.known.contains_key(*blob)).collect();
        let job = |(key, blob): &&(Hash, &[u8])| Job {
            key: key.to_vec(),
            version: Version::V1,
            input: blob.to_vec(),
            tag: (),
        };
        let hashes = self.hasher.hash_all(missing.iter().map(job))?;
        let computed = missing.iter().zip(hashes).map(|((_, blob), hash)| (blob.to_vec(), hash));
        self.known.extend(computed);
        Ok(work.iter().filter_map(|(_, blob)| self.known(blob)).collect())
    }

    /// Returns the hash of a blob, if it was computed.
    pub(super) fn known(&self, blob: &[u8]) -> Option<Hash> {
        self.known.get(blob).copied()
    }
}
