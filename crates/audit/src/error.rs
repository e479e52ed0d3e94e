//! Errors that end a run, and exit codes. Messages name the argument or the file.

use std::io;
use std::path::PathBuf;

use arrow_schema::ArrowError;
use randomx_client::{ProxyError, SourceError};
use randomx_monero::client::StartError;
use randomx_monero::{LATEST_VERSION, MAX_HEIGHT};
use thiserror::Error;

/// The exit code if a proof of work is not valid.
pub(crate) const NOT_VALID: u8 = 1;

/// The exit code of every error, and of a wrong command line.
pub(crate) const UNUSABLE: u8 = 2;

/// The reason why a run ended.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Epochs(randomx_epochs::Error),

    #[error("{0}, or allow more with --memory")]
    Needs(randomx_epochs::Error),

    #[error("{problem}; the store begins with block {first}, since it forgets old blocks")]
    Forgotten { problem: randomx_epochs::Error, first: u64 },

    #[error(transparent)]
    Proxy(#[from] ProxyError),

    #[error("cannot read {}: {problem}", .path.display())]
    Read { path: PathBuf, problem: io::Error },

    #[error("--memory: expected at least {needed} MiB for one thread, got {given} MiB")]
    Memory { needed: usize, given: usize },

    #[error("--from: expected at most {last}, the last block to read, got {first}")]
    Range { first: u64, last: u64 },

    #[error(
        "--from: expected at most {last}, got {first}: without --to, the ten newest blocks are not read"
    )]
    Unsettled { first: u64, last: u64 },

    #[error("--to: expected at most {tip}, the last block of the chain, got {to}")]
    ChainEnds { tip: u64, to: u64 },

    #[error("--from: expected a height of 1 or more, since the genesis block has no proof of work")]
    Genesis,

    #[error(
        "newest block of the node or relay: expected a height of at most {MAX_HEIGHT}, got {tip}"
    )]
    Tip { tip: u64 },

    #[error("newest block of the node or relay: expected its height and id, got none")]
    NoTip,

    #[error("--store: expected blocks after the one that the client began with, got none")]
    NoBlocks,

    #[error("{option}: expected at least {first}, the first block of the store, got {given}")]
    StoreBegins { option: &'static str, first: u64, given: u64 },

    #[error("block {height}: {problem}")]
    Block { height: u64, problem: String },

    #[error(
        "block {height} does not follow the one before it: expected the previous id {expected}, got {got}; \
         the chain changed meanwhile, or is another one; {advice}"
    )]
    Unlinked { height: u64, expected: String, got: String, advice: String },

    #[error(
        "block {height}: its version {version} needs an update: this release knows versions up to {LATEST_VERSION}"
    )]
    Version { height: u64, version: u8 },

    #[error("{reason}")]
    Unjudged { reason: String },

    #[error(
        "block {height} was replaced while blocks were read: expected {read}, got {now}; run the command again"
    )]
    Replaced { height: u64, read: String, now: String },

    #[error(
        "--output {}: expected the chain of an earlier run, in which {file} ends with block {height}, \
         {expected}, got one with {got} there; use a new folder, or remove that file if the chain changed \
         meanwhile", .folder.display()
    )]
    OtherChain { folder: PathBuf, file: String, height: u64, expected: String, got: String },

    #[error(
        "--output {}: expected the chain of an earlier run, in which {file} begins after block {height}, \
         {expected}, got one with {got} there; use a new folder, or remove that file if the chain changed \
         meanwhile", .folder.display()
    )]
    OtherStart { folder: PathBuf, file: String, height: u64, expected: String, got: String },

    #[error(
        "--output {}: expected difficulty {expected} of block {height}, which {file} has from an earlier run, got {got}; \
         use a new folder, or remove that file", .folder.display()
    )]
    OtherDifficulty { folder: PathBuf, file: String, height: u64, expected: String, got: u128 },

    #[error(
        "--output {}: expected blocks in {file} that each follow the one before it, got others; use a new \
         folder", .folder.display()
    )]
    NoLinks { folder: PathBuf, file: String },

    #[error(
        "--output {}: {file} has {held}, which {asked} would replace; to read all of them, expected a chain \
         with block {last}, got one that ends with block {tip}; run the command again when the node has that \
         block, or use a new folder", .folder.display()
    )]
    Behind { folder: PathBuf, file: String, held: String, asked: String, last: u64, tip: u64 },

    #[error(
        "--output {}: {file} is damaged, so it may have had any of {held}, which {asked} would replace; \
         remove it and run the command again", .folder.display()
    )]
    Damaged { folder: PathBuf, file: String, held: String, asked: String },

    #[error("expected --parquet, --jsonl, --node, --relay or --store")]
    NoInput,

    #[error(transparent)]
    Source(#[from] SourceError),

    #[error(transparent)]
    Batch(#[from] ArrowError),

    #[error("{}: {problem}", .path.display())]
    Store { path: PathBuf, problem: StartError },

    #[error("{}: block {height} breaks a rule of this release", .path.display())]
    BrokenRule { path: PathBuf, height: u64 },

    #[error("cannot write the results: {0}")]
    Output(io::Error),
}

impl From<randomx_epochs::Error> for Error {
    fn from(problem: randomx_epochs::Error) -> Error {
        match problem {
            randomx_epochs::Error::Footer { .. } | randomx_epochs::Error::Pages { .. } => {
                Error::Needs(problem)
            }
            _ => Error::Epochs(problem),
        }
    }
}
