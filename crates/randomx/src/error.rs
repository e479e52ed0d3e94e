//! Errors: failed allocations, and options that cannot be met.

use std::fmt;

use crate::params::{MAX_LANES, MAX_THREADS};

/// An error from creating a [`Cache`](crate::Cache).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheError {
    /// The 256 MiB of the cache could not be allocated, or exceed the free memory and swap of the machine or the
    /// container. Only Linux reports these.
    OutOfMemory {
        /// Bytes requested.
        bytes: usize,
    },
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheError::OutOfMemory { bytes } => {
                write!(f, "no memory for the RandomX cache: {} MiB needed", bytes >> 20)
            }
        }
    }
}

impl std::error::Error for CacheError {}

/// An error from creating a [`Dataset`](crate::Dataset).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatasetError {
    /// The 2080 MiB of the dataset could not be allocated, or exceed the free memory of the machine or the container.
    /// Systems other than Linux and Windows do not report that memory.
    OutOfMemory {
        /// Bytes requested.
        bytes: usize,
    },
    /// The number of threads is not from 1 to [`MAX_THREADS`].
    Threads {
        /// Threads requested.
        requested: usize,
    },
    /// The caller cancelled the computation.
    Cancelled,
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatasetError::OutOfMemory { bytes } => {
                // The dataset is 64 bytes short of a whole MiB.
                let mebibytes = bytes.div_ceil(1 << 20);
                write!(f, "no memory for the RandomX dataset: {mebibytes} MiB needed")
            }
            DatasetError::Threads { requested } => fmt_threads(f, *requested),
            DatasetError::Cancelled => {
                f.write_str("the dataset was cancelled before it was complete")
            }
        }
    }
}

impl std::error::Error for DatasetError {}

/// An error from creating machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JitError {
    /// This build has no compiler for this processor.
    Unsupported,
    /// The system has no memory for code, or refuses to make it executable.
    Memory(std::io::ErrorKind),
    /// The code does not fit the memory allocated for it.
    TooLong,
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JitError::Unsupported => f.write_str("no machine code for this processor"),
            JitError::Memory(kind) => write!(f, "cannot map executable memory: {kind}"),
            JitError::TooLong => f.write_str("the machine code is too long for its memory"),
        }
    }
}

impl std::error::Error for JitError {}

/// An error from creating a [`Vm`](crate::Vm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VmError {
    /// The lanes' scratchpads, 2 MiB each, could not be allocated, or exceed the free memory and swap of the machine or
    /// the container.
    OutOfMemory {
        /// Bytes requested.
        bytes: usize,
    },
    /// The number of lanes is not from 1 to [`MAX_LANES`].
    Lanes {
        /// Lanes requested.
        requested: usize,
    },
    /// Machine code was requested and is not available.
    Jit(JitError),
}

impl fmt::Display for VmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VmError::OutOfMemory { bytes } => {
                write!(f, "no memory for the RandomX scratchpads: {} MiB needed", bytes >> 20)
            }
            VmError::Lanes { requested } => {
                write!(f, "lanes: expected 1 to {MAX_LANES}, got {requested}")
            }
            VmError::Jit(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for VmError {}

impl From<JitError> for VmError {
    fn from(error: JitError) -> VmError {
        VmError::Jit(error)
    }
}

/// An error from creating a [`VmPool`](crate::VmPool).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// The number of threads is not from 1 to [`MAX_THREADS`].
    Threads {
        /// Threads requested.
        requested: usize,
    },
    /// The scratchpads of all threads could not be allocated, or exceed the free memory and swap of the machine or the
    /// container.
    OutOfMemory {
        /// Bytes requested.
        bytes: usize,
    },
    /// An option of the VMs cannot be met.
    Vm(VmError),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolError::Threads { requested } => fmt_threads(f, *requested),
            PoolError::OutOfMemory { bytes } => {
                write!(f, "no memory for the RandomX scratchpads: {} MiB needed", bytes >> 20)
            }
            PoolError::Vm(problem) => problem.fmt(f),
        }
    }
}

impl std::error::Error for PoolError {}

fn fmt_threads(f: &mut fmt::Formatter<'_>, requested: usize) -> fmt::Result {
    write!(f, "threads: expected 1 to {MAX_THREADS}, got {requested}")
}
