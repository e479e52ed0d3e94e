//! Several requests for blocks at once, which hides the latency of distant nodes.

use std::{
    ops::RangeInclusive,
    panic,
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
    let ask = |height| node.block(height).map_err(E::from).and_then(&take);
    fetch_by(ask, heights, Instant::now() + node.timeout())
}

/// Asks as [`fetch`] does, in a given way. After `end` no further request begins.
///
/// # Panics
///
/// If `ask` panics. The panic continues in the caller, even if it began in another thread.
fn fetch_by<T: Send, E: Send>(
    ask: impl Fn(u64) -> Result<T, E> + Sync,
    heights: RangeInclusive<u64>,
    end: Instant,
) -> (Vec<T>, Option<E>) {
    let (first, last) = (*heights.start(), *heights.end());
    let next = AtomicU64::new(first);
    let work = || {
        let mut answers = Vec::new();
        loop {
            let height = next.fetch_add(1, Ordering::Relaxed);
            // The first is requested in any case.
            if height > last || height > first && Instant::now() > end {
                return answers;
            }
            let answer = ask(height);
            if answer.is_err() {
                // The other threads finish their requests.
                next.store(last + 1, Ordering::Relaxed);
            }
            answers.push((height, answer));
        }
    };
    let answers = thread::scope(|scope| {
        let helpers: Vec<_> = (1..CONNECTIONS.min(last - first + 1))
            // If the system refuses a thread, the others do its share.
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut answers = work();
        for helper in helpers {
            // Without the helper's answers, others would be taken for those at its heights.
            answers.extend(helper.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
        }
        answers
    });
    in_order(first, answers)
}

/// Returns the answers from the height `first` up to the first failure or missing height, and the
/// failure.
fn in_order<T, E>(first: u64, mut answers: Vec<(u64, Result<T, E>)>) -> (Vec<T>, Option<E>) {
    answers.sort_unstable_by_key(|(height, _)| *height);
    let mut blocks = Vec::with_capacity(answers.len());
    for ((height, answer), expected) in answers.into_iter().zip(first..) {
        // A thread may take a height just before the time is over and not ask for it, while another
        // thread still asks for the next one.
        if height != expected {
            break;
        }
        match answer {
            Ok(block) => blocks.push(block),
            Err(problem) => return (blocks, Some(problem)),
        }
    }
    (blocks, None)
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_panic_in_a_helper_continues_in_the_caller() {
        let (caller, helped) = (thread::current().id(), AtomicBool::new(false));
        let end = Instant::now() + Duration::from_secs(60);
        let ask = |height| {
            if thread::current().id() != caller {
                helped.store(true, Ordering::Relaxed);
                panic!("the request for block {height}");
            }
            while !helped.load(Ordering::Relaxed) && Instant::now() < end {
                thread::sleep(Duration::from_millis(1));
            }
            Ok::<_, ()>(height)
        };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| fetch_by(ask, 1..=64, end)));
        assert!(outcome.is_err());
    }

    #[test]
    fn after_the_end_only_the_first_block_is_requested() {
        let end = Instant::now();
        while Instant::now() <= end {
            thread::yield_now();
        }
        let requests = AtomicU64::new(0);
        let ask = |height| {
            requests.fetch_add(1, Ordering::Relaxed);
            Ok::<_, ()>(height)
        };
        assert_eq!(fetch_by(ask, 1..=64, end), (vec![1], None));
        assert_eq!(requests.into_inner(), 1);
    }

    #[test]
    fn blocks_are_consecutive() {
        let given = |answers: &[(u64, Result<u64, &'static str>)]| in_order(5, answers.to_vec());
        let [five, six, seven] = [5, 6, 7].map(|height| (height, Ok(height)));
        let late = (8, Err("the node is gone"));
        assert_eq!(given(&[seven, five, late, six]), (vec![5, 6, 7], Some("the node is gone")));
        assert_eq!(given(&[seven, five]), (vec![5], None));
        assert_eq!(given(&[late, six, five]), (vec![5, 6], None));
        assert_eq!(given(&[six]), (vec![], None));
    }
}
