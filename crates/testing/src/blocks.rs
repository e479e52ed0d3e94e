//! Blocks of simulated chains.

/// Appends a number in Monero's format of variable length.
pub fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Returns a block of version 16 with only the miner's transaction.
pub fn block(height: u64, timestamp: u64, previous: &[u8; 32], nonce: u8) -> Vec<u8> {
    let mut blob = vec![16, 16];
    varint(&mut blob, timestamp);
    blob.extend(previous);
    blob.extend([nonce; 4]);
    blob.push(2);
    varint(&mut blob, height + 60);
    blob.extend([1, 0xff]);
    varint(&mut blob, height);
    // One output of 1 to a tagged key, no extra, no signatures, no transactions.
    blob.extend([1, 1, 3]);
    blob.extend([7; 33]);
    blob.extend([0, 0, 0]);
    blob
}
