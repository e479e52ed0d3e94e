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

/// Answers `getblocks_by_height.bin`.
pub(crate) fn by_height(service: &Service, body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let request = HeightsRequest::read(body, MAX_HEIGHTS).map_err(malformed)?;
    let view = service.chain.view()?;
    let take = |blocks: &[RawBlock<'_>], _: &[Checked<'_>]| Ok(write_heights(blocks));
    fetch(service, &view, Instant::now(), &request.heights, MAX_ANSWER, take)
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
            let expected = service.chain.id(view, height)?;
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
            let expected = service.chain.id(view, height)?;
            Ok(check_id(view, height, &expected, block.blob)?.transaction_ids())
        });
        ids.collect()
    })
}

/// Asks nodes for the blocks at some heights, in an answer of at most so many bytes.
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
        service.chain.id(view, *height)?;
    }
    let call = Call {
        method: "getblocks_by_height.bin".to_owned(),
        path: "/getblocks_by_height.bin".to_owned(),
        form: Form::Binary,
        body: HeightsRequest::write(heights),
        limit,
    };
    service.nodes.ask_since(begun, &call, |bytes| {
        let blocks = read_heights_answer(bytes, MAX_HEIGHTS).map_err(unusable)?;
        if blocks.len() != heights.len() {
            let (expected, got) = (heights.len(), blocks.len());
            return Err(Fault::Unusable(format!("blocks: expected {expected}, got {got}")));
        }
        judge(&blocks)
    })
}
