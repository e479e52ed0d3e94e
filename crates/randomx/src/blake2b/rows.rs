//! Blake2b's compression on four rows of four words, for AVX2 and AVX-512.

/// Defines `compress(state, message, progress)` and `rehash(digest)`.
///
/// The calling module has the functions `rotate_32`, `rotate_24`, `rotate_16` and `rotate_63`,
/// and a type `Message` with `new(low, high)` and `select([usize; 4])`, four of its words.
macro_rules! define_compress {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        pub(super) fn compress(
            state: &mut super::Words,
            message: &[super::Words; 2],
            progress: super::Progress,
        ) {
            let first = progress.first_rows(state);
            *state = compressed::<0>(first, Message::new(&message[0], &message[1]), progress);
        }

        $(#[$attribute])*
        pub(super) fn rehash(digest: &mut super::Words) {
            let progress = super::Progress::REHASH;
            let first = progress.first_rows(digest);
            *digest = compressed::<1>(first, Message::new(digest, &super::ZEROS), progress);
        }

        $(#[$attribute])*
        /// Compresses a block. `CALLER` makes a copy for each caller, in which the compiler folds
        /// its constants.
        #[inline]
        fn compressed<const CALLER: u8>(
            first: super::Words,
            message: Message,
            progress: super::Progress,
        ) -> super::Words {
            let row = |words: [u64; 4]| -> __m256i { bytemuck::must_cast(words) };
            let [low, high]: [__m256i; 2] = bytemuck::must_cast(first);
            let [a, b, c, d, ..] = super::IV;
            let mut v = [low, high, row([a, b, c, d]), row(progress.last_row())];
            round::<0>(&mut v, &message);
            round::<1>(&mut v, &message);
            round::<2>(&mut v, &message);
            round::<3>(&mut v, &message);
            round::<4>(&mut v, &message);
            round::<5>(&mut v, &message);
            round::<6>(&mut v, &message);
            round::<7>(&mut v, &message);
            round::<8>(&mut v, &message);
            round::<9>(&mut v, &message);
            round::<0>(&mut v, &message);
            round::<1>(&mut v, &message);
            join(
                _mm256_xor_si256(low, _mm256_xor_si256(v[0], v[2])),
                _mm256_xor_si256(high, _mm256_xor_si256(v[1], v[3])),
            )
        }

        /// Computes quarter rounds on the columns of the matrix, then on its diagonals.
        $(#[$attribute])*
        #[inline]
        fn round<const ROUND: usize>(v: &mut [__m256i; 4], message: &Message) {
            let s = &super::SIGMA[ROUND];
            let x = message.select([s[0], s[2], s[4], s[6]]);
            let y = message.select([s[1], s[3], s[5], s[7]]);
            quarters(v, x, y);
            // The second row is ready last, so the others rotate to line up the diagonals with it.
            v[0] = _mm256_permute4x64_epi64::<0b10_01_00_11>(v[0]);
            v[2] = _mm256_permute4x64_epi64::<0b00_11_10_01>(v[2]);
            v[3] = _mm256_permute4x64_epi64::<0b01_00_11_10>(v[3]);
            let x = message.select([s[14], s[8], s[10], s[12]]);
            let y = message.select([s[15], s[9], s[11], s[13]]);
            quarters(v, x, y);
            v[0] = _mm256_permute4x64_epi64::<0b00_11_10_01>(v[0]);
            v[2] = _mm256_permute4x64_epi64::<0b10_01_00_11>(v[2]);
            v[3] = _mm256_permute4x64_epi64::<0b01_00_11_10>(v[3]);
        }

        $(#[$attribute])*
        #[inline]
        fn quarters(v: &mut [__m256i; 4], x: __m256i, y: __m256i) {
            let [mut a, mut b, mut c, mut d] = *v;
            // The message is added to `a`, which is ready before `b`.
            a = _mm256_add_epi64(_mm256_add_epi64(a, x), b);
            d = rotate_32(_mm256_xor_si256(d, a));
            c = _mm256_add_epi64(c, d);
            b = rotate_24(_mm256_xor_si256(b, c));
            a = _mm256_add_epi64(_mm256_add_epi64(a, y), b);
            d = rotate_16(_mm256_xor_si256(d, a));
            c = _mm256_add_epi64(c, d);
            b = rotate_63(_mm256_xor_si256(b, c));
            *v = [a, b, c, d];
        }
    };
}

pub(super) use define_compress;
