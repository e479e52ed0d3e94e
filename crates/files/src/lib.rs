//! Files of native programs.
//!
//! [`FolderLock`] locks a folder for one process. [`replace_file`] replaces a file as a whole: whenever the process or the
//! system ends, the old or the new file is there. [`read_up_to`] bounds the memory that a file takes.

mod folder;
mod lock;
mod read;
mod replace;

pub use folder::{flush_folder, folder_of};
pub use lock::{FolderLock, LockError};
pub use read::read_up_to;
pub use replace::{can_replace_file, remove_leftovers, remove_old_leftovers, replace_file};
