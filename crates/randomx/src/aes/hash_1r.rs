//! AesHash1R (specification 3.4): the fingerprint of the scratchpad.

use super::generator_1r::Stream;
use super::{Aes, AesGenerator1R, Column, PREFETCH_DISTANCE, Rounds, bytes, columns, dispatch};

/// Hash512("RandomX AesHash1R state").
#[rustfmt::skip]
const INITIAL_STATE: [Column; 4] = [
    [0x0d, 0x2c, 0xb5, 0x92, 0xde, 0x56, 0xa8, 0x9f, 0x47, 0xdb, 0x82, 0xcc, 0xad, 0x3a, 0x98, 0xd7],
    [0x6e, 0x99, 0x8d, 0x33, 0x98, 0xb7, 0xc7, 0x15, 0x5a, 0x12, 0x9e, 0xf5, 0x57, 0x80, 0xe7, 0xac],
    [0x17, 0x00, 0x77, 0x6a, 0xd0, 0xc7, 0x62, 0xae, 0x6b, 0x50, 0x79, 0x50, 0xe4, 0x7c, 0xa0, 0xe8],
    [0x0c, 0x24, 0x0a, 0x63, 0x8d, 0x82, 0xad, 0x07, 0x05, 0x00, 0xa1, 0x79, 0x48, 0x49, 0x99, 0x7e],
];

/// Hash256("RandomX AesHash1R xkeys").
#[rustfmt::skip]
const FINAL_KEYS: [Column; 2] = [
    [0x89, 0x83, 0xfa, 0xf6, 0x9f, 0x94, 0x24, 0x8b, 0xbf, 0x56, 0xdc, 0x90, 0x01, 0x02, 0x89, 0x06],
    [0xd1, 0x63, 0xb2, 0x61, 0x3c, 0xe0, 0xf4, 0x51, 0xc6, 0x43, 0x10, 0xee, 0x9b, 0xf9, 0x18, 0xed],
];

/// Returns the 64-byte fingerprint of `input`.
pub fn aes_hash_1r(input: &[[u8; 64]], aes: Aes) -> [u8; 64] {
    dispatch!(aes, hash_1r(input))
}

/// Returns the fingerprint of `blocks` and fills them from `generator` in the same pass. This
/// finishes one hash and begins the next in the same scratchpad.
pub fn hash_and_fill_1r(blocks: &mut [[u8; 64]], generator: &mut AesGenerator1R) -> [u8; 64] {
    generator.replace(blocks)
}

#[inline(always)]
pub(super) fn hash<R: Rounds>(rounds: R, input: &[[u8; 64]]) -> [u8; 64] {
    let mut fingerprint = Fingerprint::new(rounds);
    for (index, block) in input.iter().enumerate() {
        if let Some(later) = input.get(index + PREFETCH_DISTANCE) {
            rounds.prefetch_to_read(later);
        }
        fingerprint.absorb(block);
    }
    fingerprint.finish()
}

#[inline(always)]
pub(super) fn hash_and_fill<R: Rounds>(
    rounds: R,
    state: &mut [Column; 4],
    blocks: &mut [[u8; 64]],
) -> [u8; 64] {
    let mut fingerprint = Fingerprint::new(rounds);
    let mut stream = Stream::new(rounds, state);
    for index in 0..blocks.len() {
        if let Some(later) = blocks.get(index + PREFETCH_DISTANCE) {
            rounds.prefetch_to_write(later);
        }
        fingerprint.absorb(&blocks[index]);
        blocks[index] = stream.next();
    }
    *state = stream.state();
    fingerprint.finish()
}

/// A fingerprint in progress, with its state in registers.
struct Fingerprint<R: Rounds> {
    rounds: R,
    state: [R::Block; 4],
}

impl<R: Rounds> Fingerprint<R> {
    #[inline(always)]
    fn new(rounds: R) -> Fingerprint<R> {
        let state = INITIAL_STATE.each_ref().map(|column| rounds.load(column));
        Fingerprint { rounds, state }
    }

    #[inline(always)]
    fn absorb(&mut self, block: &[u8; 64]) {
        let keys = columns(block);
        self.round(keys.each_ref().map(|key| self.rounds.load(key)));
    }

    #[inline(always)]
    fn round(&mut self, keys: [R::Block; 4]) {
        let Fingerprint { rounds, state } = self;
        *state = [
            rounds.encrypt(state[0], keys[0]),
            rounds.decrypt(state[1], keys[1]),
            rounds.encrypt(state[2], keys[2]),
            rounds.decrypt(state[3], keys[3]),
        ];
    }

    #[inline(always)]
    fn finish(mut self) -> [u8; 64] {
        for key in &FINAL_KEYS {
            self.round([self.rounds.load(key); 4]);
        }
        bytes(self.state.map(|column| self.rounds.store(column)))
    }
}
