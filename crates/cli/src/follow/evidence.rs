//! Files with evidence.

use std::{fs, io, path::PathBuf};

use randomx_files::{can_replace_file, remove_old_leftovers, replace_file};
use randomx_monero::client::Evidence;

use crate::error::Error;

/// The number of files from which no more disagreements are written. A source that shows another chain each
/// time must not fill the disk. A lie is always written: a source is asked no more after its first one.
const MAX_FILES: usize = 100;

/// A folder with a file for each evidence, which its content names: the same is not written twice.
pub(super) struct EvidenceFolder(PathBuf);

impl EvidenceFolder {
    /// Creates the folder if it is absent, and checks that files can be written to it: a source chooses when it
    /// sends false data, and its evidence should not fail then for a reason that was there before.
    pub(super) fn open(folder: PathBuf) -> Result<EvidenceFolder, Error> {
        let check = || {
            fs::create_dir_all(&folder)?;
            can_replace_file(&folder.join("evidence-check.bin"))
        };
        match check() {
            Ok(()) => Ok(EvidenceFolder(folder)),
            Err(problem) => Err(Error::WriteEvidence { folder, problem }),
        }
    }

    /// Writes evidence and returns the file, or `None` for a disagreement if there are too many files already.
    pub(super) fn write(
        &self,
        evidence: &Evidence,
        is_lie: bool,
    ) -> Result<Option<PathBuf>, Error> {
        let EvidenceFolder(folder) = self;
        let write = || {
            fs::create_dir_all(folder)?;
            let bytes = evidence.to_bytes();
            // The checksum at the end stands for the content.
            let name = hex::encode(&bytes[bytes.len().saturating_sub(8)..]);
            let file = folder.join(format!("evidence-{name}.bin"));
            if file.exists() {
                return Ok(Some(file));
            }
            if self.count()? >= MAX_FILES && !is_lie {
                return Ok(None);
            }
            replace_file(&file, &bytes)?;
            Ok(Some(file))
        };
        write().map_err(|problem| Error::WriteEvidence { folder: folder.clone(), problem })
    }

    /// Counts the files, and removes those that a process left when it ended while it wrote.
    fn count(&self) -> io::Result<usize> {
        remove_old_leftovers(&self.0, is_evidence);
        let mut count = 0;
        for entry in fs::read_dir(&self.0)? {
            count += usize::from(is_evidence(&entry?.file_name().to_string_lossy()));
        }
        Ok(count)
    }
}

/// Whether a file of this name has evidence.
fn is_evidence(name: &str) -> bool {
    name.starts_with("evidence-") && name.ends_with(".bin")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use randomx_monero::{Checkpoint, Network};

    use super::*;

    fn evidence(n: u8) -> Evidence {
        let start = Checkpoint::genesis(Network::Regtest);
        let sides = vec![vec![vec![n; 80]]];
        Evidence { network: Network::Regtest, fixed_difficulty: None, start, sides }
    }

    #[test]
    fn evidence_is_written_once_and_not_without_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let evidences = EvidenceFolder::open(folder.path().join("new")).expect("writable");
        let write = |n, is_lie| evidences.write(&evidence(n), is_lie).expect("writable");
        let first = write(0, false).expect("a file");
        assert_eq!(fs::read(&first).expect("a file"), evidence(0).to_bytes());
        assert_eq!(write(0, false), Some(first));
        assert_eq!(evidences.count().expect("readable"), 1);
        let files = (1..=120).filter_map(|n| write(n, false));
        assert_eq!(files.count(), MAX_FILES - 1);
        let lie = write(200, true).expect("a source that lied is proven to have");
        assert_eq!(fs::read(&lie).expect("a file"), evidence(200).to_bytes());
        assert_eq!(write(201, false), None);
    }

    #[test]
    fn files_of_killed_processes_do_not_count_and_are_removed_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = |n: usize| folder.path().join(format!("evidence-00.bin.{n:016x}.new"));
        for n in 0..MAX_FILES {
            fs::write(left(n), "x").expect("writable");
        }
        let old = fs::File::options().write(true).open(left(0)).expect("a file");
        old.set_modified(SystemTime::now() - Duration::from_secs(7200)).expect("a time");
        // Windows keeps a file that is open.
        drop(old);
        let evidences = EvidenceFolder::open(folder.path().to_owned()).expect("writable");
        assert!(evidences.write(&evidence(0), false).expect("writable").is_some());
        assert!(!left(0).exists() && left(1).exists());
    }
}
