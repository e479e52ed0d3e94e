//! One hash in progress: all of specification 2 but the loop.

use crate::aes::{Aes, AesGenerator1R, AesGenerator4R, aes_hash_1r, hash_and_fill_1r};
use crate::blake2b::Blake2b;
use crate::cpu::Cpu;
use crate::engine::{Engine, Lane};
use crate::params::{HASH_SIZE, Version};
use crate::program::Program;
use crate::registers::RegisterFile;
use crate::scratchpad::Scratchpad;
use crate::vm::{Observer, Phase};

pub(super) struct HashState<E: Engine> {
    pub(super) lane: Lane,
    pub(super) code: E::Code,
    program: Program,
    generator: AesGenerator4R,
    primitives: Primitives,
}

/// The primitives that hash before and after the loop.
#[derive(Clone, Copy)]
pub(super) struct Primitives {
    aes: Aes,
    blake2b: Blake2b,
}

impl Primitives {
    pub(super) fn new(cpu: Cpu) -> Primitives {
        Primitives { aes: Aes::new(cpu), blake2b: Blake2b::new(cpu) }
    }
}

impl<E: Engine> HashState<E> {
    pub(super) fn new(code: E::Code, primitives: Primitives) -> HashState<E> {
        let generator = AesGenerator4R::new(&[0; 64], primitives.aes);
        HashState { lane: Lane::new(), code, program: Program::empty(), generator, primitives }
    }

    /// Runs steps 2 to 6.
    pub(super) fn begin_hash(&mut self, input: &[u8], scratchpad: &mut Scratchpad) {
        let mut filler = self.filler(input);
        filler.fill(scratchpad.blocks_mut());
        self.filled(&filler);
    }

    /// Runs steps 9 and 10.
    pub(super) fn reseed(&mut self) {
        let registers = self.lane.registers.to_bytes();
        self.generator.set_state(&self.primitives.blake2b.hash512(&[&registers]));
    }

    /// Runs step 7.
    pub(super) fn begin_program(
        &mut self,
        engine: &E,
        version: Version,
        observer: &mut dyn Observer,
    ) {
        observer.enter(Phase::Generate);
        self.program.regenerate(&mut self.generator, version);
        self.lane.start(&self.program.configuration);
        observer.enter(Phase::Compile);
        engine.load(&self.program, self.lane.rounding_mode, &mut self.code);
    }

    /// Runs steps 12 to 14.
    pub(super) fn finish_hash(&self, scratchpad: &Scratchpad) -> [u8; HASH_SIZE] {
        self.digest(&aes_hash_1r(scratchpad.blocks(), self.primitives.aes))
    }

    /// Runs steps 12 to 14, and steps 2 to 6 for the next input, in one pass over the scratchpad.
    pub(super) fn finish_and_begin(
        &mut self,
        input: &[u8],
        scratchpad: &mut Scratchpad,
    ) -> [u8; HASH_SIZE] {
        let mut filler = self.filler(input);
        let hash = self.digest(&hash_and_fill_1r(scratchpad.blocks_mut(), &mut filler));
        self.filled(&filler);
        hash
    }

    fn filler(&self, input: &[u8]) -> AesGenerator1R {
        AesGenerator1R::new(&self.primitives.blake2b.hash512(&[input]), self.primitives.aes)
    }

    /// Resets the lane, and continues from the state of the scratchpad's generator.
    fn filled(&mut self, filler: &AesGenerator1R) {
        self.generator.set_state(&filler.state());
        self.lane = Lane::new();
    }

    fn digest(&self, fingerprint: &[u8; 64]) -> [u8; HASH_SIZE] {
        let mut file = self.lane.registers.to_bytes();
        file[RegisterFile::SIZE - 64..].copy_from_slice(fingerprint);
        self.primitives.blake2b.hash256(&[&file])
    }
}
