//! Asking a node for blocks, several at once: who is far away answers each one late.

use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use crate::node::{Node, NodeBlock, NodeError};

/// Requests at once.
const CONNECTIONS: u64 = 8;

/// The blocks of some heights, in order, up to the first that is not to be had, and why.
pub(super) fn fetch(
    node: &Node,
    heights: RangeInclusive<u64>,
) -> (Vec<NodeBlock>, Option<NodeError>) {
    let (first, last) = (*heights.start(), *heights.end());
    let next = AtomicU64::new(first);
    let work = || {
        let mut answers = Vec::new();
        loop {
            let height = next.fetch_add(1, Ordering::Relaxed);
            if height > last {
                return answers;
            }
            let answer = node.block(height);
            if answer.is_err() {
                // The others finish what they have begun.
                next.store(last + 1, Ordering::Relaxed);
            }
            answers.push((height, answer));
        }
    };
    let mut answers = thread::scope(|scope| {
        let helpers: Vec<_> = (1..CONNECTIONS.min(last - first + 1))
            // With fewer threads it takes longer.
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
