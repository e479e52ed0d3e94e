//! The compression in plain Rust, the oracle for the SHA extensions.

use super::{BLOCK_SIZE, K, State};

pub(super) fn blocks(state: &mut State, blocks: &[[u8; BLOCK_SIZE]]) {
    for block in blocks {
        compress(state, block);
    }
}

fn compress(state: &mut State, block: &[u8; BLOCK_SIZE]) {
    let mut w = [0; 64];
    for (word, bytes) in w.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..64 {
        let (a, b) = (w[t - 15], w[t - 2]);
        let sigma_0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let sigma_1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        w[t] = sigma_1.wrapping_add(w[t - 7]).wrapping_add(sigma_0).wrapping_add(w[t - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (&k, &w) in K.iter().zip(&w) {
        let sum_1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = g ^ (e & (f ^ g));
        let t1 = h.wrapping_add(k.wrapping_add(w)).wrapping_add(choice).wrapping_add(sum_1);
        let sum_0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) | (c & (a | b));
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(sum_0.wrapping_add(majority)));
    }
    for (word, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(value);
    }
}
