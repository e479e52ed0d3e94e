//! Blocks with their transactions: `getblocks.bin`, `getblocks_by_height.bin` and `gethashes.bin`.
//!
//! Nodes are asked for whole transactions also where a wallet asks for pruned ones, since the hash of a
//! pruned transaction cannot be checked. The guard prunes them itself.

mod extent;
mod format;
mod heights;
mod ids;
mod start;

use std::borrow::Cow;
use std::time::Instant;

use randomx_monero::{Block, Hash, Transaction, unknown_version};

use crate::answer::Form;
use crate::chain::{View, off_chain};
use crate::epee::FormatError;
use crate::journal::Lie;
use crate::nodes::{Call, Fault};
use crate::refusal::Refusal;
use crate::service::Service;

use extent::{check_progress, check_start};
pub(crate) use format::MAX_BLOB;
use format::{BlocksAnswer, BlocksRequest, Pool, RawBlock, write_blocks};
pub(crate) use heights::{by_height, fetch, transaction_ids};
pub(crate) use ids::{MAX_HASHES, hashes};
use start::await_headers;

/// The longest answer of a node. The nodes' own limit is 100 MiB and a block.
pub(crate) const MAX_ANSWER: u64 = 128 << 20;

/// Values of `requested_info`: blocks without the pool's news, and the news alone.
const BLOCKS_ONLY: u8 = 0;
const POOL_ONLY: u8 = 2;

/// The extent of an answer without the pool's news.
const NO_POOL: u8 = 0;

/// Answers `getblocks.bin`, for a request that began at `begun`.
pub(crate) fn blocks(service: &Service, begun: Instant, body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let request = BlocksRequest::read(body).map_err(malformed)?;
    let view = service.chain.view()?;
    let (tip, tip_id) = view.tip();
    let wants_pool = request.info != BLOCKS_ONLY;
    let wants_blocks = request.info != POOL_ONLY;
    let up_to_date = request.ids.first() == Some(&tip_id) || !wants_blocks;
    if up_to_date && !wants_pool {
        return Ok(write_blocks(&BlocksAnswer::empty(tip + 1), request.prune));
    }
    if !up_to_date {
        await_headers(service, &view, &request, begun)?;
    }
    let info = if up_to_date { POOL_ONLY } else { request.info };
    let call = |node: &str| {
        let since = service.pool_times().since(node, request.pool_since);
        Cow::Owned(Call {
            method: "getblocks.bin".to_owned(),
            path: "/getblocks.bin".to_owned(),
            form: Form::Binary,
            body: request.write(info, since),
            limit: MAX_ANSWER,
        })
    };
    let answer = service.nodes.ask_each(begun, call, |node, bytes| {
        let mut answer = BlocksAnswer::read(bytes).map_err(unusable)?;
        if !wants_pool {
            answer.pool = Pool::default();
        }
        check_pool(&answer)?;
        if up_to_date {
            (answer.start, answer.current) = (0, tip + 1);
            answer.blocks.clear();
            answer.indices.clear();
        } else {
            check_answer(service, &view, begun, &request, &mut answer)?;
            if !answer.indices.is_empty() {
                service.journal.not_verified("getblocks.bin: output_indices");
            }
        }
        if answer.pool.extent != NO_POOL {
            service.pool_times().note(node, answer.pool.time);
        }
        let useful = answer.blocks.iter().map(RawBlock::bytes).sum();
        Ok((write_blocks(&answer, request.prune), useful))
    })?;
    if wants_pool {
        service.journal.not_verified("getblocks.bin: transaction pool");
    }
    Ok(answer)
}

/// Checks all blocks of an answer, and cuts off those after the newest verified one. The request began at `begun`.
fn check_answer(
    service: &Service,
    view: &View,
    begun: Instant,
    request: &BlocksRequest<'_>,
    answer: &mut BlocksAnswer<'_>,
) -> Result<(), Fault> {
    let (tip, _) = view.tip();
    if answer.indices.len() != answer.blocks.len() {
        let (blocks, indices) = (answer.blocks.len(), answer.indices.len());
        let problem = format!("output_indices: expected {blocks} lists, got {indices}");
        return Err(Fault::Unusable(problem));
    }
    if answer.blocks.is_empty() && request.start <= tip {
        let problem =
            format!("the node has no newer block than the wallet, and the chain has {tip}");
        return Err(Fault::Unusable(problem));
    }
    check_start(service, view, begun, request, answer)?;
    // A few blocks below a verified one at most.
    service.chain.scan_from(view, answer.start);
    let missing = (tip + 1).saturating_sub(answer.start);
    let known = usize::try_from(missing).unwrap_or(usize::MAX);
    answer.blocks.truncate(known);
    answer.indices.truncate(known);
    let count = answer.blocks.len() as u64;
    if request.start == 0 && count < missing {
        check_progress(service, view, begun, request, answer.start + count - 1)?;
    }
    let mut next_index = None;
    for (index, block) in answer.blocks.iter().enumerate() {
        let height = answer.start + index as u64;
        let parsed = check_block(service, view, begun, height, block)?;
        check_indices(&parsed, request.no_miner, &answer.indices[index], &mut next_index)?;
    }
    answer.current = tip + 1;
    Ok(())
}

/// Checks that a block is the verified one at a height, and its transactions are those that it names. The request
/// began at `begun`.
fn check_block<'a>(
    service: &Service,
    view: &View,
    begun: Instant,
    height: u64,
    block: &RawBlock<'a>,
) -> Result<Checked<'a>, Fault> {
    let expected = service.chain.id(view, begun, height)?;
    let parsed = check_id(view, height, &expected, block.blob)?;
    check_transactions(parsed, height, &expected, block)
}

/// Checks that the transactions with a block of this id are those that it names.
fn check_transactions<'a>(
    parsed: Block,
    height: u64,
    expected: &Hash,
    block: &RawBlock<'a>,
) -> Result<Checked<'a>, Fault> {
    let lie = |reason: String| false_block(reason, height, expected, block.blob);
    if block.transactions.len() != parsed.transaction_hashes.len() {
        let (expected, got) = (parsed.transaction_hashes.len(), block.transactions.len());
        let reason = format!("block {height} has {expected} transactions, {got} were sent");
        return Err(lie(reason).into());
    }
    let mut transactions = Vec::with_capacity(block.transactions.len());
    for (blob, hash) in block.transactions.iter().zip(&parsed.transaction_hashes) {
        let parsed = Transaction::parse(blob).ok();
        let transaction = parsed.filter(|found| found.hash() == *hash);
        let Some(transaction) = transaction else {
            if parsed.is_some_and(|found| found.is_pruned()) {
                let problem = format!("the node has pruned block {height}");
                return Err(Fault::Unusable(problem));
            }
            let reason =
                format!("block {height} has another transaction than {}", hex::encode(hash));
            return Err(lie(reason).with_bytes("transaction", blob).into());
        };
        transactions.push(transaction);
    }
    Ok(Checked { block: parsed, transactions })
}

/// Parses a block, and checks its id.
fn check_id(view: &View, height: u64, expected: &Hash, blob: &[u8]) -> Result<Block, Fault> {
    // An honest node may follow rules that this release does not know.
    if let Some(version) = unknown_version(blob) {
        let problem = format!("block {height} has version {version}, which needs a newer release");
        return Err(Fault::Unusable(problem));
    }
    let parsed = Block::parse(blob).map_err(|problem| {
        let reason = format!("block {height} cannot be parsed: {problem}");
        Fault::from(false_block(reason, height, expected, blob))
    })?;
    if parsed.id() != *expected {
        return Err(off_chain(view, height, expected, parsed.id(), ("block", blob)));
    }
    Ok(parsed)
}

fn false_block(reason: String, height: u64, expected: &Hash, blob: &[u8]) -> Lie {
    let lie = Lie::new(reason).with("height", height);
    lie.with_bytes("verified_id", expected).with_bytes("block", blob)
}

/// A block whose transactions were checked.
pub(crate) struct Checked<'a> {
    pub(crate) block: Block,
    pub(crate) transactions: Vec<Transaction<'a>>,
}

/// Checks that each output has an index, and that those of new outputs are consecutive. Blocks do not
/// commit to the first of an answer.
fn check_indices(
    checked: &Checked<'_>,
    no_miner: bool,
    indices: &[Vec<u64>],
    next: &mut Option<u64>,
) -> Result<(), Fault> {
    let implausible = |what: &str| Err(Fault::Unusable(format!("output_indices: {what}")));
    let miner = &checked.block.miner_transaction;
    let others = checked.transactions.iter().map(|found| (found.version, found.outputs));
    if indices.len() != 1 + others.len() {
        return implausible("expected a list for each transaction");
    }
    let all = std::iter::once((miner.version, miner.outputs)).chain(others);
    for (number, ((version, outputs), list)) in all.zip(indices).enumerate() {
        let left_out = number == 0 && no_miner;
        if left_out {
            // How many are between is unknown.
            *next = None;
            continue;
        }
        if list.len() != outputs {
            return implausible("expected an index for each output");
        }
        if version == 1 {
            continue;
        }
        for &index in list {
            if next.is_some_and(|next| next != index) {
                return implausible("expected consecutive numbers");
            }
            *next = index.checked_add(1);
        }
    }
    Ok(())
}

/// Checks that the transactions of the pool have their hashes. The hash of a transaction of an unknown
/// form cannot be computed: nodes may know newer rules than the guard.
fn check_pool(answer: &BlocksAnswer<'_>) -> Result<(), Fault> {
    for added in &answer.pool.added {
        let hash = hex::encode(added.hash);
        let whole = Transaction::parse(added.blob)
            .map_err(|problem| Fault::Unusable(format!("pool transaction {hash}: {problem}")))?;
        if whole.hash() != *added.hash {
            let reason = format!("the pool has another transaction than {hash}");
            return Err(Lie::new(reason).with_bytes("transaction", added.blob).into());
        }
    }
    Ok(())
}

fn malformed(problem: FormatError) -> Refusal {
    Refusal::Request(problem.to_string())
}

fn unusable(problem: FormatError) -> Fault {
    Fault::Unusable(problem.to_string())
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod pool;

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use randomx_monero::{Hash, Network};
    use randomx_testing::blocks::block_with;

    use super::format::MAX_BLOCKS;
    use super::*;
    use crate::epee::Writer;
    use crate::verified::Verified;

    #[test]
    fn no_node_is_asked_for_blocks_whose_headers_are_being_read() {
        let (service, asked) = Service::before_a_refusing_node();
        let base = (100_000, [1; 32]);
        service.chain.show(View::of_base(base, Network::Mainnet));
        let ask = |ids: &[Hash], start: u64| {
            let mut request = Writer::new();
            request.bytes("block_ids", ids.as_flattened());
            request.number("start_height", start);
            let outcome = blocks(&service, Instant::now(), &request.finish());
            (matches!(outcome, Err(Refusal::Busy(_))), asked.swap(0, Ordering::Relaxed))
        };
        let (unknown, genesis) = ([7; 32], Network::Mainnet.genesis_id());
        // A node says where this scan begins.
        assert_eq!(ask(&[unknown, genesis], 0), (false, 1));
        assert_eq!(ask(&[genesis], 50_000), (true, 0));
        assert_eq!(ask(&[unknown, genesis], 0), (true, 0));
        // No older header is needed for these.
        assert_eq!(ask(&[unknown, base.1, genesis], 0), (false, 1));
        assert_eq!(ask(&[genesis], base.0), (false, 1));
    }

    #[test]
    fn no_node_is_asked_for_blocks_while_one_of_their_headers_is_being_read() {
        const FIRST: u64 = 98_304;
        let (service, asked) = Service::before_a_refusing_node();
        // The base moved, and the headers between its old place and the new one are missing.
        let base = (100_000, [1; 32]);
        service.chain.show(View::of_base(base, Network::Mainnet));
        let block = Block::parse(&block_with(1, 1, &[0; 32], 0, 1, &[])).expect("a block");
        let verified = Verified { id: block.id(), blob: block.hashing_blob().clone(), work: None };
        service.chain.archive().hold(FIRST, vec![verified.clone(); MAX_BLOCKS]);
        let ask = |start: u64, most: u64| {
            let mut request = Writer::new();
            request.bytes("block_ids", &Network::Mainnet.genesis_id());
            request.number("start_height", start);
            request.number("max_block_count", most);
            let outcome = blocks(&service, Instant::now(), &request.finish());
            (matches!(outcome, Err(Refusal::Busy(_))), asked.swap(0, Ordering::Relaxed))
        };
        for (start, most) in [(FIRST, 0), (FIRST, u64::MAX), (FIRST + 900, 100), (base.0, 0)] {
            assert_eq!(ask(start, most), (false, 1), "{start}, {most}");
        }
        for (start, most) in [(FIRST + 1, 0), (FIRST + 900, 101)] {
            assert_eq!(ask(start, most), (true, 0), "{start}, {most}");
        }
        // Blocks from the base on need no header of the archive.
        for (headers, outcome) in [(9, (true, 0)), (10, (false, 1))] {
            service.chain.archive().hold(base.0 - 10, vec![verified.clone(); headers]);
            assert_eq!(ask(base.0 - 10, 0), outcome, "{headers}");
        }
    }

    /// Judges an answer whose pool has a transaction with this hash.
    fn judge_pool(hash: &Hash, blob: &[u8]) -> Result<(), Fault> {
        let mut writer = Writer::new();
        writer.bytes("status", b"OK");
        writer.objects("added_pool_txs", 1, |writer, _| {
            writer.bytes("tx_hash", hash);
            writer.bytes("tx_blob", blob);
        });
        check_pool(&BlocksAnswer::read(&writer.finish()).expect("an answer"))
    }

    #[test]
    fn pool_transactions_of_an_unknown_form_are_not_accused() {
        // Version 1 without inputs and outputs.
        let known = [1, 0, 0, 0, 0];
        let hash = Transaction::parse(&known).expect("a transaction").hash();
        assert!(judge_pool(&hash, &known).is_ok());
        assert!(matches!(judge_pool(&[7; 32], &known), Err(Fault::Lie(_))));
        for unknown in [&[3, 0, 0, 0, 0][..], &[]] {
            assert!(matches!(judge_pool(&hash, unknown), Err(Fault::Unusable(_))));
        }
    }
}
