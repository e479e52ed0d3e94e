//! The cache (specification 7.1 and 7.2): 256 MiB filled by Argon2d from the key, and the eight
//! SuperscalarHash functions of that key.

use std::fmt;

use crate::argon2d::{FILL_BLOCKS, Fill};
use crate::cpu::Cpu;
use crate::error::CacheError;
use crate::memory::{Line, Memory, Pages};
use crate::params::{CACHE_ACCESSES, CACHE_SIZE};
use crate::superscalar::{Program, programs};

/// What a key expands to: all that is needed to compute dataset items, for v1 and v2 alike.
///
/// It is read-only and can be shared by any number of VMs and threads.
pub struct Cache {
    memory: Memory,
    programs: [Program; CACHE_ACCESSES],
}

impl Cache {
    /// Expands `key`, which takes a good part of a second.
    ///
    /// A key can have any length, none included. All of it goes into Argon2d; the
    /// SuperscalarHash functions depend on its first 60 bytes, as in the reference implementation.
    ///
    /// # Errors
    ///
    /// [`CacheError::OutOfMemory`] when 256 MiB cannot be allocated.
    pub fn new(key: &[u8]) -> Result<Cache, CacheError> {
        Ok(CacheBuilder::new(key, Cpu::detect())?.finish())
    }

    /// The memory as little-endian words of 8 bytes, 33,554,432 of them.
    pub fn words(&self) -> &[u64] {
        self.memory.as_slice()
    }

    /// The kind of pages that the memory was given.
    pub fn pages(&self) -> Pages {
        self.memory.pages()
    }

    /// Bytes of the memory that lie on huge pages now, where the system tells.
    pub fn huge_bytes(&self) -> Option<usize> {
        self.memory.huge_bytes()
    }

    /// The memory, for another key.
    pub fn into_memory(self) -> CacheMemory {
        CacheMemory(self.memory)
    }

    pub(crate) fn lines(&self) -> &[Line] {
        self.memory.as_slice()
    }

    /// The SuperscalarHash programs, in the order in which they are used.
    pub fn programs(&self) -> &[Program; CACHE_ACCESSES] {
        &self.programs
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

/// The memory of a cache, had before there is a key, or kept for the next one.
pub struct CacheMemory(Memory);

impl CacheMemory {
    /// Allocates it.
    ///
    /// # Errors
    ///
    /// [`CacheError::OutOfMemory`] when 256 MiB cannot be had.
    pub fn new() -> Result<CacheMemory, CacheError> {
        let memory = Memory::zeroed_if_available(CACHE_SIZE);
        memory.map(CacheMemory).map_err(|_| CacheError::OutOfMemory { bytes: CACHE_SIZE })
    }

    /// The kind of pages that the memory was given.
    pub fn pages(&self) -> Pages {
        self.0.pages()
    }

    /// Where the memory is, also while a cache is in it.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

impl fmt::Debug for CacheMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheMemory").field("pages", &self.pages()).finish_non_exhaustive()
    }
}

/// A cache that is being filled piece by piece, for callers that show progress or may give up.
/// Dropping it releases its memory.
pub struct CacheBuilder {
    memory: Memory,
    fill: Fill,
    programs: [Program; CACHE_ACCESSES],
}

impl CacheBuilder {
    /// Blocks to fill, of 1 KiB each: three passes over 262,144 blocks.
    pub const BLOCKS: usize = FILL_BLOCKS;

    /// Allocates the memory for `key`, with nothing filled yet. `cpu` says what may be used to
    /// fill it; the result is the same with all.
    ///
    /// # Errors
    ///
    /// [`CacheError::OutOfMemory`] when 256 MiB cannot be allocated.
    pub fn new(key: &[u8], cpu: Cpu) -> Result<CacheBuilder, CacheError> {
        Ok(CacheBuilder::in_memory(CacheMemory::new()?, key, cpu))
    }

    /// The same in memory that is there; what it holds is lost.
    pub fn in_memory(memory: CacheMemory, key: &[u8], cpu: Cpu) -> CacheBuilder {
        let CacheMemory(memory) = memory;
        CacheBuilder { memory, fill: Fill::new(key, cpu), programs: programs(key, cpu) }
    }

    /// Fills at most `blocks` more blocks; says whether all are filled.
    pub fn fill(&mut self, blocks: usize) -> bool {
        self.fill.advance(self.memory.as_mut_slice(), blocks);
        self.filled() == Self::BLOCKS
    }

    /// Blocks filled so far, of [`BLOCKS`](Self::BLOCKS).
    pub fn filled(&self) -> usize {
        self.fill.done()
    }

    /// Fills what is left.
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
