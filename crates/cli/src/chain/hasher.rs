//! Hashes of a chain: a key serves 2048 blocks in a row, so it is kept from call to call.

use randomx::Version;
use randomx_monero::Work;

use crate::{
    batch::Batch,
    error::Error,
    machine::{Hash, Machine},
    progress::Progress,
    work::{Spread, hash_group},
};

pub(super) struct Hasher<'a, M: Machine = crate::machine::RandomX> {
    machine: M,
    spread: Spread,
    progress: &'a Progress,
    key: Option<([u8; 32], M::Key)>,
}

impl<'a, M: Machine + Sync> Hasher<'a, M> {
    pub(super) fn new(machine: M, spread: Spread, progress: &'a Progress) -> Self {
        Hasher { machine, spread, progress, key: None }
    }

    /// The hashes of what is wanted, in order.
    pub(super) fn hash<'w>(
        &mut self,
        wanted: impl IntoIterator<Item = &'w Work>,
    ) -> Result<Vec<Hash>, Error> {
        let wanted: Vec<&Work> = wanted.into_iter().collect();
        let mut hashes = Vec::with_capacity(wanted.len());
        for same_key in wanted.chunk_by(|a, b| a.seed_hash == b.seed_hash) {
            hashes.extend(self.hash_with_one_key(same_key)?);
        }
        Ok(hashes)
    }

    fn hash_with_one_key(&mut self, wanted: &[&Work]) -> Result<Vec<Hash>, Error> {
        let seed_hash = wanted[0].seed_hash;
        let key = match self.key.take() {
            Some((held, key)) if held == seed_hash => key,
            held => {
                // Two caches at once are not needed.
                drop(held);
                self.machine.expand(&seed_hash, &self.progress.key(0, 1))?
            }
        };
        let mut batch = Batch::default();
        for work in wanted {
            batch.push(seed_hash.to_vec(), Version::V1, work.hashing_blob.clone());
        }
        let mut hashes = Vec::with_capacity(wanted.len());
        for group in batch.groups() {
            let group =
                hash_group(&self.machine, &key, &batch, &group, self.spread, self.progress)?;
            hashes.extend(group);
        }
        hashes.sort_unstable_by_key(|(job, _)| *job);
        self.key = Some((seed_hash, key));
        Ok(hashes.into_iter().map(|(_, hash)| hash).collect())
    }
}
