//! The AES generators as streams.

use std::io::{self, Read};

use randomx::aes::{Aes, AesGenerator1R, AesGenerator4R};
use randomx::blake2b::hash512;
use randomx::cpu::Cpu;

use crate::randen;
use crate::{LabError, Stream};

/// Their names: the generator and its initial state.
pub(super) const STREAMS: &[&str] = &["1r-zero", "1r-hashed", "4r-zero", "4r-hashed"];

/// The streams to test: these, and Randen's from its own experiment.
pub(super) const TESTED: &[&str] = &["1r-zero", "1r-hashed", "4r-zero", "4r-hashed", RANDEN];

const RANDEN: &str = "randen";

/// Returns one of the streams to test.
pub(super) fn tested(name: &str, seed: u64) -> Result<Stream, LabError> {
    match name {
        RANDEN => Ok(randen::stream(seed)),
        name => of(name, seed),
    }
}

/// Returns the stream `name`. A hashed state is that of the document's tests: Blake2b of the seed's 8
/// bytes. A state of zeros ignores the seed.
pub(super) fn of(name: &str, seed: u64) -> Result<Stream, LabError> {
    let aes = Aes::new(Cpu::detect());
    let state = if name.ends_with("-zero") { [0; 64] } else { hash512(&[&seed.to_le_bytes()]) };
    let mut one = AesGenerator1R::new(&state, aes);
    let mut four = AesGenerator4R::new(&state, aes);
    match name {
        "1r-zero" | "1r-hashed" => Ok(Box::new(Blocks::new(move |blocks| one.fill(blocks)))),
        "4r-zero" | "4r-hashed" => Ok(Box::new(Blocks::new(move |blocks| four.fill(blocks)))),
        _ => Err(LabError::Stream { name: name.to_owned(), known: STREAMS.join(", ") }),
    }
}

/// A reader of a generator's blocks of 64 bytes.
struct Blocks<F> {
    fill: F,
    blocks: Vec<[u8; 64]>,
    /// Bytes of `blocks` that have been read.
    read: usize,
}

impl<F: FnMut(&mut [[u8; 64]])> Blocks<F> {
    fn new(fill: F) -> Blocks<F> {
        const BLOCKS: usize = 1024;
        Blocks { fill, blocks: vec![[0; 64]; BLOCKS], read: BLOCKS * 64 }
    }
}

impl<F: FnMut(&mut [[u8; 64]])> Read for Blocks<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.blocks.len() * 64 {
            (self.fill)(&mut self.blocks);
            self.read = 0;
        }
        let left = &self.blocks.as_flattened()[self.read..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.read += count;
        Ok(count)
    }
}
