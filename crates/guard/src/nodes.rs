//! The remote nodes to which requests are forwarded.

mod times;
mod together;
mod transport;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use randomx_client::{Route, agent_settings};
use randomx_monero::Hash;
use serde_json::{Value, json};
use url::Url;

use crate::answer::Form;
use crate::journal::{Journal, Lie, Refused};
use crate::refusal::{Refusal, brief};
use times::{TIMES, Times};
use transport::send;

/// Answers that may exceed this size are large.
pub(crate) const LARGE: u64 = 32 << 20;

/// Why nodes are not asked at the end of a request's time.
const NO_TIME: &str = "there is no time left for other nodes";

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
    nodes: Vec<Arc<Remote>>,
    journal: Arc<Journal>,
    times: Times,
}

struct Remote {
    name: String,
    transport: TimedTransport,
    state: Mutex<State>,
}

/// Sends a call to a node, and returns the answer.
#[cfg(any(test, feature = "internals"))]
pub(crate) type Transport = Box<dyn Fn(&Call) -> Result<Vec<u8>, NoAnswer> + Send + Sync>;

/// Sends a call to a node, and returns the answer if it takes no longer than a time.
type TimedTransport = Box<dyn Fn(&Call, Duration) -> Result<Vec<u8>, NoAnswer> + Send + Sync>;

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
    /// Until when it is asked after the others.
    behind_until: Option<Instant>,
    /// The number of threads that send it a transaction.
    sending: usize,
}

/// Why a node is not asked any more.
struct Accusation {
    reason: String,
    /// The height and the id of a false block, and the refused answer with it.
    block: Option<(u64, Hash, Refused)>,
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
            let send = move |call: &Call, time| send(&agent, &address, call, time);
            (name, Box::new(send) as TimedTransport)
        };
        Nodes::with_timed(endpoints.iter().map(remote), journal)
    }

    /// Returns nodes with these names that are reached in these ways, which take any time.
    #[cfg(any(test, feature = "internals"))]
    pub(crate) fn with_transports(
        nodes: impl Iterator<Item = (String, Transport)>,
        journal: Arc<Journal>,
    ) -> Nodes {
        let timed = |(name, transport): (String, Transport)| {
            (name, Box::new(move |call: &Call, _| transport(call)) as TimedTransport)
        };
        Nodes::with_timed(nodes.map(timed), journal)
    }

    fn with_timed(
        nodes: impl Iterator<Item = (String, TimedTransport)>,
        journal: Arc<Journal>,
    ) -> Nodes {
        let remote = |(name, transport)| Remote { name, transport, state: Mutex::default() };
        let nodes = nodes.map(remote).map(Arc::new).collect();
        Nodes { nodes, journal, times: TIMES }
    }

    /// Sets how long a wallet's request may take.
    #[cfg(test)]
    pub(crate) fn limit(&mut self, request: Duration) {
        self.times.request = request;
    }

    /// Asks the nodes in turn, until `judge` makes something of an answer. A node that lies is dropped,
    /// and the request is refused. Nodes that wasted time a short time ago are asked after the others.
    /// The wallet's request began at `begun`.
    pub(crate) fn ask<T>(
        &self,
        begun: Instant,
        call: &Call,
        judge: impl Fn(&[u8]) -> Result<T, Fault>,
    ) -> Result<T, Refusal> {
        let judge = |_: &str, answer: &[u8]| Ok((judge(answer)?, 0));
        self.ask_each(begun, |_| Cow::Borrowed(call), judge)
    }

    /// Asks as [`Nodes::ask`] does. `call` returns the request for the node with a name. `judge` gets
    /// that name too. It also returns how many bytes of an answer are of use: the node may take the time
    /// that these take over a slow connection.
    pub(crate) fn ask_each<'a, T>(
        &self,
        begun: Instant,
        call: impl Fn(&str) -> Cow<'a, Call>,
        judge: impl Fn(&str, &[u8]) -> Result<(T, u64), Fault>,
    ) -> Result<T, Refusal> {
        let (usable, mut failures) = self.usable();
        for (index, node) in usable.iter().enumerate() {
            let Some(time) = self.share(begun, &usable[index + 1..]) else {
                failures.push(NO_TIME.to_owned());
                break;
            };
            let call = call(&node.name);
            let judge = |answer: &[u8]| judge(&node.name, answer);
            let outcome = node.send(&call, time, &self.times, judge);
            if let Some(value) = self.settle(node, &call, outcome, &mut failures)? {
                return Ok(value);
            }
        }
        Err(Refusal::Unusable(failures.join("; ")))
    }

    /// Returns the time that a node may take for a request: half of the remaining time if a node after it has
    /// not wasted time recently, and otherwise all of it. `None` if none is left.
    fn share(&self, begun: Instant, others: &[&Arc<Remote>]) -> Option<Duration> {
        let left =
            self.times.request.checked_sub(begun.elapsed()).filter(|left| !left.is_zero())?;
        let is_last = others.iter().all(|other| !other.behind().is_zero());
        Some(if is_last { left } else { left / 2 })
    }

    /// Returns the usable nodes, with those that wasted time last, and the reasons why the others were
    /// dropped.
    fn usable(&self) -> (Vec<&Arc<Remote>>, Vec<String>) {
        let (mut usable, mut dropped) = (Vec::new(), Vec::new());
        for node in &self.nodes {
            match node.dropped() {
                Some(problem) => dropped.push(problem),
                None => usable.push(node),
            }
        }
        // A stable sort, of states that may change meanwhile.
        usable.sort_by_cached_key(|node| node.behind());
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
            let is_refuted = |accusation: &mut Accusation| {
                let block = accusation.block.as_ref();
                block.is_some_and(|(height, id, _)| is_verified(*height, id))
            };
            let refuted: Vec<_> = node.lock().accusations.extract_if(.., is_refuted).collect();
            let refused = refuted.into_iter().filter_map(|accusation| accusation.block);
            refused.for_each(|(_, _, refused)| self.journal.withdraw(&refused));
        }
    }

    /// Describes the nodes for the status page.
    pub(crate) fn describe(&self) -> Vec<Value> {
        let describe = |node: &Arc<Remote>| {
            let state = node.lock();
            json!({ "node": node.name, "dropped": state.dropped(), "failure": state.failure })
        };
        self.nodes.iter().map(describe).collect()
    }

    /// Drops a node that sent false data.
    fn accuse(&self, node: &Remote, method: &str, lie: Lie) -> Refusal {
        let (reason, block) = (lie.reason.clone(), lie.block);
        let refused = self.journal.accuse(&node.name, method, lie);
        let block = block.map(|(height, id)| (height, id, refused));
        node.lock().accusations.push(Accusation { reason: reason.clone(), block });
        Refusal::Lie { node: node.name.clone(), reason }
    }
}

impl Remote {
    /// Returns why it is not asked any more. Wallets ask again after a refusal, and show the last one.
    fn dropped(&self) -> Option<String> {
        let state = self.lock();
        state.dropped().map(|reason| format!("{} was dropped: {reason}", self.name))
    }

    /// Sends a call, and returns what `judge` makes of the answer. Notes whether the node wasted time.
    fn send<T>(
        &self,
        call: &Call,
        time: Duration,
        times: &Times,
        judge: impl Fn(&[u8]) -> Result<(T, u64), Fault>,
    ) -> Result<T, Fault> {
        let begun = Instant::now();
        let answer = (self.transport)(call, time);
        let took = begun.elapsed();
        // Other nodes may have left little time to one that is cut off. Then only the time that it took counts.
        let is_silent = took < time && matches!(answer, Err(NoAnswer::Silent(_)));
        let outcome = answer.map_err(|problem| {
            let (NoAnswer::Silent(problem) | NoAnswer::Refused(problem)) = problem;
            Fault::Unusable(problem)
        });
        let outcome = outcome.and_then(|answer| judge(&answer));
        let useful = outcome.as_ref().map_or(0, |(_, useful)| *useful);
        let until = Instant::now().checked_add(times.behind(took, is_silent, useful));
        let mut state = self.lock();
        state.behind_until = state.behind_until.max(until);
        drop(state);
        outcome.map(|(value, _)| value)
    }

    /// Returns how much longer it is asked after the others.
    fn behind(&self) -> Duration {
        let until = self.lock().behind_until;
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each field is valid by itself after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
