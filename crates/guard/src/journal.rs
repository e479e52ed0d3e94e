//! The guard's journal: refused answers with their evidence, and answers that nobody can verify.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use randomx_files::replace_file;
use randomx_monero::Hash;
use serde_json::{Map, Value, json};

/// The most refused answers that are remembered.
const REMEMBERED: usize = 50;

/// The most files of evidence that one run writes.
const MAX_FILES: usize = 1000;

/// A false statement of a node.
#[derive(Debug)]
pub(crate) struct Lie {
    /// The reason why the statement is false.
    pub(crate) reason: String,
    /// The data that a third party needs to check that.
    pub(crate) evidence: Map<String, Value>,
    /// The height and the id of the false block, if it has an id. The verified chain has it after a
    /// reorganisation that the node followed first.
    pub(crate) block: Option<(u64, Hash)>,
}

impl Lie {
    pub(crate) fn new(reason: impl Into<String>) -> Lie {
        Lie { reason: reason.into(), evidence: Map::new(), block: None }
    }

    /// Notes the false block.
    pub(crate) fn of_block(mut self, height: u64, id: Hash) -> Lie {
        self.block = Some((height, id));
        self
    }

    /// Adds bytes to the evidence.
    pub(crate) fn with_bytes(mut self, name: &str, bytes: &[u8]) -> Lie {
        self.evidence.insert(name.to_owned(), hex::encode(bytes).into());
        self
    }

    /// Adds something else to the evidence.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Lie {
        self.evidence.insert(name.to_owned(), value.into());
        self
    }
}

/// A refused answer.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    /// The number of the accusation in this run.
    number: u64,
    time: u64,
    node: String,
    method: String,
    reason: String,
    evidence: Option<PathBuf>,
}

impl Refused {
    /// Describes the answer for the status page.
    fn describe(&self) -> Value {
        // JSON cannot hold a path that is not UTF-8.
        let evidence = self.evidence.as_ref().map(|file| file.display().to_string());
        json!({
            "time": self.time,
            "node": self.node,
            "method": self.method,
            "reason": self.reason,
            "evidence": evidence,
        })
    }
}

/// Receives lines for people.
pub(crate) type Log = Box<dyn Fn(&str) + Send + Sync>;

/// Keeps evidence, and returns its file.
pub(crate) type Keep = Box<dyn FnMut(&Value) -> io::Result<PathBuf> + Send>;

/// Writes the log and evidence, and counts.
pub(crate) struct Journal {
    log: Log,
    /// Locked while evidence is written. `None` after [`Journal::stop`].
    keep: Mutex<Option<Keep>>,
    state: Mutex<State>,
}

thread_local! {
    /// Whether this thread's answer has a part that was counted as not verified. One thread makes an
    /// answer.
    static HAS_UNVERIFIED: Cell<bool> = const { Cell::new(false) };
}

#[derive(Default)]
struct State {
    refused: VecDeque<Refused>,
    refused_count: u64,
    /// The number of accusations, with those that were withdrawn.
    accusations: u64,
    not_verified: BTreeMap<String, u64>,
    checked: BTreeMap<String, u64>,
}

impl Journal {
    pub(crate) fn new(log: Log, keep: Keep) -> Journal {
        Journal { log, keep: Mutex::new(Some(keep)), state: Mutex::default() }
    }

    /// Ends the writing of evidence: another process may use the folder. No evidence is being written any more when
    /// this returns.
    pub(crate) fn stop(&self) {
        *self.keeper() = None;
    }

    /// Writes a line to the log.
    pub(crate) fn log(&self, line: &str) {
        (self.log)(line);
    }

    /// Counts the answer that `answer` returns as verified, unless that thread counts a part of it as not
    /// verified.
    pub(crate) fn count<T, E>(
        &self,
        method: &str,
        answer: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        HAS_UNVERIFIED.set(false);
        let answered = answer()?;
        if !HAS_UNVERIFIED.get() {
            *self.lock().checked.entry(method.to_owned()).or_default() += 1;
        }
        Ok(answered)
    }

    /// Counts an answer that cannot be verified, or has a part that cannot. The first of each method is
    /// logged.
    pub(crate) fn not_verified(&self, method: &str) {
        if self.count_not_verified(method) == 1 {
            self.log(&format!("forwarded without verification: {method}"));
        }
    }

    /// Counts an answer as not verified, without a line in the log. Returns the new count.
    pub(crate) fn count_not_verified(&self, method: &str) -> u64 {
        HAS_UNVERIFIED.set(true);
        let mut state = self.lock();
        let count = state.not_verified.entry(method.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Logs false data of a node and writes the evidence.
    pub(crate) fn accuse(&self, node: &str, method: &str, lie: Lie) -> Refused {
        let Lie { reason, evidence, .. } = lie;
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let content = json!({
            "time": time, "node": node, "method": method, "reason": reason, "evidence": evidence,
        });
        let file = match self.keep(&content) {
            Ok(file) => Some(file),
            Err(problem) => {
                self.log(&format!("cannot write evidence: {problem}"));
                None
            }
        };
        let place = file.as_ref().map(|file| format!("; evidence: {}", file.display()));
        self.log(&format!(
            "{node} sent false data in {method}: {reason}{}",
            place.unwrap_or_default()
        ));
        let mut state = self.lock();
        state.accusations += 1;
        let refused = Refused {
            number: state.accusations,
            time,
            node: node.to_owned(),
            method: method.to_owned(),
            reason,
            evidence: file,
        };
        state.refused_count += 1;
        state.refused.push_back(refused.clone());
        if state.refused.len() > REMEMBERED {
            state.refused.pop_front();
        }
        refused
    }

    /// Writes evidence, and returns its file.
    fn keep(&self, content: &Value) -> io::Result<PathBuf> {
        let mut keeper = self.keeper();
        let keep = keeper.as_mut().ok_or_else(|| io::Error::other("the guard has ended"))?;
        keep(content)
    }

    /// Withdraws an accusation, and removes its evidence.
    pub(crate) fn withdraw(&self, refused: &Refused) {
        {
            let mut state = self.lock();
            state.refused_count = state.refused_count.saturating_sub(1);
            state.refused.retain(|other| other.number != refused.number);
        }
        self.log(&format!(
            "{} is asked again: it followed a reorganisation before the guard did; withdrawn: {}",
            refused.node, refused.reason
        ));
        if let Some(file) = &refused.evidence
            && let Err(problem) = fs::remove_file(file)
        {
            self.log(&format!("cannot remove {}: {problem}", file.display()));
        }
    }

    /// Returns the counts and the refused answers, for the status page.
    pub(crate) fn describe(&self) -> Value {
        let state = self.lock();
        let refused: Vec<Value> = state.refused.iter().map(Refused::describe).collect();
        json!({
            "verified": state.checked,
            "notVerified": state.not_verified,
            "refusedCount": state.refused_count,
            "refused": refused,
        })
    }

    fn keeper(&self) -> MutexGuard<'_, Option<Keep>> {
        // Numbers of files are valid after any panic.
        self.keep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Counters and a list are valid after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning and the end of the name of a file of evidence, around its number.
const FILE: (&str, &str) = ("lie-", ".json");

/// Whether a file with this name has evidence.
pub(crate) fn is_evidence(name: &str) -> bool {
    let number = name.strip_prefix(FILE.0).and_then(|name| name.strip_suffix(FILE.1));
    number.is_some_and(|number| number.parse::<usize>().is_ok())
}

/// Keeps evidence in files of a folder. Files of earlier runs stay, and are not counted.
pub(crate) fn keep_in(folder: PathBuf) -> Keep {
    keep_at_most(MAX_FILES, folder)
}

fn keep_at_most(most: usize, folder: PathBuf) -> Keep {
    let (mut written, mut last) = (0, 0_usize);
    Box::new(move |content| {
        if written >= most {
            return Err(io::Error::other(format!("more than {most} files")));
        }
        written += 1;
        fs::create_dir_all(&folder)?;
        loop {
            last += 1;
            let path = folder.join(format!("{}{last}{}", FILE.0, FILE.1));
            // No other process writes to the folder, which is locked.
            if !fs::exists(&path)? {
                replace_file(&path, content.to_string().as_bytes())?;
                return Ok(path);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawn_accusation_leaves_no_evidence_however_old_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::new(Box::new(|_| {}), keep_in(folder.path().to_owned()));
        let accuse = || journal.accuse("a node", "a method", Lie::new("a reason"));
        let first = accuse();
        (0..REMEMBERED).for_each(|_| drop(accuse()));
        journal.withdraw(&first);
        assert!(!folder.path().join("lie-1.json").exists());
        assert!(folder.path().join("lie-2.json").exists());
        let described = journal.describe();
        assert_eq!(described["refusedCount"], json!(REMEMBERED));
        assert_eq!(described["refused"].as_array().map(Vec::len), Some(REMEMBERED));
    }

    #[cfg(unix)]
    #[test]
    fn evidence_may_have_a_path_that_is_not_utf_8() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let path = PathBuf::from(OsStr::from_bytes(b"\xff/lie-1.json"));
        let journal = Journal::new(Box::new(|_| {}), Box::new(move |_| Ok(path.clone())));
        journal.accuse("a node", "a method", Lie::new("a reason"));
        let described = journal.describe();
        assert_eq!(described["refused"][0]["evidence"], json!("\u{fffd}/lie-1.json"));
    }

    #[test]
    fn evidence_of_earlier_runs_does_not_count() {
        const MOST: usize = 3;
        let folder = tempfile::tempdir().expect("a folder");
        let mut files = 0;
        for _ in 0..2 {
            let mut keep = keep_at_most(MOST, folder.path().to_owned());
            for _ in 0..MOST {
                files += 1;
                let file = keep(&json!({ "number": files })).expect("writable");
                assert_eq!(file, folder.path().join(format!("lie-{files}.json")));
            }
            let problem = keep(&json!({})).expect_err("too many").to_string();
            assert_eq!(problem, "more than 3 files");
        }
        let first = fs::read(folder.path().join("lie-1.json")).expect("a file");
        assert_eq!(first, br#"{"number":1}"#);
    }
}
