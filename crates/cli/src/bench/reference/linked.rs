//! The reference, linked from the crate randomx-rs.

use std::{
    cell::OnceCell, env, hint::black_box, os::unix::process::CommandExt, process::Command,
    sync::Arc, time::Instant,
};

use randomx::{
    EngineChoice, Version,
    blake_generator::BlakeGenerator,
    params::{CACHE_SIZE, DATASET_SIZE, SCRATCHPAD_L3},
};

use super::ffi::{self, Cache, Compiler, Dataset, Fill, RawProgram, Source, Superscalar, Vm};
use crate::{
    args::{BenchArgs, Mode},
    bench::{
        hashing::{self, Hasher, Input},
        measure::{Contestant, Turn, repeat},
        native::{self, KEY, Native, PROGRAM_BLOCKS, memory},
        subject::{Hashing, MEGABYTE, Subject},
    },
    error::Error,
    machine::Hash,
};

/// Makes the reference's contestants, with the cache and the dataset that they need.
pub(crate) struct Reference {
    flags: u32,
    lanes: usize,
    cache: Option<Arc<Cache>>,
    dataset: Option<Arc<Dataset>>,
    knows_v2: OnceCell<bool>,
}

impl Reference {
    /// The reference with all that it can do on this machine.
    pub(crate) fn new(args: &BenchArgs) -> Result<Reference, Error> {
        run_with_huge_pages()?;
        let flags = ffi::recommended_flags();
        let flags = match args.work.vm_options().engine {
            EngineChoice::Interpreter => flags & !ffi::JIT,
            _ => flags,
        };
        let lanes = args.work.lanes();
        Ok(Reference { flags, lanes, cache: None, dataset: None, knows_v2: OnceCell::new() })
    }

    /// What the report says of it.
    pub(crate) fn description(&self) -> String {
        let engine = if self.flags & ffi::JIT != 0 { "JIT" } else { "interpreter" };
        let versions = if self.knows_v2.get() == Some(&true) { "v1 and v2" } else { "v1" };
        format!("tevador/RandomX in randomx-rs, {versions}, {engine}, {TUNABLE}")
    }

    /// Does what a row is about; none where the reference does not know it.
    pub(crate) fn contestant(
        &mut self,
        subject: &Subject,
        native: &mut Native<'_>,
    ) -> Result<Option<Contestant<'static>>, Error> {
        Ok(Some(match subject {
            Subject::Blake2b => blake2b(),
            Subject::Blake2bLong => blake2b_long(),
            Subject::Aes1R => aes_1r()?,
            Subject::Aes4R => aes_4r()?,
            Subject::AesHash1R => aes_hash()?,
            Subject::Superscalar => superscalar(),
            Subject::Argon2d => match Fill::new() {
                Some(fill) => argon2d(fill)?,
                None => return Ok(None),
            },
            Subject::Cache => {
                let flags = self.flags;
                repeat(1.0, move || drop(black_box(Cache::new(flags, KEY))))
            }
            Subject::Dataset { threads } => dataset(self.cache()?, *threads),
            Subject::Compile(version) if self.compiles(*version)? => compile(*version),
            Subject::Compile(_) | Subject::Trace(_) => return Ok(None),
            Subject::Hash(how) => {
                let vms = (0..how.threads).map(|_| self.vm(how, native));
                match vms.collect::<Result<Option<Vec<Vm>>, Error>>()? {
                    Some(vms) => hashing::contestant(vms, how.batch(self.lanes)),
                    None => return Ok(None),
                }
            }
        }))
    }

    /// One thread's VM; none of a version that the library does not know.
    pub(crate) fn vm(
        &mut self,
        how: &Hashing,
        native: &mut Native<'_>,
    ) -> Result<Option<Vm>, Error> {
        if how.version == Version::V2 && !self.knows_v2()? {
            return Ok(None);
        }
        let source = match how.mode {
            Mode::Light => Source::Cache(self.cache()?),
            Mode::Fast => Source::Dataset(self.dataset(native)?),
        };
        let version = if how.version == Version::V2 { ffi::V2 } else { 0 };
        Vm::new(self.flags | version, source).ok_or(no_memory(SCRATCHPAD_L3)).map(Some)
    }

    fn compiles(&mut self, version: Version) -> Result<bool, Error> {
        let known = version == Version::V1 || self.knows_v2()?;
        Ok(known && self.flags & ffi::JIT != 0)
    }

    /// Whether the flag for v2 changes a hash.
    fn knows_v2(&mut self) -> Result<bool, Error> {
        if let Some(&known) = self.knows_v2.get() {
            return Ok(known);
        }
        let cache = self.cache()?;
        let hash = |flags| {
            let vm =
                Vm::new(flags, Source::Cache(Arc::clone(&cache))).ok_or(no_memory(SCRATCHPAD_L3));
            vm.map(|mut vm| vm.hashes(&hashing::inputs(0, 1)))
        };
        let known = hash(self.flags)? != hash(self.flags | ffi::V2)?;
        Ok(*self.knows_v2.get_or_init(|| known))
    }

    fn cache(&mut self) -> Result<Arc<Cache>, Error> {
        let cache = match self.cache.take() {
            Some(cache) => cache,
            None => Arc::new(Cache::new(self.flags, KEY).ok_or(no_memory(CACHE_SIZE))?),
        };
        Ok(Arc::clone(self.cache.insert(cache)))
    }

    /// A dataset with our items, which are the same and sooner there.
    fn dataset(&mut self, native: &mut Native<'_>) -> Result<Arc<Dataset>, Error> {
        let dataset = match self.dataset.take() {
            Some(dataset) => dataset,
            None => {
                let mut dataset = Dataset::new().ok_or(no_memory(DATASET_SIZE))?;
                dataset.copy_from(native.dataset()?.items());
                Arc::new(dataset)
            }
        };
        Ok(Arc::clone(self.dataset.insert(dataset)))
    }
}

/// What makes the C library give huge pages to the reference, which asks for none.
const TUNABLE: &str = "glibc.malloc.hugetlb=1";

/// Runs this command again with huge pages for all large allocations, unless it has them.
fn run_with_huge_pages() -> Result<(), Error> {
    const VARIABLE: &str = "GLIBC_TUNABLES";
    let mut tunables = env::var(VARIABLE).unwrap_or_default();
    if !cfg!(target_os = "linux") || tunables.contains("glibc.malloc.hugetlb") {
        return Ok(());
    }
    if !tunables.is_empty() {
        tunables.push(':');
    }
    tunables.push_str(TUNABLE);
    let again =
        |program| Command::new(program).args(env::args_os().skip(1)).env(VARIABLE, tunables).exec();
    // Only failure comes back.
    let problem = env::current_exe().map_or_else(|problem| problem, again);
    Err(Error::Reference(format!("--against reference: cannot run with {TUNABLE}: {problem}")))
}

fn no_memory(bytes: usize) -> Error {
    Error::Memory { what: "the reference implementation", bytes }
}

impl Hasher for Vm {
    fn hashes(&mut self, inputs: &[Input]) -> Vec<Hash> {
        Vm::hashes(self, inputs)
    }
}

fn blake2b() -> Contestant<'static> {
    let mut state = [0; 64];
    repeat(1.0, move || state = ffi::blake2b(black_box(&state)))
}

fn blake2b_long() -> Contestant<'static> {
    let mut state = [0; 72];
    repeat(1.0, move || {
        let output = ffi::blake2b_long(black_box(&state));
        state.copy_from_slice(&output[..72]);
    })
}

fn aes_1r() -> Result<Contestant<'static>, Error> {
    let mut scratchpad = memory(SCRATCHPAD_L3)?;
    Ok(repeat(SCRATCHPAD_L3 as f64 / MEGABYTE, move || {
        ffi::fill_1r(&[1; 64], black_box(scratchpad.as_mut_slice()));
    }))
}

fn aes_4r() -> Result<Contestant<'static>, Error> {
    let mut program = memory(64 * PROGRAM_BLOCKS)?;
    Ok(repeat((64 * PROGRAM_BLOCKS) as f64 / MEGABYTE, move || {
        ffi::fill_4r(&[1; 64], black_box(program.as_mut_slice()));
    }))
}

fn aes_hash() -> Result<Contestant<'static>, Error> {
    let scratchpad = memory(SCRATCHPAD_L3)?;
    Ok(repeat(1.0, move || {
        black_box(ffi::hash_1r(black_box(scratchpad.as_slice())));
    }))
}

fn superscalar() -> Contestant<'static> {
    let mut programs = Superscalar::new(KEY);
    repeat(1.0, move || {
        black_box(programs.generate());
    })
}

fn compile(version: Version) -> Contestant<'static> {
    let mut programs = raw_programs(version);
    let (mut compiler, mut next) = (Compiler::new(version), 0);
    repeat(1.0, move || {
        black_box(compiler.compile(&mut programs[next]));
        next = (next + 1) % programs.len();
    })
}

/// The bytes of [`native::programs`].
fn raw_programs(version: Version) -> Vec<RawProgram> {
    let blocks = (128 + 8 * version.program_size()) / 64;
    let mut generator = native::program_generator();
    let mut programs = vec![[[0; 64]; _]; native::PROGRAMS];
    programs.iter_mut().for_each(|program| generator.fill(&mut program[..blocks]));
    programs
}

fn argon2d(mut fill: Fill) -> Result<Contestant<'static>, Error> {
    let mut blocks = memory(CACHE_SIZE)?;
    // Zeros would only make zeros, all in the same place.
    blocks.as_mut_slice::<u64>()[..256].fill_with({
        let mut random = BlakeGenerator::new(KEY);
        move || u64::from(random.word())
    });
    Ok(repeat(CACHE_SIZE as f64 / MEGABYTE, move || fill.fill(blocks.as_mut_slice())))
}

/// Computes items of a dataset of its own until the time is over.
fn dataset(cache: Arc<Cache>, threads: usize) -> Contestant<'static> {
    Box::new(move |time| {
        let start = Instant::now();
        let mut dataset = Dataset::new().ok_or(no_memory(DATASET_SIZE))?;
        let filled = dataset.fill(&cache, threads, || start.elapsed() < time)?;
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
    fn primitives_do_the_same() {
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
    fn superscalar_programs_are_the_same() {
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
    fn memory_is_filled_the_same() {
        let Some(mut fill) = Fill::new() else {
            println!("skipped: the reference has no AVX2 here");
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
