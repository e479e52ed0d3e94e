//! The headers that a scan needs.
//!
//! Where all blocks of a wallet are older than the verified ones, nodes say which of them is the newest in
//! their chain, and the headers down to it are read. Nodes may lie about it, and wallets name blocks down to
//! the first one. So headers are read in steps, and only until a block of the wallet is verified.

use std::cmp::Reverse;
use std::time::Instant;

use crate::archive::REQUEST_PATIENCE;
use crate::chain::{View, off_chain};
use crate::nodes::Fault;
use crate::refusal::Refusal;
use crate::service::Service;

use super::extent::{MAX_NAMED, newest_known, not_named};
use super::format::{BlocksRequest, HashesAnswer};
use super::{ids, unusable};

/// The most blocks that are read before the wallet's blocks are looked for among them.
const STEP: u64 = 4096;

/// Waits a while for headers without which no answer can be checked. A node's answer is large, so none is
/// requested before. The request began at `begun`.
pub(super) fn await_headers(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
    begun: Instant,
) -> Result<(), Refusal> {
    if request.start > view.tip().0 {
        return Ok(());
    }
    if request.start > 0 {
        service.chain.scan_from(view, request.start);
        service.chain.id(view, begun, request.start)?;
        // After the base has moved, the blocks between the old and the new base are read last.
        let last = view.base.0.saturating_sub(1).min(request.start + request.most_blocks() - 1);
        return service.chain.id(view, begun, last.max(request.start)).map(|_| ());
    }
    if newest_known(service, view, request).is_some() {
        return Ok(());
    }
    find(service, view, request, begun)
}

/// Requests headers until the newest block of a wallet is verified. May fail for now, and goes on with the
/// wallet's next request.
fn find(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
    begun: Instant,
) -> Result<(), Refusal> {
    service.chain.await_scans(begun)?;
    if newest_known(service, view, request).is_some() {
        return Ok(());
    }
    if service.chain.is_whole(view) {
        let problem = "block_ids: the verified chain has none of these blocks";
        return Err(Refusal::Unusable(problem.to_owned()));
    }
    // Every wallet names the genesis block.
    let genesis = view.network.genesis_id();
    let names_nothing_else = request.ids.iter().all(|id| *id == genesis);
    if names_nothing_else && !request.ids.is_empty() {
        return read_down(service, view, request, begun, &[1], u64::MAX);
    }
    let starts = newest_common(service, view, request, begun)?;
    read_down(service, view, request, begun, &starts, STEP)
}

/// Requests the headers down to each of the heights in turn, in steps, until a block of the wallet is verified. The
/// request began at `begun`.
fn read_down(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
    begun: Instant,
    starts: &[u64],
    step: u64,
) -> Result<(), Refusal> {
    let mut height = view.base.0;
    for &start in starts {
        while height > start {
            height = height.saturating_sub(step).max(start);
            if height > start && service.chain.archive().has(height) {
                continue;
            }
            service.chain.scan_from(view, height);
            // The nodes that named the heights may have taken all of the time. Another request finds the headers.
            service.chain.await_scans(begun)?;
            // After the base has moved, the blocks between the old and the new base are read last.
            service.chain.id(view, begun, view.base.0 - 1)?;
            // The nodes need the rest of the time for the blocks.
            if begun.elapsed() > REQUEST_PATIENCE {
                return Err(Refusal::Busy("the guard reads the headers for a scan".to_owned()));
            }
            if newest_known(service, view, request).is_some() {
                return Ok(());
            }
        }
    }
    Err(Refusal::Unusable(not_named(height)))
}

/// Asks two nodes for the newest block of a wallet that their chain has, for a request that began at `begun`. Returns
/// the heights, the higher one first: a false one is proven to be false before lower blocks are read.
fn newest_common(
    service: &Service,
    view: &View,
    request: &BlocksRequest<'_>,
    begun: Instant,
) -> Result<Vec<u64>, Refusal> {
    let (tip, _) = view.tip();
    let mut starts = service.nodes.ask_two(begun, &ids::call(request), |bytes| {
        let HashesAnswer { start, ids } = HashesAnswer::read(bytes).map_err(unusable)?;
        let named = ids.first().filter(|id| request.ids.iter().take(MAX_NAMED).any(|n| n == *id));
        let Some(id) = named.filter(|_| start <= tip) else {
            return Err(Fault::Unusable(not_named(start)));
        };
        if start == 0 {
            // The headers from there on are only read for a wallet that names no other block.
            let problem = "start_height: the node has none of the wallet's blocks but the genesis \
                           block; if every node says so, the wallet has false ids: rescan it";
            return Err(Fault::Unusable(problem.to_owned()));
        }
        match service.chain.known_id(view, begun, start) {
            Some(known) if known != *id => Err(off_chain(view, start, &known, *id, ("sent", id))),
            _ => Ok(start),
        }
    })?;
    starts.sort_unstable_by_key(|start| Reverse(*start));
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use randomx_monero::{Block, Network};
    use randomx_testing::blocks::block_with;

    use super::*;
    use crate::archive::Archive;
    use crate::blocks::blocks;
    use crate::chain::Chain;
    use crate::epee::Writer;
    use crate::nodes::{Call, Transport};
    use crate::verified::Verified;

    const BASE: u64 = 100_000;

    /// Asks for the blocks after one of `named`, while nobody reads headers. The nodes say which block is the
    /// newest common one. Returns the lowest height whose header is wanted.
    fn wanted(named: &[u8], said: &[u8]) -> Option<u64> {
        let nodes = said.iter().map(|number| {
            let number = *number;
            let send = move |_: &Call| {
                let mut writer = Writer::new();
                writer.bytes("status", b"OK");
                writer.number("start_height", height(number));
                writer.bytes("m_block_ids", &[number; 32]);
                Ok(writer.finish())
            };
            (number.to_string(), Box::new(send) as Transport)
        });
        let service = Service::before(nodes);
        service.chain.show(View::of_base((BASE, [0; 32]), Network::Mainnet));
        let mut request = Writer::new();
        let mut ids: Vec<_> = named.iter().map(|number| [*number; 32]).collect();
        ids.push(Network::Mainnet.genesis_id());
        request.bytes("block_ids", ids.as_flattened());
        let outcome = blocks(&service, Instant::now(), &request.finish());
        let wanted = service.chain.archive().describe()["wanted"].as_u64();
        assert_eq!(wanted.is_some(), matches!(outcome, Err(Refusal::Busy(_))), "{outcome:?}");
        wanted
    }

    /// Returns the height of a block that has this number.
    fn height(number: u8) -> u64 {
        1000 * u64::from(number)
    }

    #[test]
    fn headers_are_read_no_further_than_the_higher_of_two_starts() {
        let named = [99, 98, 50, 1];
        assert_eq!(wanted(&named, &[99]), Some(99_000));
        for said in [[1, 99], [99, 1], [98, 99]] {
            assert_eq!(wanted(&named, &said), Some(99_000));
        }
        assert_eq!(wanted(&named, &[50, 98, 99]), Some(98_000));
    }

    #[test]
    fn headers_are_read_below_a_start_that_proved_false() {
        let service = Service::before(iter::empty());
        let view = View::of_base((BASE, [0; 32]), Network::Mainnet);
        let block = Block::parse(&block_with(1, 1, &[0; 32], 0, 1, &[])).expect("a block");
        let (id, blob) = (block.id(), block.hashing_blob().clone());
        let mut body = Writer::new();
        body.bytes("block_ids", &[50; 32]);
        let body = body.finish();
        let request = BlocksRequest::read(&body).expect("a request");
        // No block of the wallet.
        service.chain.archive().hold(BASE - 1, vec![Verified { id, blob, work: None }]);
        let read =
            |starts: &[u64]| read_down(&service, &view, &request, Instant::now(), starts, STEP);
        let refusal = read(&[BASE - 1]).expect_err("a false start").to_string();
        assert_eq!(
            refusal,
            "start_height: expected the height of a block that the wallet named, got 99999"
        );
        let outcome = read(&[BASE - 1, height(50)]);
        assert!(matches!(outcome, Err(Refusal::Busy(_))), "{outcome:?}");
        assert_eq!(service.chain.archive().describe()["wanted"], BASE - 1 - STEP);
    }

    #[test]
    fn a_request_whose_time_is_over_waits_for_nothing() {
        let (mut service, asked) = Service::before_a_refusing_node();
        // Nobody reads headers.
        let archive = Archive::new(PathBuf::new(), REQUEST_PATIENCE);
        service.chain = Chain::new(Arc::new(archive));
        let view = View::of_base((BASE, [0; 32]), Network::Mainnet);
        let mut body = Writer::new();
        body.bytes("block_ids", &[50; 32]);
        let body = body.finish();
        let request = BlocksRequest::read(&body).expect("a request");
        let now = Instant::now();
        let begun = now.checked_sub(10 * REQUEST_PATIENCE).expect("an earlier time");
        let outcome = newest_common(&service, &view, &request, begun);
        assert!(matches!(outcome, Err(Refusal::Unusable(_))), "{outcome:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        let outcome = read_down(&service, &view, &request, begun, &[height(50)], STEP);
        assert!(matches!(outcome, Err(Refusal::Busy(_))), "{outcome:?}");
        assert!(now.elapsed() < REQUEST_PATIENCE);
        // The wallet's next request finds these.
        assert_eq!(service.chain.archive().describe()["wanted"], BASE - STEP);
    }

    #[test]
    fn headers_are_read_in_steps() {
        for said in [[1, 50], [1, 1]] {
            assert_eq!(wanted(&[99, 50, 1], &said), Some(BASE - STEP));
        }
    }

    #[test]
    fn a_start_is_a_block_that_the_wallet_named() {
        for said in [0, 40, 101] {
            assert_eq!(wanted(&[99, 50, 1], &[said]), None);
        }
        // The verified chain has another block there.
        assert_eq!(wanted(&[100, 50, 1], &[100]), None);
        // Only the genesis block: no node says where the scan begins.
        assert_eq!(wanted(&[], &[]), Some(1));
    }
}
