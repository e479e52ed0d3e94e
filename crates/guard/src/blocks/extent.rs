//! Where an answer with blocks begins and ends.

use randomx_monero::{Block, Hash};

use crate::chain::{DEEP, View};
use crate::nodes::Fault;
use crate::service::Service;

use super::format::{BlocksAnswer, BlocksRequest};

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
    let common = request.ids.iter().find_map(|id| view.height_of(id));
    let recent = common.filter(|common| *common >= view.base.0);
    if let Some(recent) = recent.filter(|recent| start > *recent || start + DEEP < *recent) {
        return Err(Fault::Unusable(format!("start_height: expected {recent}, got {start}")));
    }
    // Every wallet names the genesis block. The headers from there on are only read for one that names
    // no other block.
    let others = || request.ids.iter().any(|id| *id != view.network.genesis_id());
    if recent.is_none() && start == 0 && others() {
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
    let is_new =
        |named: &Hash| *named != id && view.height_of(named).is_none_or(|height| height < last);
    if request.ids.iter().all(is_new) {
        return Ok(());
    }
    let (tip, _) = view.tip();
    let problem = format!("the node has no block after {last}, and the chain has {tip}");
    Err(Fault::Unusable(problem))
}
