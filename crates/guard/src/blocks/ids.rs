//! The ids of blocks: `gethashes.bin`.

use std::collections::HashSet;
use std::time::Instant;

use randomx_monero::Hash;

use crate::answer::Form;
use crate::chain::off_chain;
use crate::nodes::{Call, Fault};
use crate::refusal::Refusal;
use crate::service::Service;

use super::extent::{newest_known, no_block_after};
use super::format::{BlocksRequest, HashesAnswer, write_hashes};
use super::{malformed, unusable};

/// The longest answer of a node with ids.
pub(crate) const MAX_HASHES: u64 = 1 << 20;

/// The most ids in an answer, as nodes send.
const MAX_IDS: u64 = 10_000;

/// The most ids in an answer that wallets take for the end of the chain. They then ask for blocks, from the
/// newest one on that they named.
const NO_MORE: usize = 3;

/// Returns the call for the ids of a node's chain from the newest block on that a wallet names.
pub(super) fn call(request: &BlocksRequest<'_>) -> Call {
    Call {
        method: "gethashes.bin".to_owned(),
        path: "/gethashes.bin".to_owned(),
        form: Form::Binary,
        body: request.write_hashes(),
        limit: MAX_HASHES,
    }
}

/// Answers `gethashes.bin`, for a request that began at `begun`.
pub(crate) fn hashes(service: &Service, begun: Instant, body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let request = BlocksRequest::read(body).map_err(malformed)?;
    let view = service.chain.view()?;
    let (tip, _) = view.tip();
    if let Some(start) = newest_known(service, &view, &request) {
        let last = tip.min(start + MAX_IDS - 1);
        let ids = (start..=last).map(|height| service.chain.id(&view, begun, height));
        return Ok(write_hashes(start, tip + 1, &ids.collect::<Result<Vec<_>, _>>()?));
    }
    let answers = service.nodes.ask_two(begun, &call(&request), |bytes| {
        let HashesAnswer { start, ids } = HashesAnswer::read(bytes).map_err(unusable)?;
        if !ids.first().is_some_and(|first| request.ids.contains(first)) {
            let problem = "m_block_ids: expected to begin with a block that the wallet named";
            return Err(Fault::Unusable(problem.to_owned()));
        }
        if start > tip {
            let problem = format!("start_height: expected at most {tip}, got {start}");
            return Err(Fault::Unusable(problem));
        }
        let known = usize::try_from(tip + 1 - start).unwrap_or(usize::MAX);
        let ids = &ids[..known.min(ids.len())];
        for (id, height) in ids.iter().zip(start..) {
            if let Some(known) = service.chain.known_id(&view, begun, height)
                && known != *id
            {
                return Err(off_chain(&view, height, &known, *id, ("sent", id)));
            }
        }
        let last = start + ids.len() as u64 - 1;
        if last < tip && (ids.len() <= NO_MORE || are_named(&request, ids)) {
            return Err(no_block_after(last, tip));
        }
        Ok((start, ids.to_vec()))
    })?;
    let (start, ids) = common(answers)?;
    let is_unproven = |height| service.chain.known_id(&view, begun, height).is_none();
    if ids.iter().zip(start..).any(|(_, height)| is_unproven(height)) {
        service.journal.not_verified("gethashes.bin: ids before the oldest verified header");
    }
    Ok(write_hashes(start, tip + 1, &ids))
}

/// Whether a wallet names all of these blocks. A request and an answer may have tens of thousands of ids each.
fn are_named(request: &BlocksRequest<'_>, ids: &[Hash]) -> bool {
    let named: HashSet<&Hash> = request.ids.iter().collect();
    ids.iter().all(|id| named.contains(id))
}

/// Returns the height of the first block and the ids that each of one or two answers has. Nothing proves
/// older ids, and a wallet keeps them, so answers that contradict each other are refused.
fn common(answers: Vec<(u64, Vec<Hash>)>) -> Result<(u64, Vec<Hash>), Refusal> {
    let shorter = answers.iter().min_by_key(|(_, ids)| ids.len()).cloned();
    let (start, ids) = shorter.ok_or_else(|| Refusal::Unusable("no answer".to_owned()))?;
    if answers.iter().any(|(first, other)| *first != start || !other.starts_with(&ids)) {
        let problem = "two nodes contradict each other, and nothing shows which one lies";
        return Err(Refusal::Unusable(problem.to_owned()));
    }
    Ok((start, ids))
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::time::Duration;

    use randomx_monero::Network;

    use super::*;
    use crate::chain::View;
    use crate::epee::Writer;
    use crate::nodes::Transport;

    #[test]
    fn ids_do_not_begin_after_the_verified_tip() {
        let (tip, genesis) = (100_000, Network::Mainnet.genesis_id());
        for start in [tip + 1, u64::MAX] {
            let answer = write_hashes(start, start, &[genesis]);
            let send = move |_: &Call| Ok(answer.clone());
            let node = ("a node".to_owned(), Box::new(send) as Transport);
            let service = Service::before(iter::once(node));
            service.chain.show(View::of_base((tip, [1; 32]), Network::Mainnet));
            let mut request = Writer::new();
            request.bytes("block_ids", &genesis);
            let refusal = hashes(&service, Instant::now(), &request.finish())
                .expect_err("no ids")
                .to_string();
            let expected = format!("start_height: expected at most {tip}, got {start}");
            assert!(refusal.contains(&expected), "{refusal}");
        }
    }

    #[test]
    fn many_ids_cost_no_more_time_than_their_number() {
        const NAMED: u64 = 50_000;
        const SENT: u64 = 10_000;
        let id = |number: u64| {
            let mut id = [7; 32];
            id[..8].copy_from_slice(&number.to_le_bytes());
            id
        };
        // All that the node sends, after many others.
        let named: Vec<Hash> = (0..NAMED).rev().map(id).collect();
        let sent: Vec<Hash> = (0..SENT).map(id).collect();
        let answer = write_hashes(1, SENT, &sent);
        let send = move |_: &Call| Ok(answer.clone());
        let node = ("a node".to_owned(), Box::new(send) as Transport);
        let service = Service::before(iter::once(node));
        service.chain.show(View::of_base((100_000, [1; 32]), Network::Mainnet));
        let mut request = Writer::new();
        request.bytes("block_ids", named.as_flattened());
        let begun = Instant::now();
        let refusal =
            hashes(&service, Instant::now(), &request.finish()).expect_err("no news").to_string();
        assert!(refusal.contains("the node has no block after 10000"), "{refusal}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
}
