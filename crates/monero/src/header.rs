//! Block headers, and the blob that RandomX hashes.

use crate::hash::{Hash, from_hex, keccak256};
use crate::network::LATEST_VERSION;
use crate::reader::{BlockError, Reader, unexpected, write_varint};

/// The id of main network block 202612, and the Keccak hash of its hashing blob. The software of its
/// day computed a wrong root of its 514 transactions, and the network kept the id.
const ID_202612: Hash =
    from_hex("bbd604d2ba11ba27935e006ed39c9bfdd99b76bf4a50654bc1e1e61217962698");
const BLOB_HASH_202612: Hash =
    from_hex("426d16cff04c71f8b16340b722dc4010a2dd3831c22041431f772547ba6e331a");

/// The start of a block and of its hashing blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// The version of the rules that the block follows. RandomX is the proof of work from 12 on.
    pub major_version: u8,
    /// The version of the rules that the block's miner votes for.
    pub minor_version: u8,
    /// The time at which the miner says it built the block, in seconds since 1970.
    pub timestamp: u64,
    /// The id of the block before it.
    pub previous_id: Hash,
    /// The number that the miner varied.
    pub nonce: u32,
}

/// Returns the major version at the start of a block or of a hashing blob, if this release does not know it. The rest
/// may have a format of the future.
///
/// ```
/// assert_eq!(randomx_monero::unknown_version(&[17, 17, 5]), Some(17));
/// assert_eq!(randomx_monero::unknown_version(&[16, 17, 5]), None);
/// ```
pub fn unknown_version(block: &[u8]) -> Option<u8> {
    let version = Reader::new(block).small_varint("major version").ok();
    version.filter(|&version| version > LATEST_VERSION)
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

/// The bytes that RandomX hashes for a block: header, root of the transactions and their number.
///
/// Monero's have 76 or 77 bytes, and at most [`MAX_BYTES`](Self::MAX_BYTES) can be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashingBlob {
    /// The header.
    pub header: BlockHeader,
    /// The [`tree_hash`](crate::tree_hash) of the transactions.
    pub tree_root: Hash,
    /// The number of transactions, including the miner's.
    pub transactions: u64,
    bytes: Vec<u8>,
}

impl HashingBlob {
    /// The longest possible blob: two versions with 4 bytes in all, a timestamp of 10, two hashes, a
    /// nonce of 4 and a count of 10.
    pub const MAX_BYTES: usize = 4 + 10 + 32 + 4 + 32 + 10;

    /// Parses a hashing blob.
    ///
    /// # Errors
    ///
    /// If the bytes are not exactly one hashing blob.
    pub fn parse(bytes: &[u8]) -> Result<Self, BlockError> {
        let mut reader = Reader::new(bytes);
        let header = BlockHeader::read(&mut reader)?;
        let tree_root = reader.hash("tree root")?;
        let (field, offset) = ("number of transactions", reader.offset());
        let transactions = reader.varint(field)?;
        if transactions == 0 {
            // Every block has the miner's transaction.
            return Err(unexpected(field, offset, "at least 1", transactions));
        }
        reader.end("end of the hashing blob")?;
        Ok(Self { header, tree_root, transactions, bytes: bytes.to_vec() })
    }

    /// Builds the hashing blob of a block from its parsed header and that header's bytes.
    pub(crate) fn new(
        header: BlockHeader,
        header_bytes: &[u8],
        tree_root: Hash,
        transactions: u64,
    ) -> Self {
        let mut bytes = [header_bytes, &tree_root].concat();
        write_varint(&mut bytes, transactions);
        Self { header, tree_root, transactions, bytes }
    }

    /// Returns the blob's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the block's id: the Keccak-256 of the blob's length and the blob. Block 202612 of
    /// the main network is the exception.
    pub fn id(&self) -> Hash {
        let mut length = Vec::new();
        write_varint(&mut length, self.bytes.len() as u64);
        match keccak256(&[&length, &self.bytes]) {
            BLOB_HASH_202612 => ID_202612,
            id => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    /// A hashing blob with a made-up header and root.
    fn blob(major_version: u8, tail: &[u8]) -> Vec<u8> {
        [&[major_version, 16, 0x85, 2][..], &[3; 32], &[1, 2, 3, 4], &[5; 32], tail].concat()
    }

    #[test]
    fn header_root_and_count_are_parsed() {
        let blob = HashingBlob::parse(&blob(16, &[0x92, 1])).expect("a blob");
        let header = BlockHeader {
            major_version: 16,
            minor_version: 16,
            timestamp: 261,
            previous_id: [3; 32],
            nonce: 0x0403_0201,
        };
        assert_eq!((&blob.header, blob.tree_root), (&header, [5; 32]));
        assert_eq!(blob.transactions, 146);
    }

    #[test]
    fn a_missing_count_no_transaction_and_surplus_bytes_are_refused() {
        let problem = |tail: &[u8]| HashingBlob::parse(&blob(17, tail)).map_err(|e| e.problem);
        assert_eq!(problem(&[]), Err(Problem::EndsEarly));
        assert_eq!(problem(&[9, 9]), Err(Problem::Surplus { bytes: 1 }));
        assert_eq!(problem(&[0]), Err(Problem::Unexpected { expected: "at least 1", got: 0 }));
    }

    #[test]
    fn the_longest_blob_has_the_greatest_numbers() {
        let mut longest = vec![0xff, 1, 0xff, 1];
        longest.extend([0xff; 9]);
        longest.push(1);
        longest.extend([3; 32 + 4 + 32]);
        longest.extend([0xff; 9]);
        longest.push(1);
        assert_eq!(longest.len(), HashingBlob::MAX_BYTES);
        assert!(HashingBlob::parse(&longest).is_ok());
    }

    #[test]
    fn every_byte_changes_the_id() {
        let original = blob(16, &[0x92, 1]);
        let id = HashingBlob::parse(&original).expect("a blob").id();
        for index in 0..original.len() {
            let mut changed = original.clone();
            changed[index] ^= 1;
            if let Ok(changed) = HashingBlob::parse(&changed) {
                assert_ne!(changed.id(), id, "byte {index}");
            }
        }
    }
}
