//! AesGenerator1R (specification 3.2): fills the scratchpad.

use super::{Aes, Column, PREFETCH_DISTANCE, Rounds, bytes, columns, dispatch};

/// Hash512("RandomX AesGenerator1R keys"), one key per column.
#[rustfmt::skip]
const KEYS: [Column; 4] = [
    [0x53, 0xa5, 0xac, 0x6d, 0x09, 0x66, 0x71, 0x62, 0x2b, 0x55, 0xb5, 0xdb, 0x17, 0x49, 0xf4, 0xb4],
    [0x07, 0xaf, 0x7c, 0x6d, 0x0d, 0x71, 0x6a, 0x84, 0x78, 0xd3, 0x25, 0x17, 0x4e, 0xdc, 0xa1, 0x0d],
    [0xf1, 0x62, 0x12, 0x3f, 0xc6, 0x7e, 0x94, 0x9f, 0x4f, 0x79, 0xc0, 0xf4, 0x45, 0xe3, 0x20, 0x3e],
    [0x35, 0x81, 0xef, 0x6a, 0x7c, 0x31, 0xba, 0xb1, 0x88, 0x4c, 0x31, 0x16, 0x54, 0x91, 0x16, 0x49],
];

/// A generator with one AES round per column and 64 bytes of output. The output is the next state.
#[derive(Clone, Debug)]
pub struct AesGenerator1R {
    state: [Column; 4],
    aes: Aes,
}

impl AesGenerator1R {
    /// Creates a generator from a 64-byte seed.
    pub fn new(seed: &[u8; 64], aes: Aes) -> AesGenerator1R {
        AesGenerator1R { state: columns(seed), aes }
    }

    /// Fills `output` with the next blocks of 64 bytes.
    pub fn fill(&mut self, output: &mut [[u8; 64]]) {
        dispatch!(self.aes, fill_1r(&mut self.state, output))
    }

    /// Fills `blocks` and returns the fingerprint of their previous contents.
    pub(super) fn replace(&mut self, blocks: &mut [[u8; 64]]) -> [u8; 64] {
        dispatch!(self.aes, hash_and_fill_1r(&mut self.state, blocks))
    }

    /// Returns the state: the last block of output, or the seed before the first.
    pub fn state(&self) -> [u8; 64] {
        bytes(self.state)
    }
}

#[inline(always)]
pub(super) fn fill<R: Rounds>(rounds: R, state: &mut [Column; 4], output: &mut [[u8; 64]]) {
    let mut stream = Stream::new(rounds, state);
    for index in 0..output.len() {
        if let Some(later) = output.get(index + PREFETCH_DISTANCE) {
            rounds.prefetch_to_write(later);
        }
        output[index] = stream.next();
    }
    *state = stream.state();
}

/// A running generator, with its state in registers.
pub(super) struct Stream<R: Rounds> {
    rounds: R,
    keys: [R::Block; 4],
    state: [R::Block; 4],
}

impl<R: Rounds> Stream<R> {
    #[inline(always)]
    pub(super) fn new(rounds: R, state: &[Column; 4]) -> Stream<R> {
        let load = |columns: &[Column; 4]| columns.each_ref().map(|column| rounds.load(column));
        Stream { rounds, keys: load(&KEYS), state: load(state) }
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> [u8; 64] {
        let Stream { rounds, keys, state } = self;
        *state = [
            rounds.decrypt(state[0], keys[0]),
            rounds.encrypt(state[1], keys[1]),
            rounds.decrypt(state[2], keys[2]),
            rounds.encrypt(state[3], keys[3]),
        ];
        bytes(self.state())
    }

    #[inline(always)]
    pub(super) fn state(&self) -> [Column; 4] {
        self.state.map(|column| self.rounds.store(column))
    }
}
