//! Seed heights: the block whose id is the RandomX key (Monero's "seed hash") at a height.

/// The number of blocks that share a key. A power of two, since [`seed_height`] masks with it.
pub const SEED_EPOCH_BLOCKS: u64 = 2048;

/// The number of blocks from the one whose id becomes the key to the last one of the old key. In
/// this time nodes and miners prepare the new cache.
pub const SEED_EPOCH_LAG: u64 = 64;

/// Returns the height of the block whose id is the RandomX key at `height`.
///
/// The result is a multiple of [`SEED_EPOCH_BLOCKS`]. The key changes after a height of the
/// form `2048 * n + 64`: block 2112 still uses the genesis block's id, block 2113 the id of
/// block 2048.
///
/// ```
/// use randomx_monero::seed_height;
///
/// assert_eq!(seed_height(2112), 0);
/// assert_eq!(seed_height(2113), 2048);
/// ```
pub const fn seed_height(height: u64) -> u64 {
    if height <= SEED_EPOCH_BLOCKS + SEED_EPOCH_LAG {
        0
    } else {
        (height - SEED_EPOCH_LAG - 1) & !(SEED_EPOCH_BLOCKS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_epoch_uses_the_genesis_block() {
        for height in [0, 1, 63, 64, 65, 2047, 2048, 2049, 2111, 2112] {
            assert_eq!(seed_height(height), 0, "height {height}");
        }
    }

    #[test]
    fn key_changes_one_block_after_the_lag() {
        for epoch in [1, 2, 3, 1686, 1819, 1 << 40] {
            let seed = epoch * SEED_EPOCH_BLOCKS;
            let last_of_old = seed + SEED_EPOCH_LAG;
            assert_eq!(seed_height(last_of_old), seed - SEED_EPOCH_BLOCKS);
            assert_eq!(seed_height(last_of_old + 1), seed);
            assert_eq!(seed_height(last_of_old + SEED_EPOCH_BLOCKS), seed);
            assert_eq!(seed_height(last_of_old + SEED_EPOCH_BLOCKS + 1), seed + SEED_EPOCH_BLOCKS);
        }
    }

    #[test]
    fn every_seed_is_older_than_the_lag() {
        for height in 2113..20_000 {
            let seed = seed_height(height);
            assert_eq!(seed % SEED_EPOCH_BLOCKS, 0);
            let depth = height - seed;
            assert!(
                depth > SEED_EPOCH_LAG && depth <= SEED_EPOCH_BLOCKS + SEED_EPOCH_LAG,
                "height {height}, seed {seed}"
            );
        }
    }

    #[test]
    fn the_greatest_height_has_a_seed() {
        assert_eq!(seed_height(u64::MAX), u64::MAX - (SEED_EPOCH_BLOCKS - 1));
    }
}
