//! Audits the proofs of work of a list, one epoch at a time, into Parquet files.
//!
//! An [`Input`] of Parquet files or JSON lines is divided into [`Task`]s, one for each epoch. [`audit`]
//! verifies the rows of a task and writes its file into a [`Folder`], and [`summarize`] sums up all
//! files. The program `randomx-audit` and the Python package share this code, so both write the same
//! bytes: they depend on the input alone.
//!
//! A file appears when it is whole, and contains a checksum. A task that has its file, undamaged, is done.
//! Any process can work on any task: a task and its rows can be sent to another machine, and files can be in
//! any [`Storage`].

mod audit;
mod checksum;
mod difficulties;
mod epoch;
mod error;
mod folder;
mod input;
mod links;
mod locks;
mod new_file;
mod storage;
mod summary;
mod task;

pub use audit::{RULES, audit, done, kernel, left, previous, summarize};
pub use difficulties::difficulties;
pub use epoch::{Epoch, contains, label};
pub use error::Error;
pub use folder::{Folder, Held, Manifest, State};
pub use input::{Format, Input, ROWS, Rows};
pub use links::{Links, linked};
pub use new_file::NewFile;
pub use storage::{Local, Storage, StoredFile};
pub use summary::{Counts, EpochSummary, Evidence, Summary};
pub use task::{Take, Task};
