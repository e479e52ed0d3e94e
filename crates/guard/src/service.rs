//! The state that the answers to all requests share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(test)]
use std::{io, iter, path::PathBuf, sync::atomic::AtomicU32, time::Duration};

use randomx_monero::Hash;
use serde_json::{Value, json};

use crate::chain::Chain;
use crate::following::{LAG, now};
use crate::journal::Journal;
use crate::nodes::Nodes;
use crate::paid::Paid;
use crate::pool_times::PoolTimes;
use crate::refusal::{READING, Refusal};
#[cfg(test)]
use crate::{
    archive::Archive,
    nodes::{Call, NoAnswer, Transport},
};

/// A source of headers, for the status page.
pub(crate) struct SourceStatus {
    pub(crate) name: String,
    /// The name of its state, such as `other-network`.
    pub(crate) state: &'static str,
    /// The same as a predicate, such as `has another chain`.
    pub(crate) words: String,
    /// Why its last request failed.
    pub(crate) problem: Option<String>,
}

impl SourceStatus {
    /// Returns the JSON of the status page.
    pub(crate) fn describe(&self) -> Value {
        json!({ "source": self.name, "state": self.state, "problem": self.problem })
    }
}

/// The state from which requests are answered.
pub(crate) struct Service {
    pub(crate) chain: Chain,
    pub(crate) nodes: Nodes,
    pub(crate) journal: Arc<Journal>,
    /// The fees of recent blocks, and the tip for which they were read.
    pub(crate) paid: Mutex<Option<(Hash, Paid)>>,
    /// The times that nodes sent with the pool's news.
    pool_times: Mutex<PoolTimes>,
    /// The sources of headers, for the status page.
    sources: Mutex<Vec<SourceStatus>>,
    /// The last time at which the chain was followed, or 0 while it has to be read.
    followed: AtomicU64,
}

impl Service {
    /// Returns a service whose chain was not followed yet.
    pub(crate) fn new(chain: Chain, nodes: Nodes, journal: Arc<Journal>) -> Service {
        Service {
            chain,
            nodes,
            journal,
            paid: Mutex::default(),
            pool_times: Mutex::default(),
            sources: Mutex::default(),
            followed: AtomicU64::new(0),
        }
    }

    /// Returns a service before nodes that are reached in these ways. It has no folder, keeps no evidence, and
    /// nobody reads older headers for it.
    #[cfg(test)]
    pub(crate) fn before(nodes: impl Iterator<Item = (String, Transport)>) -> Service {
        let keep = |_: &_| Err(io::Error::other("no folder"));
        let journal = Arc::new(Journal::new(Box::new(|_| {}), Box::new(keep)));
        let nodes = Nodes::with_transports(nodes, Arc::clone(&journal));
        let archive = Archive::new(PathBuf::new(), Duration::ZERO);
        Service::new(Chain::new(Arc::new(archive)), nodes, journal)
    }

    /// Returns a service before a node that refuses all requests, and the number of those.
    #[cfg(test)]
    pub(crate) fn before_a_refusing_node() -> (Service, Arc<AtomicU32>) {
        let asked = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&asked);
        let send = move |_: &Call| {
            count.fetch_add(1, Ordering::Relaxed);
            Err(NoAnswer::Refused("a problem".to_owned()))
        };
        let node = ("a node".to_owned(), Box::new(send) as Transport);
        (Service::before(iter::once(node)), asked)
    }

    /// Returns the times that nodes sent with the pool's news.
    pub(crate) fn pool_times(&self) -> MutexGuard<'_, PoolTimes> {
        self.pool_times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the sources of headers, for the status page.
    pub(crate) fn sources(&self) -> MutexGuard<'_, Vec<SourceStatus>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the last time at which the chain was followed, or that it has to be read.
    pub(crate) fn set_followed(&self, time: Option<u64>) {
        let before = self.followed.swap(time.unwrap_or(0), Ordering::AcqRel);
        if before > 0 && time.is_none() {
            let seconds = now().saturating_sub(before);
            self.journal.log(&format!(
                "the guard did not follow the chain for {seconds} s; wallets get BUSY until it has caught up"
            ));
        }
    }

    /// Whether the newest verified block may be shown as the newest of the chain.
    pub(crate) fn is_followed(&self) -> bool {
        let followed = self.followed.load(Ordering::Acquire);
        followed > 0 && now().saturating_sub(followed) <= LAG
    }

    /// Asks nodes again that were accused of blocks which the verified chain has now.
    pub(crate) fn reconsider(&self) {
        if let Ok(view) = self.chain.view() {
            let id = |height| view.block(height).map(|block| block.id);
            self.nodes.reconsider(|height, sent| id(height) == Some(*sent));
        }
    }

    /// Fails while the chain has to be read: an old tip would look like the newest.
    pub(crate) fn ready(&self) -> Result<(), Refusal> {
        if self.is_followed() {
            return Ok(());
        }
        Err(Refusal::Busy(self.awaited()))
    }

    /// Returns what keeps wallets waiting while the chain is not followed.
    pub(crate) fn awaited(&self) -> String {
        cause(&self.sources())
    }

    /// Logs why a request has no answer. Lies are logged where they are found.
    pub(crate) fn note(&self, method: &str, refusal: &Refusal) {
        match refusal {
            Refusal::Unusable(_) => {
                let method: String = method.chars().take(60).collect();
                self.journal.log(&format!("no answer to {method}: {refusal}"));
            }
            // The status page shows what is awaited.
            Refusal::Busy(_) => {}
            Refusal::Request(_) | Refusal::Unknown(_) | Refusal::Lie { .. } => {}
        }
    }
}

/// Returns why the chain is not followed, given the sources of headers as the status page shows them.
fn cause(sources: &[SourceStatus]) -> String {
    let is_read =
        |source: &SourceStatus| matches!(source.state, "connecting" | "following" | "behind");
    if sources.is_empty() || sources.iter().any(is_read) {
        return READING.to_owned();
    }
    let each = sources.iter().map(|SourceStatus { name, words, .. }| format!("{name} {words}"));
    format!("no source of headers can be followed: {}", each.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::iter;
    use std::path::PathBuf;
    use std::time::Duration;

    use randomx_monero::client::SourceState;

    use super::*;
    use crate::archive::Archive;

    #[test]
    fn a_refusal_names_what_is_awaited() {
        let cause = |states: &[SourceState]| {
            let source = |(number, state): (u32, &SourceState)| SourceStatus {
                name: format!("s{number}"),
                state: state.as_str(),
                words: state.to_string(),
                problem: None,
            };
            cause(&(1..).zip(states).map(source).collect::<Vec<_>>())
        };
        let (silent, read) = (SourceState::Unresponsive, SourceState::Following);
        for states in [&[][..], &[SourceState::Connecting], &[silent.clone(), read]] {
            assert_eq!(cause(states), READING);
        }
        assert_eq!(
            cause(&[silent, SourceState::UpdateNeeded { height: 7, version: 17 }]),
            "no source of headers can be followed: s1 gives no usable answer, s2 has block 7, whose \
             version 17 needs a newer release"
        );
    }

    #[test]
    fn an_old_tip_is_not_the_newest() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&lines);
        let write = move |line: &str| log.lock().expect("no panic").push(line.to_owned());
        let keep = |_: &_| Err(io::Error::other("no folder"));
        let journal = Arc::new(Journal::new(Box::new(write), Box::new(keep)));
        let nodes = Nodes::with_transports(iter::empty(), Arc::clone(&journal));
        let archive = Archive::new(PathBuf::new(), Duration::ZERO);
        let service = Service::new(Chain::new(Arc::new(archive)), nodes, journal);
        let is_busy = || matches!(service.ready(), Err(Refusal::Busy(_)));
        assert!(is_busy());
        service.set_followed(Some(now() - LAG / 2));
        assert!(!is_busy());
        // As after a night in which nothing ran.
        service.set_followed(Some(now() - 8 * 3600));
        assert!(is_busy());
        service.set_followed(None);
        service.set_followed(None);
        assert!(is_busy());
        let lines = lines.lock().expect("no panic");
        assert_eq!(lines.len(), 1);
        assert!(
            lines[0].starts_with("the guard did not follow the chain for 2880"),
            "{}",
            lines[0]
        );
    }
}
