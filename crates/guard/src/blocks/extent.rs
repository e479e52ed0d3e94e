//! Where an answer with blocks begins and ends.

use randomx_monero::{Block, Hash};

use crate::chain::{DEEP, View};
use crate::nodes::Fault;
use crate::refusal::Refusal;
use crate::service::Service;

use super::format::{BlocksAnswer, BlocksRequest};

/// The most blocks of a wallet that are looked up among older ones. Wallets name some 30.
const MAX_NAMED: usize = 256;

/// Waits a while for headers without which no answer can be checked. A node's answer is large, so none is
/// requested before.
pub(super) fn await_headers(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
) -> Result<(), Refusal> {
    if request.start > view.tip().0 {
        return Ok(());
    }
    if request.start > 0 {
        service.chain.scan_from(view, request.start);
        return service.chain.id(view, request.start).map(|_| ());
    }
    // Where the wallet's blocks are unknown, a node says where its scan begins.
    if newest_known(service, view, request).is_some() {
        return Ok(());
    }
    service.chain.await_scans()
}

/// Checks that an answer begins where the wallet's chain and the verified one part.
pub(super) fn check_start(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
    answer: &BlocksAnswer<'_>,
) -> Result<(), Fault> {
    let start = answer.start;
    if request.start > 0 {
        return if start == request.start {
            Ok(())
        } else {
            Err(Fault::Unusable(format!("start_height: expected {}, got {start}", request.start)))
        };
    }
    let known = newest_known(service, view, request);
    if let Some(known) = known.filter(|known| start > *known || start + DEEP < *known) {
        return Err(Fault::Unusable(format!("start_height: expected {known}, got {start}")));
    }
    // Every wallet names the genesis block. The headers from there on are only read for one that names
    // no other block.
    let others = || request.ids.iter().any(|id| *id != view.network.genesis_id());
    if known.is_none() && start == 0 && others() {
        let problem =
            "start_height: the node has none of the wallet's blocks but the genesis block";
        return Err(Fault::Unusable(problem.to_owned()));
    }
    if start_id(service, view, answer).is_some_and(|id| request.ids.contains(&id)) {
        Ok(())
    } else {
        let problem = format!("start_height: block {start} is none that the wallet named");
        Err(Fault::Unusable(problem))
    }
}

/// Returns the height of the first block that a wallet names of those whose height is verified. Every
/// wallet names the genesis block, which counts only if all headers are known.
pub(super) fn newest_known(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
) -> Option<u64> {
    let known = named(service, view, request).find_map(|(_, height)| height);
    known.filter(|known| *known > 0 || service.chain.is_whole(view))
}

/// Returns the blocks that a wallet names, with those heights that are verified.
fn named<'a>(
    service: &'a Service,
    view: &'a View,
    request: &BlocksRequest<'a>,
) -> impl Iterator<Item = (&'a Hash, Option<u64>)> {
    request.ids.iter().enumerate().map(move |(index, id)| {
        let is_looked_up = index < MAX_NAMED;
        let height =
            if is_looked_up { service.chain.height_of(view, id) } else { view.height_of(id) };
        (id, height)
    })
}

/// Returns the id of an answer's first block. If the header at that height is not read yet, the block
/// itself must have the height.
fn start_id(service: &Service, view: &View, answer: &BlocksAnswer<'_>) -> Option<Hash> {
    service.chain.known_id(view, answer.start).or_else(|| {
        let first = answer.blocks.first().filter(|_| answer.start < view.base.0)?;
        let block = Block::parse(first.blob).ok()?;
        (block.height() == answer.start).then(|| block.id())
    })
}

/// Checks that an answer that ends before the tip has a block after all those that the wallet named.
/// Wallets take an answer without a new block for the end of the chain.
pub(super) fn check_progress(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
    last: u64,
) -> Result<(), Fault> {
    let id = service.chain.id(view, last)?;
    if last < view.base.0 {
        // All headers up to the base are needed for the heights of the wallet's blocks.
        service.chain.id(view, view.base.0 - 1)?;
    }
    let is_new = |(named, height): (&Hash, Option<u64>)| {
        *named != id && height.is_none_or(|height| height < last)
    };
    if named(service, view, request).all(is_new) {
        return Ok(());
    }
    let (tip, _) = view.tip();
    let problem = format!("the node has no block after {last}, and the chain has {tip}");
    Err(Fault::Unusable(problem))
}
