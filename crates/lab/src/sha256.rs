//! SHA-256 (FIPS 180-4), in plain Rust and with the SHA extensions of x86-64.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_sha;

use std::fmt;

/// An implementation of SHA-256 that this processor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sha256(Rounds);

/// The instruction set; only [`Sha256::all`] wraps one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounds {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Extensions,
}

type State = [u32; 8];

const BLOCK_SIZE: usize = 64;

impl Sha256 {
    /// Returns all implementations for this processor, from the slowest to the fastest.
    pub fn all() -> Vec<Sha256> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("sse4.1")
            && is_x86_feature_detected!("ssse3")
        {
            return vec![Sha256(Rounds::Portable), Sha256(Rounds::Extensions)];
        }
        vec![Sha256(Rounds::Portable)]
    }

    /// Returns the digest of `input`.
    pub fn hash(self, input: &[u8]) -> [u8; 32] {
        let mut state = FIRST_STATE;
        let (bulk, rest) = input.as_chunks();
        self.blocks(&mut state, bulk);
        // Padding: a one bit, zeros, and the number of bits at the end of the block.
        let mut last = [0; 2 * BLOCK_SIZE];
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = 0x80;
        let end = if rest.len() + 9 <= BLOCK_SIZE { BLOCK_SIZE } else { 2 * BLOCK_SIZE };
        last[end - 8..end].copy_from_slice(&(8 * input.len() as u64).to_be_bytes());
        self.blocks(&mut state, last[..end].as_chunks().0);
        bytemuck::must_cast(state.map(u32::to_be_bytes))
    }

    #[allow(unsafe_code, reason = "calls code for detected instructions")]
    fn blocks(self, state: &mut State, blocks: &[[u8; BLOCK_SIZE]]) {
        match self.0 {
            Rounds::Portable => portable::blocks(state, blocks),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Extensions` is only wrapped if SHA, SSE4.1 and SSSE3 were detected.
            Rounds::Extensions => unsafe { x86_sha::blocks(state, blocks) },
        }
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Rounds::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Rounds::Extensions => "sha extensions",
        })
    }
}

/// The initial state.
pub(crate) const FIRST_STATE: State = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The fractional parts of the cube roots of the first 64 primes.
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1,
    0x923f_82a4, 0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786,
    0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147,
    0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a,
    0x5b9c_ca4f, 0x682e_6ff3, 0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::*;

    #[test]
    fn hashes_match_a_library() {
        let mut input = Vec::new();
        for length in 0..4097 {
            if length < 300 || length % 61 == 0 || length > 4090 {
                let expected = sha2::Sha256::digest(&input);
                for sha256 in Sha256::all() {
                    assert_eq!(sha256.hash(&input), expected[..], "{length} bytes, {sha256}");
                }
            }
            input.push((length * length + length / 5) as u8);
        }
    }
}
