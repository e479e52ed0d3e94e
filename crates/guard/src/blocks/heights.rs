//! The blocks at some heights: `getblocks_by_height.bin`.

use std::time::Instant;

use randomx_monero::Hash;

use crate::answer::Form;
use crate::chain::View;
use crate::nodes::{Call, Fault};
use crate::refusal::Refusal;
use crate::service::Service;

use super::format::{HeightsRequest, RawBlock, read_heights_answer, write_heights};
use super::{Checked, MAX_ANSWER, check_id, check_transactions, malformed, unusable};

/// The most blocks that are asked for by their heights.
const MAX_HEIGHTS: usize = 1000;

/// Answers `getblocks_by_height.bin`, for a request that began at `begun`.
pub(crate) fn by_height(
    service: &Service,
    begun: Instant,
    body: &[u8],
) -> Result<Vec<u8>, Refusal> {
    let request = HeightsRequest::read(body, MAX_HEIGHTS).map_err(malformed)?;
    let view = service.chain.view()?;
    let take = |blocks: &[RawBlock<'_>], _: &[Checked<'_>]| Ok(write_heights(blocks));
    fetch(service, &view, begun, &request.heights, MAX_ANSWER, take)
}

/// Asks nodes for the blocks at some heights in an answer of at most so many bytes, for a request that began
/// at `begun`, and checks them. `take` receives them.
pub(crate) fn fetch<T>(
    service: &Service,
    view: &View,
    begun: Instant,
    heights: &[u64],
    limit: u64,
    take: impl Fn(&[RawBlock<'_>], &[Checked<'_>]) -> Result<T, Fault>,
) -> Result<T, Refusal> {
    ask(service, view, begun, heights, limit, |blocks| {
        let checked = heights.iter().zip(blocks).map(|(&height, block)| {
            let expected = service.chain.id(view, begun, height)?;
            let parsed = check_id(view, height, &expected, block.blob)?;
            // Pruned nodes leave out what they have pruned, and are honest.
            if block.transactions.len() < parsed.transaction_hashes.len() {
                return Err(Fault::Unusable(format!(
                    "the node lacks transactions of block {height}"
                )));
            }
            check_transactions(parsed, height, &expected, block)
        });
        take(blocks, &checked.collect::<Result<Vec<_>, Fault>>()?)
    })
}

/// Returns the ids of the transactions in each of the blocks at some heights, for a request
/// that began at `begun`. The transactions themselves are not needed: pruned nodes leave out older ones.
pub(crate) fn transaction_ids(
    service: &Service,
    view: &View,
    begun: Instant,
    heights: &[u64],
) -> Result<Vec<Vec<Hash>>, Refusal> {
    ask(service, view, begun, heights, MAX_ANSWER, |blocks| {
        let ids = heights.iter().zip(blocks).map(|(&height, block)| {
            let expected = service.chain.id(view, begun, height)?;
            Ok(check_id(view, height, &expected, block.blob)?.transaction_ids())
        });
        ids.collect()
    })
}

/// Asks nodes for the blocks at some heights, in an answer of at most so many bytes. The request began at `begun`:
/// all of its headers are awaited for as long as one.
fn ask<T>(
    service: &Service,
    view: &View,
    begun: Instant,
    heights: &[u64],
    limit: u64,
    judge: impl Fn(&[RawBlock<'_>]) -> Result<T, Fault>,
) -> Result<T, Refusal> {
    let (tip, _) = view.tip();
    if let Some(height) = heights.iter().find(|height| **height > tip) {
        let problem = format!("heights: expected at most {tip}, got {height}");
        return Err(Refusal::Request(problem));
    }
    for height in heights {
        service.chain.id(view, begun, *height)?;
    }
    let call = Call {
        method: "getblocks_by_height.bin".to_owned(),
        path: "/getblocks_by_height.bin".to_owned(),
        form: Form::Binary,
        body: HeightsRequest::write(heights),
        limit,
    };
    service.nodes.ask(begun, &call, |bytes| {
        let blocks = read_heights_answer(bytes, MAX_HEIGHTS).map_err(unusable)?;
        if blocks.len() != heights.len() {
            let (expected, got) = (heights.len(), blocks.len());
            return Err(Fault::Unusable(format!("blocks: expected {expected}, got {got}")));
        }
        judge(&blocks)
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::thread;
    use std::time::Duration;

    use randomx_monero::{Block, Network};
    use randomx_testing::blocks::block_with;

    use super::*;
    use crate::archive::Archive;
    use crate::chain::Chain;
    use crate::verified::Verified;

    #[test]
    fn all_headers_of_a_request_are_awaited_for_as_long_as_one() {
        const PATIENCE: Duration = Duration::from_millis(500);
        const BASE: u64 = 100_000;
        const COUNT: u64 = 10;
        let (mut service, asked) = Service::before_a_refusing_node();
        service.chain = Chain::new(Arc::new(Archive::new(PathBuf::new(), PATIENCE)));
        service.chain.show(View::of_base((BASE, [0; 32]), Network::Mainnet));
        let block = Block::parse(&block_with(1, 1, &[0; 32], 0, 1, &[])).expect("a block");
        let blob = block.hashing_blob();
        let verified = || Verified { id: block.id(), blob: blob.clone(), work: None };
        // Each header is read in less time than a request waits.
        let read = || {
            for count in 1..=COUNT {
                thread::sleep(PATIENCE / 2);
                let blocks = (0..count).map(|_| verified()).collect();
                service.chain.archive().hold(BASE - count, blocks);
            }
        };
        let heights: Vec<u64> = (1..=COUNT).map(|count| BASE - count).collect();
        thread::scope(|scope| {
            scope.spawn(read);
            let begun = Instant::now();
            let outcome = by_height(&service, Instant::now(), &HeightsRequest::write(&heights));
            assert!(matches!(outcome, Err(Refusal::Busy(_))), "{outcome:?}");
            assert!(begun.elapsed() < 3 * PATIENCE, "{:?}", begun.elapsed());
        });
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        // The wallet's next request finds them.
        let outcome = by_height(&service, Instant::now(), &HeightsRequest::write(&heights));
        assert!(matches!(outcome, Err(Refusal::Unusable(_))), "{outcome:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }
}
