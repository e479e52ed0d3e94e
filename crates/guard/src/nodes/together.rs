//! Asking several nodes at the same time.

use std::io;
use std::sync::{Arc, mpsc};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::refusal::{Refusal, brief};

use super::times::Times;
use super::{Call, Fault, NO_TIME, Nodes, Remote};

/// The most threads that send transactions to one node. As many requests are processed at once.
pub(super) const MOST_SENDING: usize = 16;

impl Nodes {
    /// Asks two nodes at the same time, and others in place of those that fail. Returns each usable
    /// result: two, or one if no more nodes give one. The wallet's request began at `begun`.
    ///
    /// Nodes that wasted time a short time ago come last. Once there is a result, they may take only [`Times::late`]
    /// for another one, all together. A node cannot make itself the only one by slowness of its own: some time is
    /// kept for the others. Nor can it make others slow, since a node that was cut off early wasted no time.
    pub(crate) fn ask_two<T: Send>(
        &self,
        begun: Instant,
        call: &Call,
        judge: impl Fn(&[u8]) -> Result<T, Fault> + Sync,
    ) -> Result<Vec<T>, Refusal> {
        let (usable, mut failures) = self.usable();
        let (mut others, mut values, mut end) = (&usable[..], Vec::new(), None);
        while values.len() < 2 && !others.is_empty() {
            let prompt = others.iter().take_while(|node| node.behind().is_zero()).count();
            let candidates = if prompt > 0 { prompt } else { others.len() };
            let group;
            (group, others) = others.split_at(candidates.min(2 - values.len()));
            let Some(mut time) = self.share(begun, others) else {
                failures.push(NO_TIME.to_owned());
                break;
            };
            if prompt == group.len() && !others.is_empty() {
                // Only nodes that wasted time are left. Without time for them, these would be the only ones.
                time = time.saturating_sub(self.times.late).max(time / 2);
            }
            if prompt == 0 && !values.is_empty() {
                let now = Instant::now();
                let end = *end.get_or_insert(now + self.times.late);
                time = time.min(end.saturating_duration_since(now));
                if time.is_zero() {
                    break;
                }
            }
            let judge = |answer: &[u8]| Ok((judge(answer)?, 0));
            let ask = |node: &Remote| node.send(call, time, &self.times, judge);
            for (node, outcome) in group.iter().zip(at_once(group, ask)) {
                values.extend(self.settle(node, call, outcome, &mut failures)?);
            }
        }
        if values.is_empty() { Err(Refusal::Unusable(failures.join("; "))) } else { Ok(values) }
    }

    /// Sends a request to all nodes at once, each in its own thread. A node whose thread does not start is left
    /// out. If none starts, this thread sends and waits. Returns answers, or why there are none, as they
    /// arrive. Nodes receive the request whole also if nobody waits for their answers. The wallet's request began at
    /// `begun`.
    pub(crate) fn ask_all(
        &self,
        begun: Instant,
        call: Call,
    ) -> impl Iterator<Item = Result<Vec<u8>, String>> + use<> {
        let (usable, mut failures) = self.usable();
        let (call, times) = (Arc::new(call), self.times);
        let time = times.request.saturating_sub(begun.elapsed());
        let (sender, answers) = mpsc::channel();
        let mut without_thread = Vec::new();
        for &node in &usable {
            let (asked, call, sender) = (Arc::clone(node), Arc::clone(&call), sender.clone());
            let ask = move || {
                let answer = asked.pass(&call, time, &times);
                asked.lock().sending -= 1;
                // Nobody waits for an answer after another node accepted.
                let _ = sender.send(answer);
            };
            if !node.start(ask) {
                without_thread.push(node);
            }
        }
        if without_thread.len() == usable.len() {
            for node in without_thread {
                let _ = sender.send(node.pass(&call, time, &times));
            }
        } else {
            let left_out = |node: &Arc<Remote>| format!("{}: no thread is free for it", node.name);
            failures.extend(without_thread.into_iter().map(left_out));
        }
        answers.into_iter().chain(failures.into_iter().map(Err))
    }
}

impl Remote {
    /// Starts a thread that sends a transaction. Returns false if too many run, or the system refuses one.
    fn start(&self, send: impl FnOnce() + Send + 'static) -> bool {
        {
            let mut state = self.lock();
            if state.sending >= MOST_SENDING {
                return false;
            }
            state.sending += 1;
        }
        let is_started = thread::Builder::new().spawn(send).is_ok();
        if !is_started {
            self.lock().sending -= 1;
        }
        is_started
    }

    /// Sends a call, and returns the answer, or why there is none.
    fn pass(&self, call: &Call, time: Duration, times: &Times) -> Result<Vec<u8>, String> {
        let whole = |answer: &[u8]| Ok((answer.to_vec(), 0));
        self.send(call, time, times, whole).map_err(|fault| match fault {
            Fault::Unusable(problem) | Fault::Busy(problem) => {
                format!("{}: {}", self.name, brief(problem))
            }
            Fault::Lie(lie) => format!("{}: {}", self.name, lie.reason),
        })
    }
}

/// Asks nodes at the same time. Returns their answers in order.
fn at_once<T: Send>(
    nodes: &[&Arc<Remote>],
    ask: impl Fn(&Remote) -> Result<T, Fault> + Sync,
) -> Vec<Result<T, Fault>> {
    let ended = |_| Err(Fault::Unusable("the guard's thread ended".to_owned()));
    thread::scope(|scope| {
        let ask = &ask;
        let start = |node| thread::Builder::new().spawn_scoped(scope, move || ask(node));
        let threads: Vec<_> = nodes.iter().map(|&node| (node, start(node))).collect();
        let answer =
            |(node, thread): (&Arc<Remote>, io::Result<ScopedJoinHandle<'_, _>>)| match thread {
                Ok(thread) => thread.join().unwrap_or_else(ended),
                // The system refuses a thread: this one asks.
                Err(_) => ask(node),
            };
        threads.into_iter().map(answer).collect()
    })
}
