//! AesGenerator4R (specification 3.3): generates programs.

use super::{Aes, Column, Rounds, bytes, columns, dispatch};

/// Hash512("RandomX AesGenerator4R keys 0-3"), for columns 0 and 1, round by round.
#[rustfmt::skip]
const KEYS_0_TO_3: [Column; 4] = [
    [0xdd, 0xaa, 0x21, 0x64, 0xdb, 0x3d, 0x83, 0xd1, 0x2b, 0x6d, 0x54, 0x2f, 0x3f, 0xd2, 0xe5, 0x99],
    [0x50, 0x34, 0x0e, 0xb2, 0x55, 0x3f, 0x91, 0xb6, 0x53, 0x9d, 0xf7, 0x06, 0xe5, 0xcd, 0xdf, 0xa5],
    [0x04, 0xd9, 0x3e, 0x5c, 0xaf, 0x7b, 0x5e, 0x51, 0x9f, 0x67, 0xa4, 0x0a, 0xbf, 0x02, 0x1c, 0x17],
    [0x63, 0x37, 0x62, 0x85, 0x08, 0x5d, 0x8f, 0xe7, 0x85, 0x37, 0x67, 0xcd, 0x91, 0xd2, 0xde, 0xd8],
];

/// Hash512("RandomX AesGenerator4R keys 4-7"), for columns 2 and 3.
#[rustfmt::skip]
const KEYS_4_TO_7: [Column; 4] = [
    [0x73, 0x6f, 0x82, 0xb5, 0xa6, 0xa7, 0xd6, 0xe3, 0x6d, 0x8b, 0x51, 0x3d, 0xb4, 0xff, 0x9e, 0x22],
    [0xf3, 0x6b, 0x56, 0xc7, 0xd9, 0xb3, 0x10, 0x9c, 0x4e, 0x4d, 0x02, 0xe9, 0xd2, 0xb7, 0x72, 0xb2],
    [0xe7, 0xc9, 0x73, 0xf2, 0x8b, 0xa3, 0x65, 0xf7, 0x0a, 0x66, 0xa9, 0x2b, 0xa7, 0xef, 0x3b, 0xf6],
    [0x09, 0xd6, 0x7c, 0x7a, 0xde, 0x39, 0x58, 0x91, 0xfd, 0xd1, 0x06, 0x0c, 0x2d, 0x76, 0xb0, 0xc0],
];

/// A generator with four AES rounds per column and 64 bytes of output. The output is the next
/// state.
#[derive(Clone, Debug)]
pub struct AesGenerator4R {
    state: [Column; 4],
    aes: Aes,
}

impl AesGenerator4R {
    /// Creates a generator from a 64-byte seed.
    pub fn new(seed: &[u8; 64], aes: Aes) -> AesGenerator4R {
        AesGenerator4R { state: columns(seed), aes }
    }

    /// Fills `output` with the next blocks of 64 bytes.
    pub fn fill(&mut self, output: &mut [[u8; 64]]) {
        dispatch!(self.aes, fill_4r(&mut self.state, output))
    }

    /// Restarts from another seed.
    pub fn set_state(&mut self, seed: &[u8; 64]) {
        self.state = columns(seed);
    }
}

#[inline(always)]
pub(super) fn fill<R: Rounds>(rounds: R, state: &mut [Column; 4], output: &mut [[u8; 64]]) {
    let low_keys = KEYS_0_TO_3.each_ref().map(|key| rounds.load(key));
    let high_keys = KEYS_4_TO_7.each_ref().map(|key| rounds.load(key));
    let mut s = state.each_ref().map(|column| rounds.load(column));
    for block in output {
        for (low, high) in low_keys.into_iter().zip(high_keys) {
            s = [
                rounds.decrypt(s[0], low),
                rounds.encrypt(s[1], low),
                rounds.decrypt(s[2], high),
                rounds.encrypt(s[3], high),
            ];
        }
        *block = bytes(s.map(|column| rounds.store(column)));
    }
    *state = s.map(|column| rounds.store(column));
}
