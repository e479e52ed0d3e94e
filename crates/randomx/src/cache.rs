//! The cache (specification 7.1 and 7.2): 256 MiB that Argon2d fills from the key, and the eight
//! SuperscalarHash programs of that key.

use std::fmt;

use crate::argon2d::{FILL_BLOCKS, Fill};
use crate::cpu::Cpu;
use crate::error::CacheError;
use crate::memory::{Line, Memory, Pages, Room};
use crate::params::{CACHE_ACCESSES, CACHE_SIZE};
use crate::superscalar::{Program, programs};

/// An expanded key, from which dataset items are computed, for v1 and v2 alike.
///
/// A cache is read-only. Any number of VMs and threads can share it.
pub struct Cache {
    memory: Memory,
    programs: [Program; CACHE_ACCESSES],
}

impl Cache {
    /// Expands `key`, which takes a large part of a second.
    ///
    /// A key can have any length, including zero. Argon2d uses all of it, but of 2^32 + n bytes only the first n, as
    /// the reference implementation does. The SuperscalarHash programs depend on the first 60 bytes of the key, as there.
    ///
    /// # Errors
    ///
    /// [`CacheError::OutOfMemory`] if 256 MiB cannot be allocated or exceed the free memory and swap.
    pub fn new(key: &[u8]) -> Result<Cache, CacheError> {
        Ok(CacheBuilder::new(key, Cpu::detect())?.finish())
    }

    /// Returns the memory as 33,554,432 words of 8 bytes, in the byte order of the processor.
    pub fn words(&self) -> &[u64] {
        self.memory.as_slice()
    }

    /// Returns the kind of pages that hold the memory.
    pub fn pages(&self) -> Pages {
        self.memory.pages()
    }

    /// Returns the bytes of the memory that lie on huge pages now, where the system reports it.
    pub fn huge_bytes(&self) -> Option<usize> {
        self.memory.huge_bytes()
    }

    /// Returns the memory, for reuse with another key.
    pub fn into_memory(self) -> CacheMemory {
        CacheMemory(self.memory)
    }

    pub(crate) fn lines(&self) -> &[Line] {
        self.memory.as_slice()
    }

    /// Returns the SuperscalarHash programs, in order of use.
    pub(crate) fn programs(&self) -> &[Program; CACHE_ACCESSES] {
        &self.programs
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

/// The memory of a cache without a key.
pub struct CacheMemory(Memory);

impl CacheMemory {
    /// Allocates the memory.
    ///
    /// # Errors
    ///
    /// [`CacheError::OutOfMemory`] if 256 MiB cannot be allocated or exceed the free memory and swap.
    pub fn new() -> Result<CacheMemory, CacheError> {
        let memory = Memory::zeroed_if_available(CACHE_SIZE, Room::MemoryAndSwap);
        memory.map(CacheMemory).map_err(|_| CacheError::OutOfMemory { bytes: CACHE_SIZE })
    }

    /// Returns the kind of pages that hold the memory.
    pub fn pages(&self) -> Pages {
        self.0.pages()
    }

    /// Returns the memory's address, which stays the same when a cache is built in it.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

impl fmt::Debug for CacheMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheMemory").field("pages", &self.pages()).finish_non_exhaustive()
    }
}

/// A cache that is filled in pieces, for callers that show progress or may cancel. Dropping it
/// releases its memory.
pub struct CacheBuilder {
    memory: Memory,
    fill: Fill,
    programs: [Program; CACHE_ACCESSES],
}

impl CacheBuilder {
    /// The number of blocks to fill, of 1 KiB each: three passes over 262,144 blocks.
    pub const BLOCKS: usize = FILL_BLOCKS;

    /// Allocates the memory for `key` and fills nothing yet. `cpu` holds the extensions that may be
    /// used; it does not change the result.
    ///
    /// # Errors
    ///
    /// [`CacheError::OutOfMemory`] if 256 MiB cannot be allocated or exceed the free memory and swap.
    pub fn new(key: &[u8], cpu: Cpu) -> Result<CacheBuilder, CacheError> {
        Ok(CacheBuilder::in_memory(CacheMemory::new()?, key, cpu))
    }

    /// Starts a cache for `key` in existing memory, whose contents are lost.
    pub fn in_memory(memory: CacheMemory, key: &[u8], cpu: Cpu) -> CacheBuilder {
        let CacheMemory(memory) = memory;
        CacheBuilder { memory, fill: Fill::new(key, cpu), programs: programs(key, cpu) }
    }

    /// Fills at most `blocks` more blocks, and returns whether all are filled.
    pub fn fill(&mut self, blocks: usize) -> bool {
        self.fill.advance(self.memory.as_mut_slice(), blocks);
        self.filled() == Self::BLOCKS
    }

    /// Returns the number of blocks filled so far, of [`BLOCKS`](Self::BLOCKS).
    pub fn filled(&self) -> usize {
        self.fill.done()
    }

    /// Fills the remaining blocks and returns the cache.
    pub fn finish(mut self) -> Cache {
        self.fill(Self::BLOCKS);
        Cache { memory: self.memory, programs: self.programs }
    }
}

impl fmt::Debug for CacheBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheBuilder").field("filled", &self.filled()).finish_non_exhaustive()
    }
}
