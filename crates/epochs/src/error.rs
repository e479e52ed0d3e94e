//! Errors that end an audit. Messages name the argument or the file.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use randomx_arrow::KernelError;
use thiserror::Error;

/// The reason why an audit ended.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Error {
    #[error("cannot read {}: {problem}", .path.display())]
    Read { path: PathBuf, problem: io::Error },

    #[error("cannot write {}: {problem}", .path.display())]
    Write { path: PathBuf, problem: io::Error },

    #[error("{}: {problem}", .path.display())]
    Parquet { path: PathBuf, problem: ParquetError },

    #[error("{}: {problem}", .path.display())]
    Arrow { path: PathBuf, problem: ArrowError },

    #[error("{name}: {problem}")]
    Kernel { name: String, problem: KernelError },

    #[error("{}: expected a folder with Parquet files, got none of them", .path.display())]
    NoFiles { path: PathBuf },

    #[error("{}: expected Parquet files in one folder, got a subfolder, whose files are not read", .path.display())]
    Subfolder { path: PathBuf },

    #[error("{}: expected a name that ends in .parquet, got a Parquet file with another name, whose rows are not read", .path.display())]
    OtherName { path: PathBuf },

    #[error("--output {}: expected a folder outside the input {}, got one in it, which later runs would refuse as a subfolder", .output.display(), .input.display())]
    OutputInInput { output: PathBuf, input: PathBuf },

    #[error("{}: expected rows to verify{range}, got none", .path.display())]
    NoRows { path: PathBuf, range: String },

    #[error("--output {}: expected a new folder, or that of an earlier run, got one with other files", .folder.display())]
    OtherFiles { folder: PathBuf },

    #[error("{}: another process uses this folder; wait until it has ended, or name another folder", .folder.display())]
    InUse { folder: PathBuf },

    #[error("--output {}: expected a new folder, or that of {expected}, got that of {got}", .folder.display())]
    OtherRun { folder: PathBuf, expected: String, got: String },

    #[error("--output {}: expected a new folder, or that of an earlier run, got {problem} in run.json", .folder.display())]
    Manifest { folder: PathBuf, problem: String },

    #[error("--output {}: expected a folder that every machine of the run has, got none here", .folder.display())]
    NotShared { folder: PathBuf },

    #[error("{}: expected at most {most} runs of consecutive rows of one epoch, got more; sort the input by height", .path.display())]
    Scattered { path: PathBuf, most: usize },

    #[error("{}: expected rows of at most {most} epochs or seed hashes, got more", .path.display())]
    Epochs { path: PathBuf, most: usize },

    #[error("{}: expected at most {most} rows (1,048,576 plus one per byte of the file), got more", .path.display())]
    Rows { path: PathBuf, most: u64 },

    #[error("{}: expected a footer of at most {longest} bytes, got {length}; write fewer row groups", .path.display())]
    Footer { path: PathBuf, length: u64, longest: u64 },

    #[error("{}: expected rows that take at most {} MiB to read, got {} MiB; write smaller pages or fewer columns", .path.display(), .most >> 20, .needed.div_ceil(1 << 20))]
    Pages { path: PathBuf, needed: u64, most: u64 },

    #[error("{}: column {column:?}: {problem}", .path.display())]
    Column { path: PathBuf, column: String, problem: String },

    #[error("{}: the Parquet library failed on malformed data", .path.display())]
    Malformed { path: PathBuf },

    #[error("{}: expected a Parquet file, which ends with PAR1", .path.display())]
    NotParquet { path: PathBuf },

    #[error("{}: expected a Parquet file that is not encrypted, got one with an encrypted footer (PARE)", .path.display())]
    Encrypted { path: PathBuf },

    #[error("{} changed while the audit read it; run the command again when no process writes to it", .path.display())]
    Changed { path: PathBuf },

    #[error("{}: it was removed while the command ran, or is damaged", .path.display())]
    Gone { path: PathBuf },

    #[error("{}: expected the result of {asked} or of fewer, got that of {held}; choose a range with all of these blocks or with none, or use a new folder", .path.display())]
    MoreBlocks { path: PathBuf, held: String, asked: String },

    #[error("{}: expected a result of rules {known} or earlier, got one of rules {got}; use the newer release that wrote it, or a new folder", .path.display())]
    LaterRules { path: PathBuf, known: u32, got: u32 },

    #[error("the audit was stopped")]
    Stopped,
}

/// Runs code of the Parquet library, which panics on some malformed data. `path` is the file's.
pub(crate) fn without_panic<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let panicked = |_| Err(Error::Malformed { path: path.to_owned() });
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}
