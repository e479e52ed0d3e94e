//! The compression function of Argon2 (RFC 9106, 3.5) for vectors of two words.
//!
//! A block is an 8 x 8 matrix of word pairs. The permutation P takes the eight pairs of a row or of
//! a column, so plain Rust and vectors of two words share these steps. Wider vectors hold several
//! pairs and have steps of their own.

/// Defines `write_blocks(memory, numbers)`, which writes the blocks `numbers`, counted over all
/// passes.
///
/// The calling module defines a type `$vector` of a pair and the functions `load`, `store`
/// (a pair to and from a vector), `prefetch` of a block that will be read, `add`, `xor`, `double_product` (2 x low half x low half),
/// `rotate_32`, `rotate_24`, `rotate_16`, `rotate_63`, and `shift_in(low, high)`: the upper word
/// of `low` followed by the lower word of `high`. The functions may use the instructions `$feature`, if it is given.
macro_rules! define_write_blocks {
    ($vector:ty $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        pub(super) fn write_blocks(memory: &mut [super::Block], numbers: std::ops::Range<usize>) {
            use super::ARGON_MEMORY;
            let Some(last) = numbers.start.checked_sub(1) else { return };
            let mut previous = memory[last % ARGON_MEMORY];
            for number in numbers {
                let (pass, index) = (number / ARGON_MEMORY, number % ARGON_MEMORY);
                let reference = super::reference_index(pass, index, previous.0[0][0] as u32);
                let mut block = previous;
                for (words, other) in block.0.iter_mut().zip(&memory[reference].0) {
                    *words = [words[0] ^ other[0], words[1] ^ other[1]];
                }
                previous = block;
                for row in 0..8 {
                    permute::<1>(&mut block, 8 * row);
                }
                // From the second pass on, a block is XORed with the one that it replaces.
                let kept = if pass > 0 { u64::MAX } else { 0 };
                // The first column has the word that selects the next block to mix in.
                permute::<8>(&mut block, 0);
                let replaced = memory[index].0[0][0] & kept;
                let random = (previous.0[0][0] ^ block.0[0][0] ^ replaced) as u32;
                let (next_pass, next) = ((number + 1) / ARGON_MEMORY, (number + 1) % ARGON_MEMORY);
                if let Some(next) = memory.get(super::reference_index(next_pass, next, random)) {
                    prefetch(next);
                }
                for column in 1..8 {
                    permute::<8>(&mut block, column);
                }
                let target = &mut memory[index];
                for ((next, mixed), old) in previous.0.iter_mut().zip(&block.0).zip(&mut target.0) {
                    *next = [
                        next[0] ^ mixed[0] ^ (old[0] & kept),
                        next[1] ^ mixed[1] ^ (old[1] & kept),
                    ];
                    *old = *next;
                }
            }
        }

        /// Applies P to a row or a column, whose i-th pair is at `first + i * STEP`.
        #[inline]
        $(#[target_feature(enable = $feature)])?
        fn permute<const STEP: usize>(block: &mut super::Block, first: usize) {
            let position = |i: usize| (first + i * STEP) & 63;
            let mut v: [$vector; 8] = std::array::from_fn(|i| load(block.0[position(i)]));
            mix(&mut v);
            // Pairs 2 to 7 are rotated so that the diagonals of the 4 x 4 word matrix line up.
            let mut rotated = [
                v[0],
                v[1],
                shift_in(v[2], v[3]),
                shift_in(v[3], v[2]),
                v[5],
                v[4],
                shift_in(v[7], v[6]),
                shift_in(v[6], v[7]),
            ];
            mix(&mut rotated);
            let [a0, a1, b0, b1, c1, c0, d1, d0] = rotated;
            v = [
                a0,
                a1,
                shift_in(b1, b0),
                shift_in(b0, b1),
                c0,
                c1,
                shift_in(d1, d0),
                shift_in(d0, d1),
            ];
            for (i, &vector) in v.iter().enumerate() {
                block.0[position(i)] = store(vector);
            }
        }

        /// Computes two pairs of BlaMka quarter rounds.
        #[inline]
        $(#[target_feature(enable = $feature)])?
        fn mix(v: &mut [$vector; 8]) {
            for i in [0, 1] {
                let (mut a, mut b, mut c, mut d) = (v[i], v[i + 2], v[i + 4], v[i + 6]);
                a = add(add(a, b), double_product(a, b));
                d = rotate_32(xor(d, a));
                c = add(add(c, d), double_product(c, d));
                b = rotate_24(xor(b, c));
                a = add(add(a, b), double_product(a, b));
                d = rotate_16(xor(d, a));
                c = add(add(c, d), double_product(c, d));
                b = rotate_63(xor(b, c));
                (v[i], v[i + 2], v[i + 4], v[i + 6]) = (a, b, c, d);
            }
        }
    };
}

pub(super) use define_write_blocks;
