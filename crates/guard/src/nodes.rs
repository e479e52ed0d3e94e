//! The remote nodes to which requests are forwarded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use randomx_client::{Route, agent_settings};
use serde_json::{Value, json};
use ureq::Agent;
use url::Url;

use crate::answer::Form;
use crate::journal::{Journal, Lie};
use crate::refusal::{Refusal, brief};

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

/// The nodes, in the order in which they are asked.
pub(crate) struct Nodes {
    nodes: Vec<Remote>,
    journal: Arc<Journal>,
}

struct Remote {
    name: String,
    transport: Transport,
    state: Mutex<State>,
}

/// Sends a call to a node, and returns the answer.
pub(crate) type Transport = Box<dyn Fn(&Call) -> Result<Vec<u8>, Fault> + Send + Sync>;

#[derive(Default)]
struct State {
    /// Why it is not asked any more.
    dropped: Option<String>,
    /// Why it gave no usable answer last.
    failure: Option<String>,
}

impl Nodes {
    /// Returns nodes, given the addresses of their JSON-RPC endpoints.
    pub(crate) fn new(endpoints: &[Url], route: &Route, journal: Arc<Journal>) -> Nodes {
        let agent = agent_settings(route).build().new_agent();
        let remote = |url: &Url| {
            // Without a slash at its end.
            let address = url.as_str().trim_end_matches("/json_rpc").to_owned();
            let (agent, name) = (agent.clone(), address.clone());
            (name, Box::new(move |call: &Call| send(&agent, &address, call)) as Transport)
        };
        Nodes::with_transports(endpoints.iter().map(remote), journal)
    }

    /// Returns nodes with these names that are reached in these ways.
    pub(crate) fn with_transports(
        nodes: impl Iterator<Item = (String, Transport)>,
        journal: Arc<Journal>,
    ) -> Nodes {
        let remote = |(name, transport)| Remote { name, transport, state: Mutex::default() };
        Nodes { nodes: nodes.map(remote).collect(), journal }
    }

    /// Asks the nodes in turn, until `judge` makes something of an answer. A node that lies is dropped,
    /// and the request is refused.
    pub(crate) fn ask<T>(
        &self,
        call: &Call,
        judge: impl Fn(&[u8]) -> Result<T, Fault>,
    ) -> Result<T, Refusal> {
        let mut failures = Vec::new();
        for node in &self.nodes {
            // Wallets ask again after a refusal, and show the last one.
            if let Some(reason) = &node.lock().dropped {
                failures.push(format!("{} was dropped: {reason}", node.name));
                continue;
            }
            match node.send(call).and_then(|answer| judge(&answer)) {
                Ok(value) => {
                    node.lock().failure = None;
                    return Ok(value);
                }
                Err(Fault::Unusable(problem)) => {
                    let problem = brief(problem);
                    node.lock().failure = Some(format!("{}: {problem}", call.method));
                    failures.push(format!("{}: {problem}", node.name));
                }
                Err(Fault::Busy(problem)) => return Err(Refusal::Busy(problem)),
                Err(Fault::Lie(lie)) => return Err(self.accuse(node, &call.method, *lie)),
            }
        }
        Err(Refusal::Unusable(failures.join("; ")))
    }

    /// Asks two nodes at the same time, or one if there are no two, and returns each usable result.
    pub(crate) fn ask_two<T: Send>(
        &self,
        call: &Call,
        judge: impl Fn(&[u8]) -> Result<T, Fault> + Sync,
    ) -> Result<Vec<T>, Refusal> {
        let usable: Vec<&Remote> =
            self.nodes.iter().filter(|node| node.lock().dropped.is_none()).take(2).collect();
        let [first, second] = usable[..] else {
            return self.ask(call, judge).map(|one| vec![one]);
        };
        let outcomes = thread::scope(|scope| {
            let other = scope.spawn(|| second.send(call).and_then(|answer| judge(&answer)));
            let one = first.send(call).and_then(|answer| judge(&answer));
            let ended = || Fault::Unusable("the guard's thread ended".to_owned());
            [(first, one), (second, other.join().unwrap_or_else(|_| Err(ended())))]
        });
        let (mut values, mut failures) = (Vec::new(), Vec::new());
        for (node, outcome) in outcomes {
            match outcome {
                Ok(value) => values.push(value),
                Err(Fault::Unusable(problem)) => {
                    failures.push(format!("{}: {}", node.name, brief(problem)));
                }
                Err(Fault::Busy(problem)) => return Err(Refusal::Busy(problem)),
                Err(Fault::Lie(lie)) => return Err(self.accuse(node, &call.method, *lie)),
            }
        }
        if values.is_empty() { Err(Refusal::Unusable(failures.join("; "))) } else { Ok(values) }
    }

    /// Sends the same request to all nodes at the same time, and returns every answer.
    pub(crate) fn ask_all(&self, call: &Call) -> Vec<Result<Vec<u8>, String>> {
        let usable: Vec<&Remote> =
            self.nodes.iter().filter(|node| node.lock().dropped.is_none()).collect();
        thread::scope(|scope| {
            let threads: Vec<_> =
                usable.iter().map(|node| scope.spawn(move || node.send(call))).collect();
            let answers =
                threads.into_iter().zip(&usable).map(|(thread, node)| match thread.join() {
                    Ok(Ok(answer)) => Ok(answer),
                    Ok(Err(Fault::Unusable(problem) | Fault::Busy(problem))) => {
                        Err(format!("{}: {problem}", node.name))
                    }
                    Ok(Err(Fault::Lie(lie))) => Err(format!("{}: {}", node.name, lie.reason)),
                    Err(_) => Err(format!("{}: the guard's thread ended", node.name)),
                });
            answers.collect()
        })
    }

    /// Drops the node with this number for the rest of the run.
    pub(crate) fn drop_node(&self, index: usize, reason: &str) {
        if let Some(node) = self.nodes.get(index) {
            node.lock().dropped.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// Describes the nodes for the status page.
    pub(crate) fn describe(&self) -> Vec<Value> {
        let describe = |node: &Remote| {
            let state = node.lock();
            json!({ "node": node.name, "dropped": state.dropped, "failure": state.failure })
        };
        self.nodes.iter().map(describe).collect()
    }

    /// Drops a node that sent false data.
    fn accuse(&self, node: &Remote, method: &str, lie: Lie) -> Refusal {
        let reason = lie.reason.clone();
        self.journal.accuse(&node.name, method, lie);
        node.lock().dropped.get_or_insert_with(|| reason.clone());
        Refusal::Lie { node: node.name.clone(), reason }
    }
}

impl Remote {
    fn send(&self, call: &Call) -> Result<Vec<u8>, Fault> {
        (self.transport)(call)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Two texts are valid after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a call to a node over HTTP.
fn send(agent: &Agent, address: &str, call: &Call) -> Result<Vec<u8>, Fault> {
    let fail = |problem: ureq::Error| {
        Fault::Unusable(match problem {
            ureq::Error::BodyExceedsLimit(limit) => {
                format!("expected an answer of at most {limit} bytes, got more")
            }
            ureq::Error::Timeout(_) => "no answer in time".to_owned(),
            other => other.to_string(),
        })
    };
    let url = format!("{address}{}", call.path);
    let request = agent.post(url).header("Content-Type", call.form.content_type());
    let mut response = request.send(&call.body[..]).map_err(fail)?;
    if response.status() != 200 {
        return Err(Fault::Unusable(format!("HTTP status {}", response.status().as_u16())));
    }
    response.body_mut().with_config().limit(call.limit).read_to_vec().map_err(fail)
}
