//! The configurable parameters of RandomX (specification 1.2), and constants derived from them.

use std::fmt;

/// Bytes in a hash.
pub const HASH_SIZE: usize = 32;

/// `RANDOMX_ARGON_MEMORY`: Argon2 blocks of 1 KiB in the cache.
pub const ARGON_MEMORY: usize = 262_144;
/// `RANDOMX_ARGON_ITERATIONS`: passes over the cache.
pub const ARGON_ITERATIONS: usize = 3;
/// `RANDOMX_ARGON_SALT`.
pub const ARGON_SALT: &[u8] = b"RandomX\x03";

/// `RANDOMX_CACHE_ACCESSES`: cache lines, and SuperscalarHash functions, per dataset item.
pub const CACHE_ACCESSES: usize = 8;
/// `RANDOMX_SUPERSCALAR_LATENCY`: cycles that a SuperscalarHash program fills on the reference CPU.
pub const SUPERSCALAR_LATENCY: usize = 170;
/// The maximum number of instructions in a SuperscalarHash program (specification 6.3).
pub const SUPERSCALAR_MAX_SIZE: usize = 3 * SUPERSCALAR_LATENCY + 2;
/// Bytes of a key that seed the SuperscalarHash generator. Argon2d uses the whole key.
pub const GENERATOR_KEY_SIZE: usize = 60;

/// Bytes in a dataset item, and in a line of the cache.
pub const ITEM_SIZE: usize = 64;
/// `RANDOMX_DATASET_BASE_SIZE` in bytes.
pub const DATASET_BASE_SIZE: u64 = 2_147_483_648;
/// `RANDOMX_DATASET_EXTRA_SIZE` in bytes.
pub const DATASET_EXTRA_SIZE: u64 = 33_554_368;
/// Items in the whole dataset.
pub const DATASET_ITEMS: u32 = ((DATASET_BASE_SIZE + DATASET_EXTRA_SIZE) / ITEM_SIZE as u64) as u32;
/// Bytes in the whole dataset.
pub const DATASET_SIZE: usize = DATASET_ITEMS as usize * ITEM_SIZE;
/// The greatest dataset offset of a program, in items (specification 4.5.5).
pub const DATASET_EXTRA_ITEMS: u64 = DATASET_EXTRA_SIZE / ITEM_SIZE as u64;

/// Dataset items that are computed at once. No machine code is faster with more.
pub(crate) const DATASET_BATCH: usize = 96;

/// Bytes of Argon2 memory: the whole cache.
pub const CACHE_SIZE: usize = ARGON_MEMORY * 1024;

/// `RANDOMX_PROGRAM_ITERATIONS`.
pub const PROGRAM_ITERATIONS: usize = 2048;
/// `RANDOMX_PROGRAM_COUNT`: programs chained in one hash.
pub const PROGRAM_COUNT: usize = 8;
/// Bytes of configuration before a program's instructions (specification 4.5).
pub const PROGRAM_CONFIGURATION_SIZE: usize = 128;

/// `RANDOMX_JUMP_BITS`.
pub const JUMP_BITS: u32 = 8;
/// `RANDOMX_JUMP_OFFSET`.
pub const JUMP_OFFSET: u32 = 8;

/// `RANDOMX_SCRATCHPAD_L1` in bytes.
pub const SCRATCHPAD_L1: usize = 16_384;
/// `RANDOMX_SCRATCHPAD_L2` in bytes.
pub const SCRATCHPAD_L2: usize = 262_144;
/// `RANDOMX_SCRATCHPAD_L3` in bytes: the whole scratchpad.
pub const SCRATCHPAD_L3: usize = 2_097_152;

/// The maximum number of lanes of a [`Vm`](crate::Vm).
pub const MAX_LANES: usize = 8;
/// The maximum number of threads of one computation: more than processors have, and few enough
/// for a system to start.
pub const MAX_THREADS: usize = 1024;

/// A version of RandomX. Monero uses v1; v2 is tevador/RandomX 2.0. One cache serves both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// Programs of 256 instructions.
    #[default]
    V1,
    /// Programs of 384 instructions, a rare CFROUND, an AES mix of F and E, and `mp` = `ma`.
    V2,
}

impl Version {
    /// Both versions.
    pub const ALL: [Version; 2] = [Version::V1, Version::V2];

    /// Returns `RANDOMX_PROGRAM_SIZE`: the number of instructions in a program.
    pub const fn program_size(self) -> usize {
        match self {
            Version::V1 => 256,
            Version::V2 => 384,
        }
    }

    /// Returns the number of lanes that is probably fastest with a dataset; a [`Vm`](crate::Vm) measures
    /// it. Lanes hide each other's memory latency, until their machine code exceeds what a processor
    /// keeps decoded.
    pub const fn fast_lanes(self) -> usize {
        match self {
            Version::V1 => 4,
            Version::V2 => 2,
        }
    }

    /// Returns the number of dataset items whose numbers are known when an iteration needs the
    /// first of them: v1 reads the item of `mp` one iteration later, v2 two (specification 4.6.2,
    /// steps 5 to 8).
    pub const fn known_items(self) -> usize {
        match self {
            Version::V1 => 2,
            Version::V2 => 3,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::V1 => "v1",
            Version::V2 => "v2",
        })
    }
}

/// A version number that is neither 1 nor 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownVersion {
    /// The number that was given.
    pub number: u64,
}

impl fmt::Display for UnknownVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version: expected 1 or 2, got {}", self.number)
    }
}

impl std::error::Error for UnknownVersion {}

impl TryFrom<u64> for Version {
    type Error = UnknownVersion;

    fn try_from(number: u64) -> Result<Version, UnknownVersion> {
        match number {
            1 => Ok(Version::V1),
            2 => Ok(Version::V2),
            _ => Err(UnknownVersion { number }),
        }
    }
}
