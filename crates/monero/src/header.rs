//! What a block begins with, and the blob that is hashed.

use crate::hash::{Hash, keccak256};
use crate::reader::{BlockError, Reader, write_varint};

/// The id of main network block 202612 and what its hashing blob hashes to: the software of its day
/// made the root of its 514 transactions wrong, and the id stayed.
const ID_202612: Hash = hash("bbd604d2ba11ba27935e006ed39c9bfdd99b76bf4a50654bc1e1e61217962698");
const BLOB_HASH_202612: Hash =
    hash("426d16cff04c71f8b16340b722dc4010a2dd3831c22041431f772547ba6e331a");

/// How a hashing blob ends. Where the fork to come is decided, nothing else has to change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// With the number of transactions, as in every block so far.
    #[default]
    Counted,
    /// Without it from major version 17 on, as monero-project/monero#10038 proposes.
    UncountedFrom17,
}

impl Layout {
    /// Whether the hashing blobs of a major version end with the number of transactions.
    pub const fn counts(self, major_version: u8) -> bool {
        match self {
            Self::Counted => true,
            Self::UncountedFrom17 => major_version < 17,
        }
    }
}

/// What a block, and its hashing blob, begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Which rules the block follows. RandomX is the proof of work from 12 on.
    pub major_version: u8,
    /// Which rules its miner votes for.
    pub minor_version: u8,
    /// When it says it was made, in seconds since 1970.
    pub timestamp: u64,
    /// The id of the block before it.
    pub previous_id: Hash,
    /// What the miner varied.
    pub nonce: u32,
}

impl BlockHeader {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, BlockError> {
        Ok(Self {
            major_version: reader.small_varint("major version")?,
            minor_version: reader.small_varint("minor version")?,
            timestamp: reader.varint("timestamp")?,
            previous_id: reader.hash("previous id")?,
            nonce: u32::from_le_bytes(reader.array("nonce")?),
        })
    }
}

/// What RandomX hashes for a block: its header, the root of its transactions and their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashingBlob {
    /// The header, as the blob says it.
    pub header: BlockHeader,
    /// What [`tree_hash`](crate::tree_hash) makes of the transactions.
    pub tree_root: Hash,
    /// Their number, the miner transaction included, where the layout has it.
    pub transactions: Option<u64>,
    bytes: Vec<u8>,
}

impl HashingBlob {
    /// Reads a hashing blob.
    ///
    /// # Errors
    ///
    /// When the bytes are not exactly one.
    pub fn parse(bytes: &[u8], layout: Layout) -> Result<Self, BlockError> {
        let mut reader = Reader::new(bytes);
        let header = BlockHeader::read(&mut reader)?;
        let tree_root = reader.hash("tree root")?;
        let transactions = if layout.counts(header.major_version) {
            Some(reader.varint("number of transactions")?)
        } else {
            None
        };
        reader.end("end of the hashing blob")?;
        Ok(Self { header, tree_root, transactions, bytes: bytes.to_vec() })
    }

    /// Writes the hashing blob of a block, whose header is given as it was read too.
    pub(crate) fn new(
        header: BlockHeader,
        header_bytes: &[u8],
        tree_root: Hash,
        transactions: u64,
        layout: Layout,
    ) -> Self {
        let mut bytes = [header_bytes, &tree_root].concat();
        let transactions = layout.counts(header.major_version).then_some(transactions);
        if let Some(count) = transactions {
            write_varint(&mut bytes, count);
        }
        Self { header, tree_root, transactions, bytes }
    }

    /// The blob itself.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The id of the block: Keccak-256 of the blob after its length. Block 202612 of the main
    /// network is the exception.
    pub fn id(&self) -> Hash {
        let mut length = Vec::new();
        write_varint(&mut length, self.bytes.len() as u64);
        match keccak256(&[&length, &self.bytes]) {
            BLOB_HASH_202612 => ID_202612,
            id => id,
        }
    }
}

/// The hash of 64 hexadecimal digits; others do not compile.
const fn hash(hex: &str) -> Hash {
    let digits = hex.as_bytes();
    let mut hash = [0; 32];
    let mut index = 0;
    while index < 32 {
        hash[index] = digit(digits[2 * index]) << 4 | digit(digits[2 * index + 1]);
        index += 1;
    }
    hash
}

const fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        _ => panic!("not a hexadecimal digit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    /// A hashing blob whose header and root are of no particular block.
    fn blob(major_version: u8, tail: &[u8]) -> Vec<u8> {
        [&[major_version, 16, 0x85, 2][..], &[3; 32], &[1, 2, 3, 4], &[5; 32], tail].concat()
    }

    #[test]
    fn header_and_root_are_read() {
        let blob = HashingBlob::parse(&blob(16, &[0x92, 1]), Layout::Counted).expect("a blob");
        let header = BlockHeader {
            major_version: 16,
            minor_version: 16,
            timestamp: 261,
            previous_id: [3; 32],
            nonce: 0x0403_0201,
        };
        assert_eq!((&blob.header, blob.tree_root), (&header, [5; 32]));
        assert_eq!(blob.transactions, Some(146));
    }

    #[test]
    fn the_count_is_left_out_from_17_on_where_the_layout_says_so() {
        let uncounted = Layout::UncountedFrom17;
        let problem = |bytes: &[u8], layout| {
            HashingBlob::parse(bytes, layout).map(|blob| blob.transactions).map_err(|e| e.problem)
        };
        assert_eq!(problem(&blob(17, &[]), uncounted), Ok(None));
        assert_eq!(problem(&blob(17, &[9]), uncounted), Err(Problem::Surplus { bytes: 1 }));
        assert_eq!(problem(&blob(16, &[]), uncounted), Err(Problem::EndsEarly));
        assert_eq!(problem(&blob(16, &[9]), uncounted), Ok(Some(9)));
        assert_eq!(problem(&blob(17, &[9]), Layout::Counted), Ok(Some(9)));
        assert_eq!(problem(&blob(17, &[]), Layout::Counted), Err(Problem::EndsEarly));
    }

    #[test]
    fn every_byte_counts_for_the_id() {
        let original = blob(16, &[0x92, 1]);
        let id = HashingBlob::parse(&original, Layout::Counted).expect("a blob").id();
        for index in 0..original.len() {
            let mut changed = original.clone();
            changed[index] ^= 1;
            if let Ok(changed) = HashingBlob::parse(&changed, Layout::Counted) {
                assert_ne!(changed.id(), id, "byte {index}");
            }
        }
    }
}
