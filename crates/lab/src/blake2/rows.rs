//! The compression on four rows of four words, shared by the instruction sets.

/// Defines `blocks(state, blocks, progress)` and `pairs(state, pairs, progress)`.
///
/// The calling module defines:
///
/// - the functions `rotate_16`, `rotate_12`, `rotate_8` and `rotate_7`;
/// - a type `Message` with `new(&words)`, `select([usize; 4])`, which returns four of its words, and
///   `after(row)`, which returns a message that the compiler cannot read before `row` is computed;
/// - the constant `ROTATE_LAST`: whether the row that is computed last is among those rotated to line up
///   the diagonals.
macro_rules! define_compress {
    (#[$attribute:meta]) => {
        #[$attribute]
        pub(super) fn blocks(
            state: &mut super::State,
            blocks: &[[u8; 64]],
            mut progress: super::Progress,
        ) {
            let mut rows: [__m128i; 2] = bytemuck::must_cast(*state);
            for block in blocks {
                let words = bytemuck::must_cast(*block);
                compress::<0>(&mut rows, &Message::new(&words), progress.last_row());
            }
            *state = bytemuck::must_cast(rows);
        }

        #[$attribute]
        pub(super) fn pairs(
            state: &mut super::State,
            pairs: &[[&super::Half; 2]],
            mut progress: super::Progress,
        ) {
            let mut rows: [__m128i; 2] = bytemuck::must_cast(*state);
            for [low, high] in pairs {
                let words = bytemuck::must_cast([**low, **high]);
                compress::<1>(&mut rows, &Message::new(&words), progress.last_row());
            }
            *state = bytemuck::must_cast(rows);
        }

        /// Each caller inlines a copy of its own, so that the rows stay in registers between blocks.
        #[inline]
        #[$attribute]
        fn compress<const CALLER: u8>(
            rows: &mut [__m128i; 2],
            message: &Message,
            last_row: [u32; 4],
        ) {
            let [a, b, c, d, ..] = super::IV;
            let third = bytemuck::must_cast([a, b, c, d]);
            let mut v = [rows[0], rows[1], third, bytemuck::must_cast(last_row)];
            round::<0>(&mut v, message);
            round::<1>(&mut v, message);
            round::<2>(&mut v, message);
            round::<3>(&mut v, message);
            round::<4>(&mut v, message);
            round::<5>(&mut v, message);
            round::<6>(&mut v, message);
            round::<7>(&mut v, message);
            round::<8>(&mut v, message);
            round::<9>(&mut v, message);
            rows[0] = _mm_xor_si128(rows[0], _mm_xor_si128(v[0], v[2]));
            rows[1] = _mm_xor_si128(rows[1], _mm_xor_si128(v[1], v[3]));
        }

        /// Quarter rounds on the columns of the matrix, then on its diagonals.
        #[inline]
        #[$attribute]
        fn round<const ROUND: usize>(v: &mut [__m128i; 4], message: &Message) {
            let s = &randomx::blake2b::SIGMA[ROUND];
            let message = message.after(&mut v[0]);
            let x = message.select([s[0], s[2], s[4], s[6]]);
            let y = message.select([s[1], s[3], s[5], s[7]]);
            quarters(v, x, y);
            // The second row is computed last. If the other three rotate, it is used without delay.
            let [first, second, third, fourth] =
                if ROTATE_LAST { [0, 1, 2, 3] } else { [3, 0, 1, 2] };
            *v = [
                rotate_row(v[0], first),
                rotate_row(v[1], second),
                rotate_row(v[2], third),
                rotate_row(v[3], fourth),
            ];
            let [a, b, c, d] = if ROTATE_LAST { [8, 10, 12, 14] } else { [14, 8, 10, 12] };
            let x = message.select([s[a], s[b], s[c], s[d]]);
            let y = message.select([s[a + 1], s[b + 1], s[c + 1], s[d + 1]]);
            quarters(v, x, y);
            *v = [
                rotate_row(v[0], (4 - first) % 4),
                rotate_row(v[1], (4 - second) % 4),
                rotate_row(v[2], (4 - third) % 4),
                rotate_row(v[3], (4 - fourth) % 4),
            ];
        }

        /// Rotates a row by `by` words towards the first.
        #[inline]
        #[$attribute]
        fn rotate_row(row: __m128i, by: usize) -> __m128i {
            match by {
                1 => _mm_shuffle_epi32::<0b00_11_10_01>(row),
                2 => _mm_shuffle_epi32::<0b01_00_11_10>(row),
                3 => _mm_shuffle_epi32::<0b10_01_00_11>(row),
                _ => row,
            }
        }

        #[inline]
        #[$attribute]
        fn quarters(v: &mut [__m128i; 4], x: __m128i, y: __m128i) {
            let [mut a, mut b, mut c, mut d] = *v;
            // The message is added to the operand that is ready first.
            a = _mm_add_epi32(_mm_add_epi32(a, x), b);
            d = rotate_16(_mm_xor_si128(d, a));
            c = _mm_add_epi32(c, d);
            b = rotate_12(_mm_xor_si128(b, c));
            a = _mm_add_epi32(_mm_add_epi32(a, y), b);
            d = rotate_8(_mm_xor_si128(d, a));
            c = _mm_add_epi32(c, d);
            b = rotate_7(_mm_xor_si128(b, c));
            *v = [a, b, c, d];
        }
    };
}

/// Defines `chain`, after `define_compress`.
macro_rules! define_chain {
    (#[$attribute:meta]) => {
        /// Computes the chain of quarter rounds without a message. If `BESIDE` is set, the independent
        /// operations run beside the chain: additions of a message and rotations of three rows.
        #[$attribute]
        pub(super) fn chain<const BESIDE: bool>() {
            let row: __m128i = bytemuck::must_cast(std::hint::black_box([3u64, 5]));
            let mut v = [row; 4];
            for _ in 0..super::CHAIN {
                if BESIDE {
                    v = [rotate_row(v[0], 3), v[1], rotate_row(v[2], 1), rotate_row(v[3], 2)];
                    quarters(&mut v, row, row);
                } else {
                    quarters(&mut v, _mm_setzero_si128(), _mm_setzero_si128());
                }
            }
            std::hint::black_box(v);
        }
    };
}

/// Defines the rotations and the `Message` for processors without vector rotates.
macro_rules! define_avx2 {
    () => {
        /// Words in memory, because no instruction selects from sixteen.
        struct Message<'a>(&'a [u32; 16]);

        impl<'a> Message<'a> {
            #[inline]
            #[target_feature(enable = "avx2")]
            fn new(words: &'a [u32; 16]) -> Message<'a> {
                Message(words)
            }

            #[inline]
            #[target_feature(enable = "avx2")]
            fn select(&self, words: [usize; 4]) -> __m128i {
                bytemuck::must_cast(words.map(|word| self.0[word]))
            }

            /// Does nothing, because the compiler finds a better order by itself.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn after(&self, _: &mut __m128i) -> &Message<'a> {
                self
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn rotate_16(row: __m128i) -> __m128i {
            let bytes = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
            _mm_shuffle_epi8(row, bytes)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn rotate_12(row: __m128i) -> __m128i {
            _mm_xor_si128(_mm_srli_epi32::<12>(row), _mm_slli_epi32::<20>(row))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn rotate_8(row: __m128i) -> __m128i {
            let bytes = _mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12);
            _mm_shuffle_epi8(row, bytes)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn rotate_7(row: __m128i) -> __m128i {
            _mm_xor_si128(_mm_srli_epi32::<7>(row), _mm_slli_epi32::<25>(row))
        }
    };
}

pub(super) use {define_avx2, define_chain, define_compress};
