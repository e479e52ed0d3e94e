//! Skips a build if its inputs and outputs are unchanged since the last run.
//!
//! Stamps compare contents instead of times: a checkout changes the times of files, and somebody
//! may have overwritten an output by hand.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace;

/// Folders that hold built or installed files, never sources.
const BUILT: [&str; 5] = ["dist", "node_modules", "pkg", "site", "target"];

/// A record of a build's inputs and outputs.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Stamp {
    file: PathBuf,
    inputs: u64,
    outputs: PathBuf,
}

impl Stamp {
    /// Describes a build: the files and folders of the repository that it reads, other values that
    /// its result depends on, and the folder that it writes.
    pub(crate) fn new(name: &str, inputs: &[&str], other: &[&str], outputs: &str) -> Result<Self> {
        let root = workspace::root();
        let mut hasher = DefaultHasher::new();
        other.hash(&mut hasher);
        for input in inputs {
            input.hash(&mut hasher);
            hash_tree(&root.join(input), &mut hasher)?;
        }
        Ok(Self {
            file: workspace::target_dir().join("xtask").join(name),
            inputs: hasher.finish(),
            outputs: root.join(outputs),
        })
    }

    /// Whether the build can be skipped.
    pub(crate) fn is_fresh(&self) -> bool {
        let Ok(stamp) = fs::read_to_string(&self.file) else {
            return false;
        };
        self.outputs.is_dir() && self.text().is_ok_and(|text| text == stamp)
    }

    /// Records that the build is done.
    pub(crate) fn write(&self) -> Result<()> {
        let folder = self.file.parent().context("a stamp has a folder")?;
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&self.file, self.text()?))
            .with_context(|| format!("cannot write {}", self.file.display()))
    }

    fn text(&self) -> std::io::Result<String> {
        let mut hasher = DefaultHasher::new();
        hash_tree(&self.outputs, &mut hasher)?;
        Ok(format!("{:016x} {:016x}\n", self.inputs, hasher.finish()))
    }
}

/// Hashes the names and contents of the files below `path`, which may be absent.
fn hash_tree(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if !BUILT.iter().any(|built| name == *built) {
                name.hash(hasher);
                hash_tree(&entry.path(), hasher)?;
            }
        }
    } else if path.is_file() {
        fs::read(path)?.hash(hasher);
    }
    Ok(())
}
