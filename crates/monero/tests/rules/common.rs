//! The test vectors, and generated chains.

use std::{fs, path::Path};

use randomx_monero::{
    Block, DIFFICULTY_BLOCKS, DIFFICULTY_TARGET, Hash, MAINNET_GENESIS_ID, PastBlock,
    next_difficulty,
};
use randomx_testing::blocks::varint;
use serde_json::Value;

/// A file of `tests/vectors`.
pub fn read(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let text = fs::read_to_string(&path).expect("the vectors are part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

/// A list of a file.
pub fn items<'a>(vectors: &'a Value, list: &str) -> &'a [Value] {
    vectors[list].as_array().expect("a list")
}

/// A string.
pub fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().expect("a string")
}

/// An integer.
pub fn number(item: &Value, field: &str) -> u64 {
    item[field].as_u64().expect("an integer")
}

/// Bytes.
pub fn bytes(item: &Value, field: &str) -> Vec<u8> {
    hex::decode(text(item, field)).expect("hex")
}

/// A hash.
pub fn hash(item: &Value, field: &str) -> Hash {
    bytes(item, field).try_into().expect("32 bytes")
}

/// Returns all real blocks of the vectors, of all eras.
pub fn blocks() -> Vec<Value> {
    let mut blocks = items(&read("monero/blocks.json"), "blocks").to_vec();
    blocks.extend_from_slice(items(&read("mainnet-blocks.json"), "blocks"));
    blocks
}

/// Reproducible random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// A generated block. Each test decides which hash it has.
#[derive(Clone)]
pub struct MadeBlock {
    pub version: u8,
    pub vote: u8,
    pub timestamp: u64,
    pub previous_id: Hash,
    pub height: u64,
    pub unlock: u64,
    /// The amounts of the outputs, and whether these have view tags.
    pub amounts: Vec<u64>,
    pub tagged: bool,
    /// The hashes of the other transactions.
    pub transactions: Vec<Hash>,
    /// The difficulty that the rule demands.
    pub difficulty: u128,
    pub blob: Vec<u8>,
    pub id: Hash,
}

impl MadeBlock {
    /// Writes the blob after a change.
    pub fn finish(&mut self) {
        let mut blob = Vec::new();
        varint(&mut blob, self.version.into());
        varint(&mut blob, self.vote.into());
        varint(&mut blob, self.timestamp);
        blob.extend(self.previous_id);
        blob.extend([1, 2, 3, 4]);
        blob.push(2);
        varint(&mut blob, self.unlock);
        blob.extend([1, 0xff]);
        varint(&mut blob, self.height);
        varint(&mut blob, self.amounts.len() as u64);
        for &amount in &self.amounts {
            varint(&mut blob, amount);
            blob.push(2 + u8::from(self.tagged));
            blob.extend(vec![9; 32 + usize::from(self.tagged)]);
        }
        // No extra, no signatures.
        blob.extend([0, 0]);
        varint(&mut blob, self.transactions.len() as u64);
        blob.extend(self.transactions.concat());
        self.id = Block::parse(&blob).expect("a block").id();
        self.blob = blob;
    }
}

/// Returns the blocks from height 1 on of a regtest chain, with the difficulties that the rule
/// demands and irregular timestamps.
pub fn made_chain(count: usize) -> Vec<MadeBlock> {
    let mut random = Random(count as u64 + 1);
    let mut blocks: Vec<MadeBlock> = Vec::with_capacity(count);
    let mut past: Vec<PastBlock> = Vec::new();
    let (mut previous_id, mut cumulative_difficulty) = (MAINNET_GENESIS_ID, 1);
    let mut clock = 1_700_000_000;
    for height in 1..=count as u64 {
        let window = &past[past.len().saturating_sub(DIFFICULTY_BLOCKS)..];
        let difficulty = next_difficulty(window, DIFFICULTY_TARGET).expect("a difficulty");
        clock += random.below(200) as u64;
        let timestamp = clock + random.below(300) as u64;
        let mut block = MadeBlock {
            version: 16,
            vote: 16,
            timestamp,
            previous_id,
            height,
            unlock: height + 60,
            amounts: vec![600_000_000_000],
            tagged: true,
            transactions: Vec::new(),
            difficulty,
            blob: Vec::new(),
            id: [0; 32],
        };
        block.finish();
        previous_id = block.id;
        cumulative_difficulty += difficulty;
        past.push(PastBlock { timestamp, cumulative_difficulty });
        blocks.push(block);
    }
    blocks
}
