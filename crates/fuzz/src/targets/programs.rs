//! Programs as machine code, against the interpreter.

use crate::programs::Case;

/// The verifier decodes x86-64 only, and the memory of a case is mapped with calls of Linux.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) const PROGRAMS: crate::Target =
    crate::Target { name: "programs", longest: 4096, quick: 150, run: machine::run, seeds };

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let words = Case::every_instruction();
    let mut seeds = Vec::new();
    for (option, chunk) in words.chunks(8).enumerate() {
        seeds.push(Case::input(option as u8, (option as u8).wrapping_mul(11) & 31, 7, chunk));
    }
    seeds.push(Case::input(1, 0, 3, &words));
    seeds.push(Case::input(0x21, 0, 3, &words));
    seeds.push(Case::input(2, 1, 5, &words));
    seeds.push(Case::input(0, 0xe0, 5, &words[..20]));
    seeds.push(Case::input(0x80, 0xe1, 5, &words[20..]));
    seeds.push(Case::input(0x40, 0xe0, 5, &words[20..]));
    seeds.push(Case::input(0xc0, 0xe1, 5, &words[..20]));
    seeds
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod machine {
    use std::sync::{LazyLock, Mutex, PoisonError};

    use randomx::cpu::Cpu;
    use randomx::engine::Lane;
    use randomx::interpreter::{Interpreter, Steps};
    use randomx::jit::CodePages;
    use randomx::jit::x86_64::program::{Features, Jit, ModeLoads};
    use randomx::params::DATASET_ITEMS;
    use randomx::program::Program;
    use randomx::scratchpad::{Scratchpad, Scratchpads};
    use randomx::{Item, Version};

    use crate::machine_code::{Helpers, verify};
    use crate::programs::guarded::{Guarded, GuardedRepeats};
    use crate::programs::{self, Case, LANES, assert_same, fill};

    /// The memory of all cases.
    struct Memory {
        original: Scratchpads,
        expected: Scratchpads,
        scratchpads: [Guarded<Scratchpad>; LANES],
        lanes: [Guarded<Lane>; LANES],
        dataset: GuardedRepeats<Item>,
        levels: Vec<Cpu>,
    }

    static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(|| Mutex::new(Memory::new()));

    impl Memory {
        fn new() -> Memory {
            let mut original = Scratchpads::new(LANES).expect("memory");
            for (seed, scratchpad) in (1..).zip(original.as_mut_slice()) {
                fill(scratchpad.blocks_mut(), seed);
            }
            let dataset = GuardedRepeats::new(DATASET_ITEMS as usize, |items: &mut [Item]| {
                fill(bytemuck::cast_slice_mut(items), 9);
            });
            Memory {
                original,
                expected: Scratchpads::new(LANES).expect("memory"),
                scratchpads: [(); LANES].map(|()| Guarded::zeroed()),
                lanes: [(); LANES].map(|()| Guarded::new(Lane::new())),
                dataset,
                levels: Cpu::detect().levels(),
            }
        }
    }

    pub(super) fn run(data: &[u8]) -> bool {
        let case = Case::draw(data);
        let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        let Memory { original, expected, scratchpads, lanes, dataset, levels } = &mut *memory;
        let cpu = levels[usize::from(case.options & 0x0f) % levels.len()];
        let pages = if case.options & 0x10 == 0 { CodePages::Aliased } else { CodePages::Flipped };
        let loads = ModeLoads::ALL[usize::from(case.options >> 5 & 1)];
        let with = format!("{cpu}, {pages:?}, {}", loads.name());
        let jit = Jit::of(Features::new(cpu, loads), cpu, pages);
        let whole = jit.whole(&case.program).expect("the length of a program");
        let helpers = verify(&whole).unwrap_or_else(|problem| panic!("{problem}, {with}"));
        assert_eq!(helpers, known_helpers(&jit, case.program.version), "{with}");

        for (index, original) in original.as_mut_slice().iter().enumerate() {
            expected.as_mut_slice()[index].blocks_mut().copy_from_slice(original.blocks());
            scratchpads[index].get_mut().blocks_mut().copy_from_slice(original.blocks());
            *lanes[index].get_mut() = Lane::new();
        }
        let mut interpreted = [(); LANES].map(|()| Lane::new());
        {
            let [first, second] = expected.as_mut_slice() else { panic!("two scratchpads") };
            let mut codes = [(); LANES].map(|()| Steps::default());
            let interpreter = Interpreter::new(Cpu::detect());
            let lanes = interpreted.each_mut();
            let items = dataset.as_slice();
            programs::run(&case, &interpreter, &mut codes, lanes, [first, second], items);
        }
        let mut codes = [(); LANES].map(|()| jit.code().expect("executable memory"));
        let places = scratchpads.each_mut().map(Guarded::get_mut);
        let compiled = lanes.each_mut().map(Guarded::get_mut);
        programs::run(&case, &jit, &mut codes, compiled, places, dataset.as_slice());
        for (index, expected) in expected.as_mut_slice().iter().enumerate() {
            let found = (lanes[index].get(), scratchpads[index].get());
            assert_same((&interpreted[index], expected), found, &with);
        }
        // Every input is a program.
        true
    }

    /// The helpers that a program without instructions calls.
    fn known_helpers(jit: &Jit, version: Version) -> Helpers {
        let empty = Program { version, ..Program::empty() };
        let whole = jit.whole(&empty).expect("a short program");
        verify(&whole).expect("good code")
    }
}
