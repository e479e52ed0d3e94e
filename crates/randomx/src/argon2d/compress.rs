//! The compression function of Argon2 (RFC 9106, 3.5), written once over vectors of word pairs.
//!
//! A block is an 8 x 8 matrix of word pairs. The permutation P takes the eight pairs of a row
//! or of a column; a vector holds the same pair of several rows, so all instruction sets share
//! these steps and differ only in how many rows they mix at once.

/// Defines `write_blocks(memory, done)`, which writes the blocks numbered `done` over all passes.
///
/// The calling module has a type `$vector` of `$rows` pairs and the functions `load`, `store`
/// (pairs to and from a vector), `add`, `xor`, `double_product` (2 x low half x low half),
/// `rotate_32`, `rotate_24`, `rotate_16`, `rotate_63`, and `shift_in(low, high)`: the upper word
/// of `low` followed by the lower word of `high`, in each pair.
macro_rules! define_write_blocks {
    ($(#[$attribute:meta])* $vector:ty, $rows:literal) => {
        $(#[$attribute])*
        pub(super) fn write_blocks(memory: &mut [super::Block], done: std::ops::Range<usize>) {
            use super::ARGON_MEMORY;
            let Some(last) = done.start.checked_sub(1) else { return };
            let mut previous = memory[last % ARGON_MEMORY];
            for number in done {
                let (pass, index) = (number / ARGON_MEMORY, number % ARGON_MEMORY);
                let reference = super::reference_index(pass, index, previous.0[0][0] as u32);
                let mut block = previous;
                for (words, other) in block.0.iter_mut().zip(&memory[reference].0) {
                    *words = [words[0] ^ other[0], words[1] ^ other[1]];
                }
                previous = block;
                for row in (0..8).step_by($rows) {
                    permute_pairs::<8, 1>(&mut block, 8 * row);
                }
                for column in (0..8).step_by($rows) {
                    permute_pairs::<1, 8>(&mut block, column);
                }
                // From the second pass on, a block is mixed into the one it replaces.
                let target = &mut memory[index];
                let kept = if pass > 0 { u64::MAX } else { 0 };
                for ((next, mixed), old) in previous.0.iter_mut().zip(&block.0).zip(&mut target.0) {
                    *next = [
                        next[0] ^ mixed[0] ^ (old[0] & kept),
                        next[1] ^ mixed[1] ^ (old[1] & kept),
                    ];
                    *old = *next;
                }
            }
        }

        /// P on `$rows` rows or columns: the i-th pair of the k-th is at `first + k * APART + i * STEP`.
        $(#[$attribute])*
        #[inline]
        fn permute_pairs<const APART: usize, const STEP: usize>(
            block: &mut super::Block,
            first: usize,
        ) {
            let position = |k: usize, i: usize| (first + k * APART + i * STEP) & 63;
            let mut v: [$vector; 8] = std::array::from_fn(|i| {
                load(std::array::from_fn(|k| block.0[position(k, i)]))
            });
            mix(&mut v);
            // Pairs 2 to 7 are turned so that the diagonals of the 4 x 4 word matrix line up.
            let mut turned = [
                v[0], v[1],
                shift_in(v[2], v[3]), shift_in(v[3], v[2]),
                v[5], v[4],
                shift_in(v[7], v[6]), shift_in(v[6], v[7]),
            ];
            mix(&mut turned);
            let [a0, a1, b0, b1, c1, c0, d1, d0] = turned;
            v = [
                a0, a1,
                shift_in(b1, b0), shift_in(b0, b1),
                c0, c1,
                shift_in(d1, d0), shift_in(d0, d1),
            ];
            for (i, &vector) in v.iter().enumerate() {
                for (k, pair) in store(vector).into_iter().enumerate() {
                    block.0[position(k, i)] = pair;
                }
            }
        }

        /// Four BlaMka quarter rounds side by side.
        $(#[$attribute])*
        #[inline]
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
