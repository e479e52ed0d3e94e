//! What the answers to all requests share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use randomx_monero::Hash;
use serde_json::Value;

use crate::chain::Chain;
use crate::journal::Journal;
use crate::nodes::Nodes;
use crate::paid::Paid;
use crate::refusal::Refusal;

/// What requests need.
pub(crate) struct Service {
    pub(crate) chain: Chain,
    pub(crate) nodes: Nodes,
    pub(crate) journal: Arc<Journal>,
    /// What recent blocks paid, and the tip for which that was read.
    pub(crate) paid: Mutex<Option<(Hash, Paid)>>,
    /// The sources of headers, for the status page.
    pub(crate) sources: Mutex<Vec<Value>>,
    /// Whether the chain was followed to its end since the start.
    pub(crate) caught_up: AtomicBool,
}

impl Service {
    /// Returns a service whose chain was not followed yet.
    pub(crate) fn new(chain: Chain, nodes: Nodes, journal: Arc<Journal>) -> Service {
        Service {
            chain,
            nodes,
            journal,
            paid: Mutex::default(),
            sources: Mutex::default(),
            caught_up: AtomicBool::new(false),
        }
    }

    /// Returns the sources of headers, for the status page.
    pub(crate) fn sources(&self) -> MutexGuard<'_, Vec<Value>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails until the chain was followed to its end: an old tip would look like the newest.
    pub(crate) fn ready(&self) -> Result<(), Refusal> {
        if self.caught_up.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(Refusal::Busy("the guard reads the chain".to_owned()))
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
