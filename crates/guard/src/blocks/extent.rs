//! Where an answer with blocks begins and ends.

use std::time::Instant;

use randomx_monero::Hash;

use crate::chain::{DEEP, View};
use crate::nodes::Fault;
use crate::service::Service;

use super::format::{BlocksAnswer, BlocksRequest};

/// The most blocks of a wallet that are looked up among older ones. Wallets name some 30.
pub(super) const MAX_NAMED: usize = 256;

/// Checks that an answer begins where the wallet's chain and the verified one part. The request began at `begun`.
pub(super) fn check_start(
    service: &Service,
    view: &View,
    begun: Instant,
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
    let Some(known) = newest_known(service, view, request) else {
        return Err(Fault::Busy("the guard reads the headers for a scan".to_owned()));
    };
    if start > known || start + DEEP < known {
        return Err(Fault::Unusable(format!("start_height: expected {known}, got {start}")));
    }
    if request.ids.contains(&service.chain.id(view, begun, start)?) {
        Ok(())
    } else {
        Err(Fault::Unusable(not_named(start)))
    }
}

/// Returns why a height is refused at which a wallet's chain and the verified one do not part.
pub(super) fn not_named(height: u64) -> String {
    format!("start_height: expected the height of a block that the wallet named, got {height}")
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

/// Checks that an answer that ends before the tip has a block after all those that the wallet named.
/// Wallets take an answer without a new block for the end of the chain. The request began at `begun`.
pub(super) fn check_progress(
    service: &Service,
    view: &View,
    begun: Instant,
    request: &BlocksRequest<'_>,
    last: u64,
) -> Result<(), Fault> {
    let id = service.chain.id(view, begun, last)?;
    if last < view.base.0 {
        // All headers up to the base are needed for the heights of the wallet's blocks.
        service.chain.id(view, begun, view.base.0 - 1)?;
    }
    let is_new = |(named, height): (&Hash, Option<u64>)| {
        *named != id && height.is_none_or(|height| height < last)
    };
    if named(service, view, request).all(is_new) {
        return Ok(());
    }
    Err(no_block_after(last, view.tip().0))
}

/// Returns the fault of an answer that ends before the tip, and has nothing new for the wallet.
pub(super) fn no_block_after(last: u64, tip: u64) -> Fault {
    Fault::Unusable(format!("the node has no block after {last}, and the chain has {tip}"))
}
