//! What ends a run early, in sentences that name the argument or the line.

use std::{io, net::SocketAddr, path::PathBuf};

use randomx::{CacheError, DatasetError, VmError};
use randomx_monero::{ChainError, CheckpointError};
use thiserror::Error;

use crate::{bytes::BytesError, node::NodeError, record::LineError};

/// The exit code of every error; a wrong command line ends with it too.
pub(crate) const UNUSABLE: u8 = 2;

/// Why there is no answer. Nothing has been printed when one of these is returned, except for
/// [`Error::Write`].
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("{name}: {problem}")]
    Argument { name: &'static str, problem: BytesError },

    #[error("{}: cannot be read: {problem}", .file.display())]
    Read { file: PathBuf, problem: io::Error },

    #[error("{file}: line {line}: {problem}")]
    Line { file: String, line: usize, problem: LineError },

    #[error("{file}: more than {limit} bytes; split the input")]
    TooManyBytes { file: String, limit: u64 },

    #[error("{file}: more than {limit} lines; split the input")]
    TooManyLines { file: String, limit: usize },

    #[error("{file}: no lines, so there is nothing to verify")]
    NothingToVerify { file: String },

    #[error("--node: {0}")]
    Node(NodeError),

    #[error("--from: expected a height, or --checkpoint a file that is there")]
    NoStart,

    #[error("--from: expected 1 or more: the genesis block has no proof of work")]
    NoWorkInGenesis,

    #[error("--from: expected {} or nothing, the checkpoint being of height {height}; got {from}", .height + 1)]
    NotAfterCheckpoint { from: u64, height: u64 },

    #[error("block {last} is before {first}, the next one to verify")]
    NothingNew { first: u64, last: u64 },

    #[error("what the node says of the chain up to block {height} ({id}) is believed")]
    Believed { height: u64, id: String },

    #[error("{}: not a checkpoint: {problem}", .file.display())]
    Checkpoint { file: PathBuf, problem: String },

    #[error("{}: cannot be written: {problem}", .file.display())]
    WriteCheckpoint { file: PathBuf, problem: io::Error },

    #[error("checkpoint: {0}")]
    Resume(#[from] CheckpointError),

    #[error(transparent)]
    Chain(#[from] ChainError),

    #[error(transparent)]
    Cache(#[from] CacheError),

    #[error(transparent)]
    Dataset(#[from] DatasetError),

    #[error("no memory for {what}: {} MiB needed", .bytes.div_ceil(1 << 20))]
    Memory { what: &'static str, bytes: usize },

    #[error("{problem} for each of {threads} threads; fewer --threads or --lanes need less")]
    Scratchpads { threads: usize, problem: VmError },

    #[error(transparent)]
    Vm(VmError),

    #[error("cannot start {threads} threads: {problem}; try fewer --threads")]
    Threads { threads: usize, problem: io::Error },

    #[error("{}: not a record of `randomx bench`: {problem}", .file.display())]
    Record { file: PathBuf, problem: serde_json::Error },

    #[error("{}: cannot be written: {problem}", .file.display())]
    WriteRecord { file: PathBuf, problem: io::Error },

    #[error("{0}")]
    Reference(String),

    #[error("{0}: not the hashes of the reference")]
    Differs(String),

    #[error("{0}")]
    Serve(String),

    #[error("cannot listen on {address}: {problem}")]
    Listen { address: SocketAddr, problem: io::Error },

    #[error("cannot write the results: {0}")]
    Write(io::Error),
}

impl Error {
    /// Whether it is that there was not enough memory.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        match self {
            Error::Memory { .. } | Error::Scratchpads { .. } => true,
            Error::Cache(problem) => matches!(problem, CacheError::OutOfMemory { .. }),
            Error::Dataset(problem) => matches!(problem, DatasetError::OutOfMemory { .. }),
            Error::Vm(problem) => matches!(problem, VmError::OutOfMemory { .. }),
            _ => false,
        }
    }
}

/// Prints on stderr an error that ends the run.
pub(crate) fn report(error: &Error) {
    randomx_console::print_message(&format!("error: {error}"));
}

/// Prints on stderr a problem that does not end the run.
pub(crate) fn note(error: &Error) {
    randomx_console::print_message(&format!("note: {error}"));
}
