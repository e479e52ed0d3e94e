//! A binary form for what is stored and handed to others: lengths are checked, nothing is guessed.

use crate::checkpoint::{Checkpoint, RecentBlock, Seed};
use crate::hash::{Hash, keccak256};
use crate::header::HashingBlob;
use crate::network::Network;

/// Appends fields, and a checksum at the end.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new(magic: &[u8; 8]) -> Self {
        Self(magic.to_vec())
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn u128(&mut self, value: u128) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn hash(&mut self, hash: &Hash) {
        self.0.extend(hash);
    }

    /// Appends a hashing blob, which has fewer than 256 bytes.
    pub(super) fn blob(&mut self, blob: &[u8]) {
        self.u8(blob.len() as u8);
        self.0.extend(blob);
    }

    pub(super) fn network(&mut self, network: Network) {
        self.u8(match network {
            Network::Mainnet => 0,
            Network::Stagenet => 1,
            Network::Testnet => 2,
            Network::Regtest => 3,
        });
    }

    pub(super) fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.u64(checkpoint.height);
        self.hash(&checkpoint.id);
        self.u128(checkpoint.work);
        self.u32(checkpoint.recent.len() as u32);
        for block in &checkpoint.recent {
            self.u64(block.timestamp);
            self.u128(block.difficulty);
        }
        self.u8(checkpoint.seeds.len() as u8);
        for seed in &checkpoint.seeds {
            self.u64(seed.height);
            self.hash(&seed.id);
        }
    }

    /// Returns the bytes with their checksum.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let checksum = keccak256(&[&self.0]);
        self.0.extend(checksum);
        self.0
    }
}

/// Reads fields back. Every method returns `None` if the bytes end early or have another form.
pub(super) struct Parser<'a>(&'a [u8]);

impl<'a> Parser<'a> {
    /// Begins after the magic bytes if these and the checksum are right.
    pub(super) fn new(magic: &[u8; 8], bytes: &'a [u8]) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk::<32>()?;
        (keccak256(&[content]) == *checksum).then_some(())?;
        content.strip_prefix(magic).map(Self)
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.bytes().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    pub(super) fn u128(&mut self) -> Option<u128> {
        self.bytes().map(u128::from_le_bytes)
    }

    pub(super) fn blob(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(self.u8()?);
        if length > HashingBlob::MAX_BYTES {
            return None;
        }
        let (blob, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(blob)
    }

    /// Reads the number of entries of at least `size` bytes that follow.
    pub(super) fn count(&mut self, size: usize) -> Option<usize> {
        let count = usize::try_from(self.u32()?).ok()?;
        (count <= self.0.len() / size).then_some(count)
    }

    pub(super) fn network(&mut self) -> Option<Network> {
        Network::ALL.get(usize::from(self.u8()?)).copied()
    }

    pub(super) fn checkpoint(&mut self) -> Option<Checkpoint> {
        let (height, id, work) = (self.u64()?, self.bytes()?, self.u128()?);
        let recent = (0..self.count(24)?)
            .map(|_| Some(RecentBlock { timestamp: self.u64()?, difficulty: self.u128()? }))
            .collect::<Option<Vec<_>>>()?;
        let seeds = (0..self.u8()?)
            .map(|_| Some(Seed { height: self.u64()?, id: self.bytes()? }))
            .collect::<Option<Vec<_>>>()?;
        Some(Checkpoint { height, id, work, recent, seeds })
    }

    /// Succeeds if nothing is left.
    pub(super) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
