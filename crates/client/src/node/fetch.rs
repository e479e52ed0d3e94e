//! Several requests for blocks at once, which hides the latency of distant nodes.

use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

use super::{Node, NodeBlock, NodeError};

/// The number of requests at once.
const CONNECTIONS: u64 = 8;

/// Asks for the blocks of some heights, and takes what is needed of each as soon as it arrives: whole
/// blocks can be large. Returns that in order up to the first failure, and the failure.
///
/// A slow node's answers are fewer: after the time of one request no further one begins.
pub fn fetch<T: Send, E: From<NodeError> + Send>(
    node: &Node,
    heights: RangeInclusive<u64>,
    take: impl Fn(NodeBlock) -> Result<T, E> + Sync,
) -> (Vec<T>, Option<E>) {
    let (first, last) = (*heights.start(), *heights.end());
    let next = AtomicU64::new(first);
    let end = Instant::now() + node.timeout();
    let work = || {
        let mut answers = Vec::new();
        loop {
            let height = next.fetch_add(1, Ordering::Relaxed);
            // The first is requested in any case.
            if height > last || height > first && Instant::now() > end {
                return answers;
            }
            let answer = node.block(height).map_err(E::from).and_then(&take);
            if answer.is_err() {
                // The other threads finish their requests.
                next.store(last + 1, Ordering::Relaxed);
            }
            answers.push((height, answer));
        }
    };
    let mut answers = thread::scope(|scope| {
        let helpers: Vec<_> = (1..CONNECTIONS.min(last - first + 1))
            // If the system refuses a thread, the others do its share.
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut answers = work();
        answers.extend(helpers.into_iter().filter_map(|helper| helper.join().ok()).flatten());
        answers
    });
    answers.sort_unstable_by_key(|(height, _)| *height);
    let mut blocks = Vec::with_capacity(answers.len());
    for (_, answer) in answers {
        match answer {
            Ok(block) => blocks.push(block),
            Err(problem) => return (blocks, Some(problem)),
        }
    }
    (blocks, None)
}
