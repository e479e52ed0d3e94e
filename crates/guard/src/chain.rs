//! The verified chain, as the threads that answer requests see it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use randomx_monero::client::Client;
use randomx_monero::{Hash, HashingBlob, Network};

use crate::archive::{Archive, Unknown};
use crate::journal::Lie;
use crate::nodes::Fault;
use crate::refusal::{READING, Refusal};
use crate::verified::Verified;

/// The depth below the tip from which another block at the same height is a lie, and not a fork that
/// the node has yet to leave.
pub(crate) const DEEP: u64 = 10;

/// The newest blocks of the verified chain at one moment.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) network: Network,
    /// The last block that is kept by its id alone.
    pub(crate) base: (u64, Hash),
    /// The blocks after it.
    blocks: Vec<Verified>,
    heights: HashMap<Hash, u64>,
    /// Blocks after the base that the chain had in this run before reorganisations, with their heights.
    replaced: HashMap<Hash, u64>,
    /// The chain's work up to the newest block, and that block's timestamp.
    pub(crate) work: u128,
    pub(crate) timestamp: u64,
}

impl View {
    /// Returns the client's chain, or `None` before there is one.
    pub(crate) fn of(client: &Client, network: Network) -> Option<View> {
        let tip = client.tip()?;
        let base = (client.base().height, client.base().id);
        let mut blocks = Vec::new();
        let mut heights = HashMap::from([(base.1, base.0)]);
        for block in client.kept() {
            let blob = HashingBlob::parse(block.blob).ok()?;
            heights.insert(block.id, block.height);
            blocks.push(Verified {
                id: block.id,
                blob,
                work: Some((block.difficulty, block.work)),
            });
        }
        blocks.reverse();
        let (replaced, work, timestamp) = (HashMap::new(), tip.work, tip.timestamp);
        Some(View { network, base, blocks, heights, replaced, work, timestamp })
    }

    /// Notes the blocks of an earlier view that are not on this chain.
    fn replace(&mut self, before: &View) {
        let all = before.heights.iter().chain(&before.replaced);
        let is_replaced =
            |id: &Hash, height: u64| height > self.base.0 && !self.heights.contains_key(id);
        let replaced = all.filter(|(id, height)| is_replaced(id, **height));
        self.replaced = replaced.map(|(id, height)| (*id, *height)).collect();
    }

    /// Returns a view without blocks after the base.
    #[cfg(test)]
    pub(crate) fn of_base(base: (u64, Hash), network: Network) -> View {
        let (heights, replaced) = (HashMap::from([(base.1, base.0)]), HashMap::new());
        View { network, base, blocks: Vec::new(), heights, replaced, work: 0, timestamp: 0 }
    }

    /// Returns the height and the id of the newest block.
    pub(crate) fn tip(&self) -> (u64, Hash) {
        let above = self.blocks.len() as u64;
        (self.base.0 + above, self.blocks.last().map_or(self.base.1, |block| block.id))
    }

    /// Returns the block at a height after the base.
    pub(crate) fn block(&self, height: u64) -> Option<&Verified> {
        let index = height.checked_sub(self.base.0 + 1)?;
        self.blocks.get(usize::try_from(index).ok()?)
    }

    /// Returns the height of a block that is the base or after it, or the genesis block.
    pub(crate) fn height_of(&self, id: &Hash) -> Option<u64> {
        let genesis = (*id == self.network.genesis_id()).then_some(0);
        self.heights.get(id).copied().or(genesis)
    }

    /// Returns the timestamps of the last blocks, at most `count`, the oldest first.
    pub(crate) fn timestamps(&self, count: usize) -> Vec<u64> {
        let first = self.blocks.len().saturating_sub(count);
        self.blocks[first..].iter().map(|block| block.blob.header.timestamp).collect()
    }
}

/// The verified chain: its newest blocks in memory, older ones in an archive.
pub(crate) struct Chain {
    view: RwLock<Option<Arc<View>>>,
    archive: Arc<Archive>,
}

impl Chain {
    pub(crate) fn new(archive: Arc<Archive>) -> Chain {
        Chain { view: RwLock::new(None), archive }
    }

    /// Shows a new state to requests that begin from now on.
    pub(crate) fn show(&self, mut view: View) {
        self.archive.set_base(view.base);
        let mut shown = self.view.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = &*shown {
            view.replace(before);
        }
        *shown = Some(Arc::new(view));
    }

    /// Returns the newest state.
    pub(crate) fn view(&self) -> Result<Arc<View>, Refusal> {
        let view = self.view.read().unwrap_or_else(PoisonError::into_inner).clone();
        view.ok_or_else(|| Refusal::Busy(READING.to_owned()))
    }

    /// Returns the id of the block at a height, for a request that began at `begun`.
    pub(crate) fn id(&self, view: &View, begun: Instant, height: u64) -> Result<Hash, Refusal> {
        if height == view.base.0 {
            return Ok(view.base.1);
        }
        if height == 0 {
            return Ok(view.network.genesis_id());
        }
        self.block(view, begun, height).map(|block| block.id)
    }

    /// Returns the id of the block at a height, unless it is neither in memory nor in the archive. The request
    /// began at `begun`.
    pub(crate) fn known_id(&self, view: &View, begun: Instant, height: u64) -> Option<Hash> {
        let above = height >= view.base.0 || height == 0;
        (above || self.archive.has(height)).then(|| self.id(view, begun, height).ok()).flatten()
    }

    /// Returns the height of a block in memory or in the archive, or of the genesis block.
    pub(crate) fn height_of(&self, view: &View, id: &Hash) -> Option<u64> {
        view.height_of(id).or_else(|| self.archive.height_of(id, view.base.0))
    }

    /// Whether the headers of all blocks are in memory or in the archive.
    pub(crate) fn is_whole(&self, view: &View) -> bool {
        let base = view.base.0;
        base <= 1 || self.archive.has(1) && self.archive.has(base - 1)
    }

    /// Requests the headers from a height on, for a scan that begins there.
    pub(crate) fn scan_from(&self, view: &View, height: u64) {
        if height < view.base.0 {
            self.archive.want(height.max(1));
        }
    }

    /// Waits a while for the headers of all scans, for a request that began at `begun`.
    pub(crate) fn await_scans(&self, begun: Instant) -> Result<(), Refusal> {
        let busy = |_| Refusal::Busy("the guard reads the headers for a scan".to_owned());
        self.archive.await_scans(begun).map_err(busy)
    }

    /// Returns the block at a height, for a request that began at `begun`. An older block is fetched to the archive,
    /// which may take longer than a wallet waits; the request is refused then, and succeeds later.
    pub(crate) fn block(
        &self,
        view: &View,
        begun: Instant,
        height: u64,
    ) -> Result<Verified, Refusal> {
        let (tip, _) = view.tip();
        if height > tip {
            let problem = format!("height: expected at most {tip}, the newest verified block");
            return Err(Refusal::Request(problem));
        }
        if let Some(block) = view.block(height) {
            return Ok(block.clone());
        }
        self.archive.block(height, begun).map_err(|unknown| match unknown {
            Unknown::Awaited => {
                Refusal::Busy(format!("the guard reads the headers from block {height} on"))
            }
            Unknown::Old => Refusal::Request(format!(
                "block {height}: its header is not verified yet; a wallet's scan from this height or \
                 below makes the guard verify it"
            )),
        })
    }

    /// Returns the archive of older headers.
    pub(crate) fn archive(&self) -> &Archive {
        &self.archive
    }
}

/// Judges a node that has a block with another id than the verified one. `sent` is what shows that, and
/// its name in the evidence.
///
/// In a reorganisation a node may follow the new chain before the guard does. Its accusation is withdrawn
/// when the guard follows. A node that follows after the guard sends blocks that were on the guard's own
/// chain.
pub(crate) fn off_chain(
    view: &View,
    height: u64,
    verified: &Hash,
    id: Hash,
    sent: (&str, &[u8]),
) -> Fault {
    let problem = format!("block {height} is not on the verified chain");
    if height + DEEP >= view.tip().0 || view.replaced.contains_key(&id) {
        return Fault::Unusable(problem);
    }
    let lie = Lie::new(problem).with("height", height).of_block(height, id);
    lie.with_bytes("verified_id", verified).with_bytes(sent.0, sent.1).into()
}
