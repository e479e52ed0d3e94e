//! The implementations that are measured: each hash function with each instruction set, and libraries.

use randomx::blake2b::Blake2b;
use randomx::cpu::Cpu;
use sha2::Digest;

use super::Blake2s;
use crate::sha256::Sha256;

/// An implementation of a hash function.
pub struct Contestant {
    /// The name of the hash function.
    pub function: &'static str,
    /// The name of the library, or the instruction set.
    pub implementation: String,
    /// Whether it is a library.
    pub library: bool,
    /// The report's lower limit in cycles per byte.
    pub limit: Option<f64>,
    /// Cycles per byte of the report's fastest code.
    pub published: Option<f64>,
    /// Why the report's figure differs.
    pub difference: &'static str,
    /// Computes the first 32 bytes of the digest.
    pub hash: Hash,
}

type Hash = Box<dyn Fn(&[u8]) -> [u8; 32]>;

/// Returns all implementations for this machine, grouped by function, from the slowest to the fastest.
pub fn contestants(cpu: Cpu) -> Vec<Contestant> {
    let mut all = Vec::new();
    all.extend(blake2b(cpu));
    all.push(library("BLAKE2b", "blake2b_simd", |input| {
        first_half(blake2b_simd::blake2b(input).as_array())
    }));
    all.extend(Blake2s::all(cpu).into_iter().map(|blake2s| {
        let name = blake2s.to_string();
        let (limit, published) = match name.as_str() {
            // Two more operations in each of 10 rounds for 64 bytes.
            "avx2, rotating the row computed last" => (Some(4.6875), Some(5.25)),
            "avx2" => (Some(4.375), Some(4.90)),
            "avx512vl" => (Some(3.75), Some(4.11)),
            _ => (None, None),
        };
        ours("BLAKE2s", name, limit, published, move |input| blake2s.hash(input))
    }));
    all.push(library("BLAKE2s", "blake2s_simd", |input| *blake2s_simd::blake2s(input).as_array()));
    all.extend(Sha256::all().into_iter().map(|sha256| {
        let name = sha256.to_string();
        let (limit, published) =
            if name == "portable" { (None, Some(7.56)) } else { (Some(2.0), Some(2.0)) };
        let difference = "another processor and compiler";
        let hash = move |input: &[u8]| sha256.hash(input);
        Contestant { difference, ..ours("SHA-256", name, limit, published, hash) }
    }));
    all.push(library("SHA-256", "sha2", |input| sha2::Sha256::digest(input).into()));
    all
}

/// Returns the core's implementations of Blake2b.
fn blake2b(cpu: Cpu) -> Vec<Contestant> {
    let contestant = |blake2b: Blake2b| {
        let (name, limit, published) = match blake2b.name() {
            "AVX2" => ("avx2", Some(2.4375), Some(2.95)),
            // Rotations take one operation less: 12 cycles instead of 13.
            "AVX-512" => ("avx512vl", Some(2.25), None),
            name => (name, None, None),
        };
        ours("BLAKE2b", name.to_owned(), limit, published, move |input| {
            first_half(&blake2b.hash512(&[input]))
        })
    };
    Blake2b::all(cpu).map(contestant).collect()
}

fn first_half(digest: &[u8; 64]) -> [u8; 32] {
    let [first, _]: &[[u8; 32]; 2] = bytemuck::must_cast_ref(digest);
    *first
}

fn ours(
    function: &'static str,
    implementation: String,
    limit: Option<f64>,
    published: Option<f64>,
    hash: impl Fn(&[u8]) -> [u8; 32] + 'static,
) -> Contestant {
    let (hash, difference) =
        (Box::new(hash), "another processor; the table of lower bounds shows its chain alone");
    Contestant { function, implementation, library: false, limit, published, difference, hash }
}

fn library(
    function: &'static str,
    name: &str,
    hash: impl Fn(&[u8]) -> [u8; 32] + 'static,
) -> Contestant {
    Contestant { library: true, ..ours(function, name.to_owned(), None, None, hash) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All implementations of a function agree on inputs of all lengths up to 4096 bytes.
    #[test]
    fn implementations_agree_with_libraries() {
        let all = contestants(Cpu::detect());
        assert_eq!(all.iter().filter(|contestant| contestant.library).count(), 3);
        let mut input = Vec::new();
        for length in 0..=4096usize {
            let mut expected = None;
            for contestant in all.iter().rev() {
                let digest = (contestant.hash)(&input);
                if contestant.library {
                    expected = Some(digest);
                }
                let implementation = &contestant.implementation;
                assert_eq!(Some(digest), expected, "{length} bytes, {implementation}");
            }
            // Each byte comes from a digest of all bytes before it.
            input.push(expected.map_or(0, |digest| digest[length % 32]));
        }
    }
}
