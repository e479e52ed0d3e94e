//! Errors that end a run, and exit codes. Messages name the argument, the file or the line.

use std::{fmt::Display, io, net::SocketAddr, path::PathBuf};

use randomx::{CacheError, DatasetError, VmError};
use randomx_client::{FollowerError, HashError, ProxyError, RelayError, StoreFileError};
use randomx_guard::GuardError;
use randomx_monero::{
    ChainError, CheckpointError,
    client::{EvidenceError, StartError},
};
use thiserror::Error;

use crate::{bytes::BytesError, node::NodeError, record::LineError};

/// The exit code if a line, a block or a side of evidence is not valid.
pub(crate) const NOT_VALID: u8 = 1;

/// The exit code of every error, and of a wrong command line.
pub(crate) const UNUSABLE: u8 = 2;

/// The reason why a run ended.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("{name}: {problem}")]
    Argument { name: &'static str, problem: BytesError },

    #[error("{}: cannot read it: {problem}", .file.display())]
    Read { file: PathBuf, problem: io::Error },

    #[error("{file}: line {line}: {problem}")]
    Line { file: String, line: u64, problem: LineError },

    #[error("{}: expected at most {limit} bytes", .file.display())]
    TooLarge { file: PathBuf, limit: u64 },

    #[error("{file}: expected at least one line, got none")]
    NothingToVerify { file: String },

    #[error("--node: {0}")]
    Node(NodeError),

    #[error(transparent)]
    Proxy(#[from] ProxyError),

    #[error("--from: expected a height, or --checkpoint with an existing file")]
    NoStart,

    #[error("--from: expected 1 or more: the genesis block has no proof of work")]
    NoWorkInGenesis,

    #[error("--from: expected {} or nothing after the checkpoint at height {height}, got {from}", .height + 1)]
    NotAfterCheckpoint { from: u64, height: u64 },

    #[error("--to: expected {from} or more, as in --from, got {to}")]
    EndBeforeStart { from: u64, to: u64 },

    #[error("nothing to verify: the last block is {last}, and the next one to verify is {first}")]
    NothingNew { first: u64, last: u64 },

    #[error("--to: the node's chain ends at block {tip}; verifying up to there")]
    ChainEnds { tip: u64 },

    #[error(
        "the node has another block at the checkpoint's height {height}: {id}; if a reorganisation replaced the checkpoint's block, use an older checkpoint, or remove the file and begin with --from"
    )]
    OtherChain { height: u64, id: String },

    #[error(
        "the node's chain was reorganised while it was read: block {height} does not follow the block that the node sent before it, and the node has another one now; verify again"
    )]
    Reorganised { height: u64 },

    #[error(
        "block {height} does not follow the block that the node sent before it, and the node did not say whether its chain was reorganised meanwhile: {problem}; verify again"
    )]
    NotAskedAgain { height: u64, problem: Box<Error> },

    #[error(
        "block {height} is ahead of this clock: {detail}; set the clock, or use another node if the clock is right"
    )]
    EarlyBlock { height: u64, detail: String },

    #[error(
        "internal error: blocks {first} to {last} pass every rule, but the light client did not adopt them; please report this"
    )]
    NotAdopted { first: u64, last: u64 },

    #[error("the node is trusted about the chain up to block {height} ({id})")]
    Trusted { height: u64, id: String },

    #[error("{}: not a checkpoint: {problem}", .file.display())]
    Checkpoint { file: PathBuf, problem: String },

    #[error("{}: cannot write it: {problem}", .file.display())]
    WriteCheckpoint { file: PathBuf, problem: io::Error },

    #[error("--start {}: not used, because {} has a state to go on from", .file.display(), .state.display())]
    UnusedStart { file: PathBuf, state: PathBuf },

    #[error(
        "--start {}: expected block {stored} at height {height} as in {}, got {given}",
        .file.display(),
        .state.display()
    )]
    OtherStart { file: PathBuf, state: PathBuf, height: u64, stored: String, given: String },

    #[error(
        "--store: block {height} breaks a rule of this release; the blocks after {tip} were dropped"
    )]
    DroppedBlocks { height: u64, tip: u64 },

    #[error("checkpoint: {0}")]
    Resume(#[from] CheckpointError),

    #[error(transparent)]
    Start(#[from] StartError),

    #[error(transparent)]
    Chain(#[from] ChainError),

    #[error(transparent)]
    Cache(#[from] CacheError),

    #[error(transparent)]
    Dataset(#[from] DatasetError),

    #[error("no memory for {what}: {} MiB needed", .bytes.div_ceil(1 << 20))]
    Memory { what: &'static str, bytes: usize },

    #[error("{problem} for each of {threads} threads; use fewer --threads or --lanes")]
    Scratchpads { threads: usize, problem: VmError },

    #[error(transparent)]
    Vm(VmError),

    #[error("cannot start {threads} threads: {problem}; use fewer --threads")]
    Threads { threads: usize, problem: io::Error },

    #[error("cannot start the thread that reads the input: {0}")]
    Reader(io::Error),

    #[error("cannot start the threads that write the output: {0}")]
    Printers(io::Error),

    #[error("{}: not a record of `randomx bench`: {problem}", .file.display())]
    Record { file: PathBuf, problem: serde_json::Error },

    #[error("{}: cannot write it: {problem}", .file.display())]
    WriteRecord { file: PathBuf, problem: io::Error },

    #[error("--xmrig: expected --against xmrig, got --against reference")]
    UnusedXmrig,

    #[error("{0}")]
    Reference(String),

    #[error("{0}: the hashes differ from the reference's")]
    Differs(String),

    #[error("the measurement was stopped")]
    Stopped,

    #[error("{0}")]
    Serve(String),

    #[error("cannot listen on {address}: {problem}")]
    Listen { address: SocketAddr, problem: io::Error },

    #[cfg(unix)]
    #[error("--listen {}: {problem}", .path.display())]
    Socket { path: PathBuf, problem: io::Error },

    #[error(transparent)]
    Follow(#[from] FollowerError),

    #[error(transparent)]
    Store(#[from] StoreFileError),

    #[error(transparent)]
    Relay(#[from] RelayError),

    #[error(transparent)]
    Guard(#[from] GuardError),

    #[error("hashing: {0}")]
    Hash(HashError),

    #[error("no random numbers: {0}")]
    Randomness(String),

    #[error("no source could be followed: {0}")]
    NoSource(String),

    #[error("{}: {problem}", .file.display())]
    Evidence { file: PathBuf, problem: EvidenceError },

    #[error("{}: cannot write evidence: {problem}", .folder.display())]
    WriteEvidence { folder: PathBuf, problem: io::Error },

    #[error(
        "{command}: expected the program randomx-audit beside this one or in PATH; \
         `cargo install --locked --path crates/audit` installs it"
    )]
    NotInstalled { command: &'static str },

    #[error("{command}: cannot run randomx-audit: {problem}")]
    External { command: &'static str, problem: io::Error },

    #[error("cannot write the results: {0}")]
    Write(io::Error),

    /// Ends a run whose results nobody reads. Never reported.
    #[error("the reader of the results has closed the pipe")]
    PipeClosed,
}

impl Error {
    /// Whether there was not enough memory.
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
    randomx_console::print_message(&error_line(error));
}

/// Prints on stderr a problem that does not end the run.
pub(crate) fn note(error: &Error) {
    randomx_console::print_message(&note_line(error));
}

/// Returns the line on stderr for an error that ends the run.
pub(crate) fn error_line(error: &Error) -> String {
    format!("error: {error}")
}

/// Returns the line on stderr for a problem that does not end the run.
pub(crate) fn note_line(problem: impl Display) -> String {
    format!("note: {problem}")
}
