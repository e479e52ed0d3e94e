//! The remote nodes to which requests are forwarded.

mod transport;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use randomx_client::{Route, agent_settings};
use randomx_monero::Hash;
use serde_json::{Value, json};
use url::Url;

use crate::answer::Form;
use crate::journal::{Journal, Lie};
use crate::refusal::{Refusal, brief};
use transport::{LONGEST, send};

/// How long a node that was silent is asked after the others. Not longer: the first node may be the
/// wallet's own, and each later one learns what it is asked.
const SILENCE: Duration = Duration::from_secs(60);

/// Answers that may exceed this size are large.
pub(crate) const LARGE: u64 = 32 << 20;

/// A request to a node.
#[derive(Clone)]
pub(crate) struct Call {
    /// The method's name, for messages.
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) form: Form,
    pub(crate) body: Vec<u8>,
    /// The longest answer in bytes.
    pub(crate) limit: u64,
}

impl Call {
    /// Returns a call of JSON-RPC.
    pub(crate) fn json_rpc(method: &str, params: &Value, limit: u64) -> Call {
        let body = json!({ "jsonrpc": "2.0", "id": "0", "method": method, "params": params });
        Call {
            method: method.to_owned(),
            path: "/json_rpc".to_owned(),
            form: Form::Json,
            body: body.to_string().into(),
            limit,
        }
    }
}

/// Why an answer of a node is not passed on.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It cannot be used, which proves nothing against the node. Another node is asked.
    Unusable(String),
    /// It is false.
    Lie(Box<Lie>),
    /// The guard cannot judge it yet.
    Busy(String),
}

impl From<Lie> for Fault {
    fn from(lie: Lie) -> Fault {
        Fault::Lie(Box::new(lie))
    }
}

/// For an answer that cannot be judged, since something else has no answer. That something else was
/// false is no fault of this node.
impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        match refusal {
            Refusal::Busy(problem) => Fault::Busy(problem),
            other => Fault::Unusable(other.to_string()),
        }
    }
}

/// The nodes, in the order in which they are asked.
pub(crate) struct Nodes {
    nodes: Vec<Remote>,
    journal: Arc<Journal>,
    /// How long a node that was silent is asked after the others.
    silence: Duration,
}

struct Remote {
    name: String,
    transport: Transport,
    state: Mutex<State>,
}

/// Sends a call to a node, and returns the answer.
pub(crate) type Transport = Box<dyn Fn(&Call) -> Result<Vec<u8>, NoAnswer> + Send + Sync>;

/// Why a node sent no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The node could not be reached, or its answer did not arrive whole and in time.
    Silent(String),
    /// The node sent an HTTP error, or more than is allowed.
    Refused(String),
}

#[derive(Default)]
struct State {
    /// Why it is not asked any more.
    accusations: Vec<Accusation>,
    /// Why it gave no usable answer last.
    failure: Option<String>,
    /// When it was last silent, if it sent nothing since.
    silent_since: Option<Instant>,
}

/// Why a node is not asked any more.
struct Accusation {
    reason: String,
    /// The height and the id of a false block, and the number of the accusation in the journal.
    block: Option<(u64, Hash, u64)>,
}

impl State {
    fn dropped(&self) -> Option<&str> {
        self.accusations.first().map(|accusation| accusation.reason.as_str())
    }
}

impl Nodes {
    /// Returns nodes, given the addresses of their JSON-RPC endpoints.
    pub(crate) fn new(endpoints: &[Url], route: &Route, journal: Arc<Journal>) -> Nodes {
        let agent = agent_settings(route).new_agent();
        let remote = |url: &Url| {
            // Without a slash at its end.
            let address = url.as_str().trim_end_matches("/json_rpc").to_owned();
            let (agent, name) = (agent.clone(), address.clone());
            (name, Box::new(move |call: &Call| send(&agent, &address, call, LONGEST)) as Transport)
        };
        Nodes::with_transports(endpoints.iter().map(remote), journal)
    }

    /// Returns nodes with these names that are reached in these ways.
    pub(crate) fn with_transports(
        nodes: impl Iterator<Item = (String, Transport)>,
        journal: Arc<Journal>,
    ) -> Nodes {
        let remote = |(name, transport)| Remote { name, transport, state: Mutex::default() };
        Nodes { nodes: nodes.map(remote).collect(), journal, silence: SILENCE }
    }

    /// Asks the nodes in turn, until `judge` makes something of an answer. A node that lies is dropped,
    /// and the request is refused. Nodes that were silent a short time ago are asked after the others.
    pub(crate) fn ask<T>(
        &self,
        call: &Call,
        judge: impl Fn(&[u8]) -> Result<T, Fault>,
    ) -> Result<T, Refusal> {
        let (usable, mut failures) = self.usable();
        for node in usable {
            let outcome = node.send(call).and_then(|answer| judge(&answer));
            if let Some(value) = self.settle(node, call, outcome, &mut failures)? {
                return Ok(value);
            }
        }
        Err(Refusal::Unusable(failures.join("; ")))
    }

    /// Asks two nodes at the same time, and others in place of those that fail. Returns each usable
    /// result: two, or one if no more nodes give one.
    pub(crate) fn ask_two<T: Send>(
        &self,
        call: &Call,
        judge: impl Fn(&[u8]) -> Result<T, Fault> + Sync,
    ) -> Result<Vec<T>, Refusal> {
        let (usable, mut failures) = self.usable();
        let (mut usable, mut values) = (usable.into_iter(), Vec::new());
        while values.len() < 2 {
            let group: Vec<&Remote> = usable.by_ref().take(2 - values.len()).collect();
            if group.is_empty() {
                break;
            }
            let ask = |node: &Remote| node.send(call).and_then(|answer| judge(&answer));
            for (node, outcome) in group.iter().zip(at_once(&group, ask)) {
                values.extend(self.settle(node, call, outcome, &mut failures)?);
            }
        }
        if values.is_empty() { Err(Refusal::Unusable(failures.join("; "))) } else { Ok(values) }
    }

    /// Sends the same request to all nodes at the same time. Returns for each node the answer, or why
    /// there is none.
    pub(crate) fn ask_all(&self, call: &Call) -> Vec<Result<Vec<u8>, String>> {
        let (usable, dropped) = self.usable();
        let answers = usable.iter().zip(at_once(&usable, |node| node.send(call)));
        let answers = answers.map(|(node, answer)| {
            answer.map_err(|fault| match fault {
                Fault::Unusable(problem) | Fault::Busy(problem) => {
                    format!("{}: {}", node.name, brief(problem))
                }
                Fault::Lie(lie) => format!("{}: {}", node.name, lie.reason),
            })
        });
        answers.chain(dropped.into_iter().map(Err)).collect()
    }

    /// Returns the nodes that are not dropped, silent ones last, and why others are.
    fn usable(&self) -> (Vec<&Remote>, Vec<String>) {
        let (mut usable, mut dropped) = (Vec::new(), Vec::new());
        for node in &self.nodes {
            match node.dropped() {
                Some(problem) => dropped.push(problem),
                None => usable.push(node),
            }
        }
        // A stable sort, of states that may change meanwhile.
        usable.sort_by_cached_key(|node| node.is_silent(self.silence));
        (usable, dropped)
    }

    /// Returns what `judge` made of a node's answer. If that is nothing, notes why.
    fn settle<T>(
        &self,
        node: &Remote,
        call: &Call,
        outcome: Result<T, Fault>,
        failures: &mut Vec<String>,
    ) -> Result<Option<T>, Refusal> {
        match outcome {
            Ok(value) => {
                node.lock().failure = None;
                Ok(Some(value))
            }
            Err(Fault::Unusable(problem)) => {
                let problem = brief(problem);
                node.lock().failure = Some(format!("{}: {problem}", call.method));
                failures.push(format!("{}: {problem}", node.name));
                Ok(None)
            }
            Err(Fault::Busy(problem)) => Err(Refusal::Busy(problem)),
            Err(Fault::Lie(lie)) => Err(self.accuse(node, &call.method, *lie)),
        }
    }

    /// Drops the node with this number for the rest of the run.
    pub(crate) fn drop_node(&self, index: usize, reason: &str) {
        if let Some(node) = self.nodes.get(index) {
            let accusation = Accusation { reason: reason.to_owned(), block: None };
            node.lock().accusations.push(accusation);
        }
    }

    /// Asks nodes again whose false blocks are verified now.
    pub(crate) fn reconsider(&self, is_verified: impl Fn(u64, &Hash) -> bool) {
        for node in &self.nodes {
            let mut refuted = Vec::new();
            node.lock().accusations.retain(|accusation| match &accusation.block {
                Some((height, id, number)) if is_verified(*height, id) => {
                    refuted.push(*number);
                    false
                }
                _ => true,
            });
            refuted.into_iter().for_each(|number| self.journal.withdraw(number));
        }
    }

    /// Describes the nodes for the status page.
    pub(crate) fn describe(&self) -> Vec<Value> {
        let describe = |node: &Remote| {
            let state = node.lock();
            json!({ "node": node.name, "dropped": state.dropped(), "failure": state.failure })
        };
        self.nodes.iter().map(describe).collect()
    }

    /// Drops a node that sent false data.
    fn accuse(&self, node: &Remote, method: &str, lie: Lie) -> Refusal {
        let (reason, block) = (lie.reason.clone(), lie.block);
        let number = self.journal.accuse(&node.name, method, lie);
        let block = block.map(|(height, id)| (height, id, number));
        node.lock().accusations.push(Accusation { reason: reason.clone(), block });
        Refusal::Lie { node: node.name.clone(), reason }
    }
}

/// Asks nodes at the same time. Returns their answers in order.
fn at_once<T: Send>(
    nodes: &[&Remote],
    ask: impl Fn(&Remote) -> Result<T, Fault> + Sync,
) -> Vec<Result<T, Fault>> {
    let ended = |_| Err(Fault::Unusable("the guard's thread ended".to_owned()));
    thread::scope(|scope| {
        let ask = &ask;
        let start = |node| thread::Builder::new().spawn_scoped(scope, move || ask(node));
        let threads: Vec<_> = nodes.iter().map(|&node| (node, start(node))).collect();
        let answer = |(node, thread): (&Remote, io::Result<ScopedJoinHandle<'_, _>>)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(ended),
            // The system refuses a thread: this one asks.
            Err(_) => ask(node),
        };
        threads.into_iter().map(answer).collect()
    })
}

impl Remote {
    /// Returns why it is not asked any more. Wallets ask again after a refusal, and show the last one.
    fn dropped(&self) -> Option<String> {
        let state = self.lock();
        state.dropped().map(|reason| format!("{} was dropped: {reason}", self.name))
    }

    fn send(&self, call: &Call) -> Result<Vec<u8>, Fault> {
        let answer = (self.transport)(call);
        let is_silent = matches!(answer, Err(NoAnswer::Silent(_)));
        self.lock().silent_since = is_silent.then(Instant::now);
        answer.map_err(|problem| {
            let (NoAnswer::Silent(problem) | NoAnswer::Refused(problem)) = problem;
            Fault::Unusable(problem)
        })
    }

    /// Whether it was silent less than this time ago, and sent nothing since.
    fn is_silent(&self, time: Duration) -> bool {
        self.lock().silent_since.is_some_and(|since| since.elapsed() < time)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each field is valid by itself after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Asks two nodes three times, of which the first gives no answer. Returns how often each is asked.
    fn asked(no_answer: fn(String) -> NoAnswer, silence: Duration) -> [u32; 2] {
        let counts = [0; 2].map(|count| Arc::new(AtomicU32::new(count)));
        let journal = Journal::new(Box::new(|_| {}), Box::new(|_| Err(io::Error::other(""))));
        let nodes = counts.iter().enumerate().map(|(index, count)| {
            let count = Arc::clone(count);
            let send = move |_: &Call| {
                count.fetch_add(1, Ordering::Relaxed);
                if index == 0 { Err(no_answer("a problem".to_owned())) } else { Ok(Vec::new()) }
            };
            (index.to_string(), Box::new(send) as Transport)
        });
        let nodes = Nodes { silence, ..Nodes::with_transports(nodes, Arc::new(journal)) };
        for _ in 0..3 {
            let answer = nodes.ask(&Call::json_rpc("get_info", &json!({}), 1), |_| Ok(()));
            assert!(answer.is_ok());
        }
        let failure = json!("get_info: a problem");
        assert_eq!(nodes.describe()[0]["failure"], failure);
        counts.map(|count| count.load(Ordering::Relaxed))
    }

    #[test]
    fn the_first_node_stays_the_first_unless_it_was_silent_a_short_time_ago() {
        assert_eq!(asked(NoAnswer::Silent, SILENCE), [1, 3]);
        assert_eq!(asked(NoAnswer::Silent, Duration::ZERO), [3, 3]);
        assert_eq!(asked(NoAnswer::Refused, SILENCE), [3, 3]);
    }
}
