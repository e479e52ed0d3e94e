//! Audits the proofs of work of a list, one epoch at a time, into Parquet files.
//!
//! An [`Input`] of Parquet files or JSON lines is divided into [`Task`]s, one for each epoch. [`audit`]
//! verifies the rows of a task and writes its file into a [`Folder`], and [`summarize`] sums up all
//! files. The program `randomx-audit` and the Python package share this code, so both write the same
//! bytes: they depend on the input alone.
//!
//! A file is whole or absent, so a task that has its file is done. Any process can work on any task:
//! a task and its rows can be sent to another machine, and files can be in any [`Storage`].

mod audit;
mod epoch;
mod error;
mod folder;
mod input;
mod links;
mod storage;
mod summary;

pub use audit::{Take, Task, audit, done, done_in_chain, kernel, left, summarize};
pub use epoch::Epoch;
pub use error::Error;
pub use folder::{Folder, Manifest, NewFile};
pub use input::{Format, Input, ROWS, Rows, label};
pub use links::Links;
pub use storage::{Local, Storage, StoredFile};
pub use summary::{Counts, EpochSummary, Evidence, Summary};
