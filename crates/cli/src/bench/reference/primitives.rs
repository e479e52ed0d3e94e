//! The reference's contestants in rows that are not hashes.

use std::{hint::black_box, sync::Arc, time::Instant};

use randomx::{
    Version,
    blake_generator::BlakeGenerator,
    params::{CACHE_SIZE, DATASET_SIZE, SCRATCHPAD_L3},
};

use super::ffi::{self, Cache, Compiler, Dataset, Fill, RawProgram, Superscalar, no_memory};
use crate::{
    bench::{
        measure::{Contestant, Slot, Turn, repeat},
        native::{self, KEY, PROGRAM_BLOCKS, memory, scratchpad},
        subject::MEGABYTE,
    },
    error::Error,
};

pub(super) fn blake2b() -> Contestant<'static> {
    let mut state = [0; 64];
    repeat(1.0, move || state = ffi::blake2b(black_box(&state)))
}

pub(super) fn blake2b_long() -> Contestant<'static> {
    let mut state = [0; 72];
    repeat(1.0, move || {
        let output = ffi::blake2b_long(black_box(&state));
        state.copy_from_slice(&output[..72]);
    })
}

pub(super) fn aes_1r() -> Result<Contestant<'static>, Error> {
    let mut scratchpad = memory(SCRATCHPAD_L3)?;
    Ok(repeat(SCRATCHPAD_L3 as f64 / MEGABYTE, move || {
        ffi::fill_1r(&[1; 64], black_box(scratchpad.as_mut_slice()));
    }))
}

pub(super) fn aes_4r() -> Result<Contestant<'static>, Error> {
    let mut program = memory(64 * PROGRAM_BLOCKS)?;
    Ok(repeat((64 * PROGRAM_BLOCKS) as f64 / MEGABYTE, move || {
        ffi::fill_4r(&[1; 64], black_box(program.as_mut_slice()));
    }))
}

pub(super) fn aes_hash() -> Result<Contestant<'static>, Error> {
    let scratchpad = scratchpad()?;
    Ok(repeat(1.0, move || {
        black_box(ffi::hash_1r(black_box(scratchpad.as_slice())));
    }))
}

pub(super) fn superscalar() -> Contestant<'static> {
    let mut programs = Superscalar::new(KEY);
    repeat(1.0, move || {
        black_box(programs.generate());
    })
}

pub(super) fn compile(version: Version) -> Contestant<'static> {
    let mut programs = raw_programs(version);
    let (mut compiler, mut next) = (Compiler::new(version), 0);
    repeat(1.0, move || {
        black_box(compiler.compile(&mut programs[next]));
        next = (next + 1) % programs.len();
    })
}

/// The programs that this implementation compiles, as bytes.
fn raw_programs(version: Version) -> Vec<RawProgram> {
    let blocks = (128 + 8 * version.program_size()) / 64;
    let mut generator = native::program_generator();
    let mut programs = vec![[[0; 64]; _]; native::PROGRAMS];
    programs.iter_mut().for_each(|program| generator.fill(&mut program[..blocks]));
    programs
}

pub(super) fn argon2d(mut fill: Fill) -> Result<Contestant<'static>, Error> {
    let mut blocks = memory(CACHE_SIZE)?;
    // Zeros would yield only zeros, and read the same block each time.
    blocks.as_mut_slice::<u64>()[..256].fill_with({
        let mut random = BlakeGenerator::new(KEY);
        move || u64::from(random.word())
    });
    Ok(repeat(CACHE_SIZE as f64 / MEGABYTE, move || fill.fill(blocks.as_mut_slice())))
}

/// Fills its own dataset until the turn is over.
pub(super) fn dataset(cache: Arc<Cache>, threads: usize) -> Contestant<'static> {
    Box::new(move |slot: Slot<'_>| {
        let mut dataset = Dataset::new().ok_or(no_memory(DATASET_SIZE))?;
        let start = Instant::now();
        let filled = dataset.fill(&cache, threads, || !slot.is_over(start.elapsed()))?;
        let elapsed = start.elapsed();
        let megabytes = (filled * Dataset::ITEM) as f64 / MEGABYTE;
        Ok(Turn { rate: megabytes / elapsed.as_secs_f64(), time: elapsed })
    })
}

#[cfg(test)]
mod tests {
    use randomx::{
        aes::{Aes, AesGenerator1R, AesGenerator4R, aes_hash_1r},
        argon2d::{self, Block, FILL_BLOCKS},
        blake2b::{Blake2b, hash512},
        cpu::Cpu,
        superscalar,
    };

    use super::*;

    #[test]
    fn primitives_agree() {
        let aes = Aes::new(Cpu::detect());
        let mut random = BlakeGenerator::new(b"primitives");
        let mut ours = memory(1 << 16).expect("64 KiB");
        let mut theirs = memory(1 << 16).expect("64 KiB");
        for _ in 0..10 {
            let seed = std::array::from_fn(|_| random.byte());
            assert_eq!(ffi::blake2b(&seed), hash512(&[&seed]));
            let seed_and_index = std::array::from_fn(|_| random.byte());
            let long = Blake2b::default().hash_long(&seed_and_index);
            assert_eq!(ffi::blake2b_long(&seed_and_index), long);
            AesGenerator1R::new(&seed, aes).fill(ours.as_mut_slice());
            ffi::fill_1r(&seed, theirs.as_mut_slice());
            assert!(ours.as_slice::<u8>() == theirs.as_slice::<u8>());
            assert_eq!(ffi::hash_1r(theirs.as_slice()), aes_hash_1r(ours.as_slice(), aes));
            AesGenerator4R::new(&seed, aes).fill(ours.as_mut_slice());
            ffi::fill_4r(&seed, theirs.as_mut_slice());
            assert!(ours.as_slice::<u8>() == theirs.as_slice::<u8>());
        }
    }

    #[test]
    fn superscalar_programs_agree() {
        let mut random = BlakeGenerator::new(KEY);
        let mut theirs = Superscalar::new(KEY);
        for _ in 0..20 {
            let ours = superscalar::generate(&mut random).instructions;
            let theirs = theirs.generate();
            assert!(theirs.len() <= ours.len());
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert_eq!(ours.to_bytes(), theirs.to_le_bytes());
            }
        }
    }

    #[test]
    fn programs_are_compiled() {
        for mut program in raw_programs(Version::V1) {
            // Each of the 256 instructions becomes some bytes, around 6 of them.
            let code = Compiler::new(Version::V1).compile(&mut program);
            assert!((1000..8000).contains(&code), "{code}");
        }
    }

    #[test]
    fn argon2d_agrees() {
        let Some(mut fill) = Fill::new(true) else {
            randomx_testing::say("skipped: the reference has no AVX2 here");
            return;
        };
        let mut ours = memory(CACHE_SIZE).expect("256 MiB");
        let mut theirs = memory(CACHE_SIZE).expect("256 MiB");
        let mut filling = argon2d::Fill::new(KEY, Cpu::detect());
        filling.advance(ours.as_mut_slice(), 2);
        let first: [Block; 2] = std::array::from_fn(|index| ours.as_slice()[index]);
        filling.advance(ours.as_mut_slice(), FILL_BLOCKS);
        theirs.as_mut_slice::<Block>()[..2].copy_from_slice(&first);
        fill.fill(theirs.as_mut_slice());
        assert!(ours.as_slice::<u64>() == theirs.as_slice::<u64>());
    }
}
