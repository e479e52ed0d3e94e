//! One hash in progress: everything of specification 2 but the loop.

use crate::aes::{Aes, AesGenerator1R, AesGenerator4R, aes_hash_1r};
use crate::blake2b::{hash256, hash512};
use crate::engine::{Engine, Lane};
use crate::params::{HASH_SIZE, Version};
use crate::program::Program;
use crate::registers::RegisterFile;
use crate::scratchpad::Scratchpad;
use crate::vm::{Observer, Phase};

pub(super) struct HashState<E: Engine> {
    pub(super) lane: Lane,
    pub(super) code: E::Code,
    generator: AesGenerator4R,
}

impl<E: Engine> HashState<E> {
    pub(super) fn new(code: E::Code, aes: Aes) -> HashState<E> {
        HashState { lane: Lane::new(), code, generator: AesGenerator4R::new(&[0; 64], aes) }
    }

    /// Steps 2 to 6.
    pub(super) fn begin_hash(&mut self, input: &[u8], scratchpad: &mut Scratchpad, aes: Aes) {
        let mut filler = AesGenerator1R::new(&hash512(&[input]), aes);
        filler.fill(scratchpad.blocks_mut());
        self.generator.set_state(&filler.state());
        self.lane = Lane::new();
    }

    /// Steps 9 and 10.
    pub(super) fn reseed(&mut self) {
        self.generator.set_state(&hash512(&[&self.lane.registers.to_bytes()]));
    }

    /// Step 7.
    pub(super) fn begin_program(
        &mut self,
        engine: &E,
        version: Version,
        observer: &mut dyn Observer,
    ) {
        observer.enter(Phase::Generate);
        let program = Program::generate(&mut self.generator, version);
        self.lane.start(&program.configuration);
        observer.enter(Phase::Compile);
        engine.load(&program, &mut self.code);
    }

    /// Steps 12 to 14.
    pub(super) fn finish_hash(&self, scratchpad: &Scratchpad, aes: Aes) -> [u8; HASH_SIZE] {
        self.digest(&aes_hash_1r(scratchpad.blocks(), aes))
    }

    fn digest(&self, fingerprint: &[u8; 64]) -> [u8; HASH_SIZE] {
        let mut file = self.lane.registers.to_bytes();
        file[RegisterFile::SIZE - 64..].copy_from_slice(fingerprint);
        hash256(&[&file])
    }
}
