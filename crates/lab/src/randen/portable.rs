//! The permutation with the core's lookup tables for AES, the oracle for the other implementations.

use randomx::aes::{Aes, Column};
use randomx::cpu::Cpu;

use super::permutation::{RoundKeys, SHUFFLE, State};

pub(super) fn generate(state: &mut State, keys: &RoundKeys) {
    let inner = state.0[0];
    for keys in keys.as_chunks::<8>().0 {
        for (pair, key) in state.0.as_chunks_mut::<2>().0.iter_mut().zip(keys) {
            pair[1] = encrypt(encrypt(pair[0], *key), pair[1]);
        }
        state.0 = SHUFFLE.map(|from| state.0[from]);
    }
    state.0[0][0] ^= inner[0];
    state.0[0][1] ^= inner[1];
}

/// Computes one round of AES.
pub(super) fn encrypt(block: [u64; 2], key: [u64; 2]) -> [u64; 2] {
    words(Aes::new(Cpu::baseline()).encrypt_round(&column(block), &column(key)))
}

fn column([low, high]: [u64; 2]) -> Column {
    bytemuck::must_cast([low.to_le_bytes(), high.to_le_bytes()])
}

fn words(column: Column) -> [u64; 2] {
    bytemuck::must_cast::<_, [[u8; 8]; 2]>(column).map(u64::from_le_bytes)
}
