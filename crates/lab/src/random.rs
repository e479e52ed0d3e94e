//! Random numbers from the seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Returns the random numbers of sample `index`. Each sample has its own, so that no result depends on
/// the order in which threads compute samples.
pub fn of(seed: u64, index: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index);
    random
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn seed_and_index_select_the_numbers() {
        let first = |seed, index| of(seed, index).next_u64();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }
}
