//! Requests for blocks and the answers, in epee's binary format.

use randomx_monero::{Hash, Transaction};

use crate::epee::{
    self, Entry, FormatError, Writer, boolean, bytes, check_status, hashes, list, number, once,
    text,
};

/// The most blocks and transactions in an answer. Nodes send at most 1,000 blocks, and end with the
/// block that exceeds 20,000 transactions.
pub(super) const MAX_BLOCKS: usize = 1000;
const MAX_TRANSACTIONS: usize = 65_536;

/// The most outputs of a transaction: each has 34 bytes, and a transaction less than 1 MiB.
const MAX_OUTPUTS: usize = 32_768;

/// The longest block or transaction in bytes. Evidence of a lie has one of each at most.
pub(crate) const MAX_BLOB: usize = 1 << 20;

/// A request for blocks or for their ids.
pub(super) struct BlocksRequest<'a> {
    /// 0 for blocks, 1 for these and the pool's news, 2 for the latter.
    pub(super) info: u8,
    /// Blocks that the wallet knows, the newest first.
    pub(super) ids: &'a [Hash],
    /// The first block, or 0 to begin at a known one.
    pub(super) start: u64,
    pub(super) prune: bool,
    pub(super) no_miner: bool,
    /// The time since which the wallet wants the pool's news, or 0 for the whole pool.
    pub(super) pool_since: u64,
    most: u64,
}

impl<'a> BlocksRequest<'a> {
    /// Reads a wallet's request. Other fields, such as the one by which a node recognises a wallet
    /// again (`client`), are left out.
    pub(super) fn read(body: &'a [u8]) -> Result<BlocksRequest<'a>, FormatError> {
        let (mut info, mut ids, mut start, mut prune) = (None, None, None, None);
        let (mut no_miner, mut since, mut most) = (None, None, None);
        epee::read(body, |name, entry| match name {
            b"requested_info" => once(&mut info, "requested_info", number(entry)?),
            b"block_ids" => once(&mut ids, "block_ids", hashes(entry)?),
            b"start_height" => once(&mut start, "start_height", number(entry)?),
            b"prune" => once(&mut prune, "prune", boolean(entry)?),
            b"no_miner_tx" => once(&mut no_miner, "no_miner_tx", boolean(entry)?),
            b"pool_info_since" => once(&mut since, "pool_info_since", number(entry)?),
            b"max_block_count" => once(&mut most, "max_block_count", number(entry)?),
            _ => Ok(()),
        })?;
        let info = u8::try_from(info.unwrap_or(0)).map_err(|_| FormatError::Number)?;
        Ok(BlocksRequest {
            info,
            ids: ids.unwrap_or_default(),
            start: start.unwrap_or(0),
            prune: prune.unwrap_or(false),
            no_miner: no_miner.unwrap_or(false),
            pool_since: since.unwrap_or(0),
            most: most.unwrap_or(0),
        })
    }

    /// Returns the request for a node, which asks for whole transactions, and for the pool's news since a
    /// time of this node's clock.
    pub(super) fn write(&self, info: u8, pool_since: u64) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.byte("requested_info", info);
        writer.bytes("block_ids", self.ids.as_flattened());
        writer.number("start_height", self.start);
        writer.flag("prune", false);
        writer.flag("no_miner_tx", self.no_miner);
        writer.number("pool_info_since", pool_since);
        writer.number("max_block_count", self.most);
        writer.finish()
    }

    /// Returns the most blocks in an answer.
    pub(super) fn most_blocks(&self) -> u64 {
        let limit = MAX_BLOCKS as u64;
        if self.most > 0 { self.most.min(limit) } else { limit }
    }

    /// Returns the request for ids.
    pub(super) fn write_hashes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.bytes("block_ids", self.ids.as_flattened());
        writer.number("start_height", self.start);
        writer.finish()
    }
}

/// A block with its transactions, as a node sends it.
#[derive(Default)]
pub(crate) struct RawBlock<'a> {
    pub(crate) blob: &'a [u8],
    pub(crate) transactions: Vec<&'a [u8]>,
}

impl RawBlock<'_> {
    /// Returns the number of bytes of the block and its transactions.
    pub(super) fn bytes(&self) -> u64 {
        let transactions: usize = self.transactions.iter().map(|blob| blob.len()).sum();
        (self.blob.len() + transactions) as u64
    }
}

/// A transaction that is new in the pool.
pub(super) struct Added<'a> {
    pub(super) hash: &'a Hash,
    pub(super) blob: &'a [u8],
    double_spend: bool,
}

/// The pool's news.
#[derive(Default)]
pub(super) struct Pool<'a> {
    pub(super) time: u64,
    pub(super) extent: u8,
    pub(super) added: Vec<Added<'a>>,
    remaining: &'a [Hash],
    removed: &'a [Hash],
}

/// An answer with blocks.
#[derive(Default)]
pub(super) struct BlocksAnswer<'a> {
    pub(super) start: u64,
    pub(super) current: u64,
    pub(super) blocks: Vec<RawBlock<'a>>,
    /// For each block and transaction the numbers of its outputs.
    pub(super) indices: Vec<Vec<Vec<u64>>>,
    pub(super) pool: Pool<'a>,
}

impl<'a> BlocksAnswer<'a> {
    /// Returns the answer to a wallet that has all blocks.
    pub(super) fn empty(current: u64) -> BlocksAnswer<'a> {
        BlocksAnswer { current, ..BlocksAnswer::default() }
    }

    /// Reads a node's answer.
    pub(super) fn read(answer: &'a [u8]) -> Result<BlocksAnswer<'a>, FormatError> {
        let (mut status, mut start, mut current) = (None, None, None);
        let (mut blocks, mut indices) = (None, None);
        let (mut time, mut extent) = (None, None);
        let (mut added, mut remaining, mut removed) = (None, None, None);
        epee::read(answer, |name, entry| match name {
            b"status" => once(&mut status, "status", text(entry)?),
            b"start_height" => once(&mut start, "start_height", number(entry)?),
            b"current_height" => once(&mut current, "current_height", number(entry)?),
            b"blocks" => once(&mut blocks, "blocks", raw_blocks(entry, MAX_BLOCKS)?),
            b"output_indices" => once(&mut indices, "output_indices", all_indices(entry)?),
            b"daemon_time" => once(&mut time, "daemon_time", number(entry)?),
            b"pool_info_extent" => once(&mut extent, "pool_info_extent", number(entry)?),
            b"added_pool_txs" => {
                let read = list(entry, MAX_TRANSACTIONS, added_transaction)?;
                once(&mut added, "added_pool_txs", read)
            }
            b"remaining_added_pool_txids" => {
                once(&mut remaining, "remaining_added_pool_txids", hashes(entry)?)
            }
            b"removed_pool_txids" => once(&mut removed, "removed_pool_txids", hashes(entry)?),
            _ => Ok(()),
        })?;
        check_status(status)?;
        let pool = Pool {
            time: time.unwrap_or(0),
            extent: u8::try_from(extent.unwrap_or(0)).map_err(|_| FormatError::Number)?,
            added: added.unwrap_or_default(),
            remaining: remaining.unwrap_or_default(),
            removed: removed.unwrap_or_default(),
        };
        Ok(BlocksAnswer {
            start: start.unwrap_or(0),
            current: current.unwrap_or(0),
            blocks: blocks.unwrap_or_default(),
            indices: indices.unwrap_or_default(),
            pool,
        })
    }
}

/// Returns the bytes of a block or a transaction.
fn short<'a>(entry: Entry<'a, '_>) -> Result<&'a [u8], FormatError> {
    let blob = bytes(entry)?;
    if blob.len() > MAX_BLOB { Err(FormatError::TooLong(MAX_BLOB)) } else { Ok(blob) }
}

fn raw_blocks<'a>(entry: Entry<'a, '_>, most: usize) -> Result<Vec<RawBlock<'a>>, FormatError> {
    let mut left = MAX_TRANSACTIONS;
    list(entry, most, |entry| {
        let (mut blob, mut transactions) = (None, None);
        epee::object(entry, |name, entry| match name {
            b"block" => once(&mut blob, "block", short(entry)?),
            b"txs" => once(&mut transactions, "txs", list(entry, left, short)?),
            _ => Ok(()),
        })?;
        let transactions = transactions.unwrap_or_default();
        left -= transactions.len();
        Ok(RawBlock { blob: blob.unwrap_or_default(), transactions })
    })
}

fn all_indices(entry: Entry<'_, '_>) -> Result<Vec<Vec<Vec<u64>>>, FormatError> {
    let mut left = MAX_TRANSACTIONS + MAX_BLOCKS;
    list(entry, MAX_BLOCKS, |entry| {
        let mut transactions = None;
        epee::object(entry, |name, entry| match name {
            b"indices" => {
                let read = list(entry, left, indices)?;
                once(&mut transactions, "indices", read)
            }
            _ => Ok(()),
        })?;
        let transactions: Vec<Vec<u64>> = transactions.unwrap_or_default();
        left -= transactions.len();
        Ok(transactions)
    })
}

fn indices(entry: Entry<'_, '_>) -> Result<Vec<u64>, FormatError> {
    let mut numbers = None;
    epee::object(entry, |name, entry| match name {
        // Of eight bytes each, so that the list is no larger than its bytes.
        b"indices" => {
            let read = list(entry, MAX_OUTPUTS, |entry| Ok(entry.to_u64()?))?;
            once(&mut numbers, "indices", read)
        }
        _ => Ok(()),
    })?;
    Ok(numbers.unwrap_or_default())
}

fn added_transaction<'a>(entry: Entry<'a, '_>) -> Result<Added<'a>, FormatError> {
    let (mut hash, mut blob, mut double_spend) = (None, None, None);
    epee::object(entry, |name, entry| match name {
        b"tx_hash" => once(&mut hash, "tx_hash", hashes(entry)?),
        b"tx_blob" => once(&mut blob, "tx_blob", short(entry)?),
        b"double_spend_seen" => once(&mut double_spend, "double_spend_seen", boolean(entry)?),
        _ => Ok(()),
    })?;
    let hash = hash.and_then(|hashes| hashes.first()).ok_or(FormatError::Hashes)?;
    let double_spend = double_spend.unwrap_or(false);
    Ok(Added { hash, blob: blob.unwrap_or_default(), double_spend })
}

/// Returns an answer for a wallet. Its transactions are pruned if the wallet wants that.
pub(super) fn write_blocks(answer: &BlocksAnswer<'_>, prune: bool) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    writer.flag("untrusted", false);
    writer.number("start_height", answer.start);
    writer.number("current_height", answer.current);
    writer.objects("blocks", answer.blocks.len(), |writer, index| {
        write_block(writer, &answer.blocks[index], prune);
    });
    writer.objects("output_indices", answer.indices.len(), |writer, index| {
        let transactions = &answer.indices[index];
        writer.objects("indices", transactions.len(), |writer, index| {
            writer.numbers("indices", &transactions[index]);
        });
    });
    let pool = &answer.pool;
    writer.number("daemon_time", pool.time);
    writer.byte("pool_info_extent", pool.extent);
    writer.objects("added_pool_txs", pool.added.len(), |writer, index| {
        let Added { hash, blob, double_spend } = &pool.added[index];
        writer.bytes("tx_hash", *hash);
        writer.bytes("tx_blob", if prune { pruned(blob) } else { blob });
        writer.flag("double_spend_seen", *double_spend);
    });
    writer.bytes("remaining_added_pool_txids", pool.remaining.as_flattened());
    writer.bytes("removed_pool_txids", pool.removed.as_flattened());
    writer.finish()
}

fn write_block(writer: &mut Writer, block: &RawBlock<'_>, prune: bool) {
    writer.bytes("block", block.blob);
    if prune {
        writer.flag("pruned", true);
        writer.objects("txs", block.transactions.len(), |writer, index| {
            writer.bytes("blob", pruned(block.transactions[index]));
            // Nodes send zeros here too.
            writer.bytes("prunable_hash", &[0; 32]);
        });
    } else {
        writer.strings("txs", block.transactions.iter().copied());
    }
}

/// Returns the part of a checked transaction that is never pruned.
fn pruned(blob: &[u8]) -> &[u8] {
    Transaction::parse(blob).map_or(blob, |transaction| transaction.pruned())
}

/// A request for the blocks at some heights.
pub(super) struct HeightsRequest {
    pub(super) heights: Vec<u64>,
}

impl HeightsRequest {
    pub(super) fn read(body: &[u8], most: usize) -> Result<HeightsRequest, FormatError> {
        let mut heights = None;
        epee::read(body, |name, entry| match name {
            b"heights" => once(&mut heights, "heights", list(entry, most, number)?),
            _ => Ok(()),
        })?;
        Ok(HeightsRequest { heights: heights.unwrap_or_default() })
    }

    pub(super) fn write(heights: &[u64]) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.numbers("heights", heights);
        writer.finish()
    }
}

/// Reads a node's answer with the blocks at some heights.
pub(super) fn read_heights_answer(
    answer: &[u8],
    most: usize,
) -> Result<Vec<RawBlock<'_>>, FormatError> {
    let (mut status, mut blocks) = (None, None);
    epee::read(answer, |name, entry| match name {
        b"status" => once(&mut status, "status", text(entry)?),
        b"blocks" => once(&mut blocks, "blocks", raw_blocks(entry, most)?),
        _ => Ok(()),
    })?;
    check_status(status)?;
    Ok(blocks.unwrap_or_default())
}

/// Returns the answer with the blocks at some heights.
pub(super) fn write_heights(blocks: &[RawBlock<'_>]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    writer.flag("untrusted", false);
    writer.objects("blocks", blocks.len(), |writer, index| {
        write_block(writer, &blocks[index], false);
    });
    writer.finish()
}

/// An answer with ids.
pub(super) struct HashesAnswer<'a> {
    pub(super) start: u64,
    pub(super) ids: &'a [Hash],
}

impl<'a> HashesAnswer<'a> {
    pub(super) fn read(answer: &'a [u8]) -> Result<HashesAnswer<'a>, FormatError> {
        let (mut status, mut start, mut ids) = (None, None, None);
        epee::read(answer, |name, entry| match name {
            b"status" => once(&mut status, "status", text(entry)?),
            b"start_height" => once(&mut start, "start_height", number(entry)?),
            b"m_block_ids" => once(&mut ids, "m_block_ids", hashes(entry)?),
            _ => Ok(()),
        })?;
        check_status(status)?;
        Ok(HashesAnswer { start: start.unwrap_or(0), ids: ids.unwrap_or_default() })
    }
}

/// Returns the answer with ids.
pub(super) fn write_hashes(start: u64, current: u64, ids: &[Hash]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.bytes("status", b"OK");
    writer.flag("untrusted", false);
    writer.number("start_height", start);
    writer.number("current_height", current);
    writer.bytes("m_block_ids", ids.as_flattened());
    writer.finish()
}
