//! The shape of Randen's permutation, which the other files implement.

/// Rounds of the permutation.
pub(super) const ROUNDS: usize = 17;

/// How often the permutation calls its function: 8 times a round.
pub const FUNCTIONS: usize = 8 * ROUNDS;

/// 16 branches of two words, whose bytes are in little-endian order.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct State(pub(super) [[u64; 2]; 16]);

/// A key for each call of the function, as two words whose bytes are in little-endian order.
pub(super) type RoundKeys = [[u64; 2]; FUNCTIONS];

/// The source of each branch after a round ("New criterion for diffusion property").
pub(super) const SHUFFLE: [usize; 16] = [7, 2, 13, 4, 11, 8, 3, 6, 15, 0, 9, 10, 1, 14, 5, 12];
