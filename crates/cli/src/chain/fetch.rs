//! Requests blocks from a node, several at once, since each answer of a distant node takes long.

use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use crate::node::{Node, NodeBlock, NodeError};

/// Requests at once.
const CONNECTIONS: u64 = 8;

/// Returns the blocks of some heights in order, up to the first failed request, and its error.
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
                // The other threads finish their requests and make no more.
                next.store(last + 1, Ordering::Relaxed);
            }
            answers.push((height, answer));
        }
    };
    let mut answers = thread::scope(|scope| {
        let helpers: Vec<_> = (1..CONNECTIONS.min(last - first + 1))
            // If a thread cannot start, the others do its share.
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
