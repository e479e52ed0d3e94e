//! Simulated blocks. A test chooses the blocks of each source, and the hashes that meet their difficulty.

use std::collections::HashMap;

use randomx_monero::{
    DIFFICULTY_BLOCKS, DIFFICULTY_TARGET, Difficulty, Hash, HashingBlob, MAINNET_GENESIS_ID,
    PastBlock, next_difficulty,
};
use randomx_testing::blocks::varint;

/// The timestamp of the first block.
pub const START: u64 = 1_700_000_000;

/// A block's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// Its hash meets no difficulty but 1.
    Forged,
    /// Its hash misses its difficulty by a 64th of that.
    Narrow,
    /// Its version is one that the network had before.
    OldVersion,
    /// Its miner votes for an older version.
    OldVote,
    /// Its version is unknown.
    UnknownVersion,
    /// Its timestamp is years ahead.
    Early,
}

/// A block of any chain.
#[derive(Clone, Debug)]
pub struct Block {
    pub id: Hash,
    pub parent: usize,
    pub height: u64,
    pub timestamp: u64,
    pub difficulty: u128,
    pub work: u128,
    pub blob: Vec<u8>,
    pub fault: Fault,
}

/// All blocks, the genesis block first.
#[derive(Clone)]
pub struct World {
    pub blocks: Vec<Block>,
    pub by_id: HashMap<Hash, usize>,
    fixed: Option<u128>,
}

impl World {
    pub fn new(fixed: Option<u128>) -> Self {
        let genesis = Block {
            id: MAINNET_GENESIS_ID,
            parent: 0,
            height: 0,
            timestamp: 0,
            difficulty: 1,
            work: 1,
            blob: Vec::new(),
            fault: Fault::None,
        };
        let by_id = HashMap::from([(genesis.id, 0)]);
        Self { blocks: vec![genesis], by_id, fixed }
    }

    /// Makes a block after another, some seconds later.
    pub fn child(&mut self, parent: usize, seconds: u64, fault: Fault) -> usize {
        let mut timestamp = self.blocks[parent].timestamp.max(START) + seconds;
        if fault == Fault::Early {
            timestamp += 1_000_000_000;
        }
        self.child_at(parent, timestamp, fault)
    }

    /// Makes a block after another, with a timestamp.
    pub fn child_at(&mut self, parent: usize, timestamp: u64, fault: Fault) -> usize {
        let before = &self.blocks[parent];
        let height = before.height + 1;
        let possible = |difficulty: &u128| {
            before.work.checked_add(*difficulty).is_some_and(|work| work <= u128::MAX / 2)
        };
        let demanded = self.fixed.or_else(|| self.demanded(parent)).filter(possible);
        // Without a possible difficulty every block is invalid.
        let fault = if demanded.is_none() { Fault::OldVote } else { fault };
        let difficulty = demanded.unwrap_or(1);
        let (version, vote): (u8, u8) = match fault {
            Fault::OldVersion => (15, 16),
            Fault::OldVote => (16, 15),
            Fault::UnknownVersion => (17, 17),
            Fault::None | Fault::Forged | Fault::Narrow | Fault::Early => (16, 16),
        };
        let index = self.blocks.len();
        let mut blob = vec![version, vote];
        varint(&mut blob, timestamp);
        blob.extend(before.id);
        blob.extend((index as u32).to_le_bytes());
        blob.extend([7; 32]);
        blob.push(1);
        let id = HashingBlob::parse(&blob).expect("a hashing blob").id();
        let work = before.work + difficulty;
        // At difficulty 1 there is nothing to forge.
        let fault = if fault == Fault::Forged && difficulty == 1 { Fault::None } else { fault };
        let block = Block { id, parent, height, timestamp, difficulty, work, blob, fault };
        self.blocks.push(block);
        self.by_id.insert(id, index);
        index
    }

    fn demanded(&self, tip: usize) -> Option<u128> {
        let mut past: Vec<PastBlock> = self
            .chain(tip)
            .take(DIFFICULTY_BLOCKS)
            .filter(|&index| index != 0)
            .map(|index| PastBlock {
                timestamp: self.blocks[index].timestamp,
                cumulative_difficulty: self.blocks[index].work,
            })
            .collect();
        past.reverse();
        next_difficulty(&past, DIFFICULTY_TARGET)
    }

    /// A block and those before it, down to the genesis block.
    pub fn chain(&self, tip: usize) -> impl Iterator<Item = usize> {
        let mut next = Some(tip);
        std::iter::from_fn(move || {
            let index = next?;
            next = (index != 0).then(|| self.blocks[index].parent);
            Some(index)
        })
    }

    /// The block of a chain at a height.
    pub fn at(&self, tip: usize, height: u64) -> Option<usize> {
        self.chain(tip).find(|&index| self.blocks[index].height == height)
    }

    /// Whether a chain has a block.
    pub fn has(&self, tip: usize, block: usize) -> bool {
        self.chain(tip).any(|index| index == block)
    }

    /// Whether no block of a chain breaks a rule or is forged.
    pub fn is_sound(&self, tip: usize) -> bool {
        self.chain(tip).all(|index| self.blocks[index].fault == Fault::None)
    }

    /// The last block of a chain, or the one before the first that cannot be judged yet. `None` if
    /// the first fault is a lie.
    pub fn judgeable(&self, tip: usize) -> Option<usize> {
        let mut end = Some(tip);
        for index in self.chain(tip) {
            end = match self.blocks[index].fault {
                Fault::None => end,
                Fault::UnknownVersion | Fault::Early => Some(self.blocks[index].parent),
                Fault::Forged | Fault::Narrow | Fault::OldVersion | Fault::OldVote => None,
            };
        }
        end
    }

    /// The last block of a chain before one whose rules are unknown or that is too early.
    pub fn readable(&self, tip: usize) -> usize {
        let mut end = tip;
        for index in self.chain(tip) {
            if matches!(self.blocks[index].fault, Fault::UnknownVersion | Fault::Early) {
                end = self.blocks[index].parent;
            }
        }
        end
    }

    /// The hash of a blob, which the real client would compute with RandomX. It meets the block's
    /// difficulty and hardly a greater one.
    pub fn hash(&self, blob: &[u8]) -> Hash {
        let id = HashingBlob::parse(blob).expect("a hashing blob").id();
        let Some(block) = self.by_id.get(&id).map(|&index| &self.blocks[index]) else {
            return [0; 32];
        };
        if block.fault == Fault::Forged {
            return [0xff; 32];
        }
        let mut hash = [0; 32];
        let part = if block.fault == Fault::Narrow { block.difficulty / 64 } else { 0 };
        let met = block.difficulty - part;
        hash[16..].copy_from_slice(&(u128::MAX / met).to_le_bytes());
        hash
    }

    /// Whether a block's hash meets its difficulty.
    pub fn is_worked(&self, id: &Hash) -> bool {
        let block = &self.blocks[self.by_id[id]];
        let difficulty = Difficulty::try_from(block.difficulty).expect("not zero");
        block.height == 0 || difficulty.is_met_by(&self.hash(&block.blob))
    }
}
