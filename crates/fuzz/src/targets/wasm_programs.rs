//! Programs as WebAssembly modules in wasmi, against the interpreter.

use std::sync::{LazyLock, Mutex, PoisonError};

use randomx::cpu::Cpu;
use randomx::engine::Lane;
use randomx::interpreter::{Interpreter, Steps};
use randomx::jit::wasm::Features;
use randomx::jit::wasm::engine::Jit;
use randomx::scratchpad::Scratchpads;
use randomx_wasmi::Wasmi;

use super::programs::seeds;
use crate::Target;
use crate::programs::{self, Case, LANES, assert_same, fill};

pub(super) const WASM_PROGRAMS: Target =
    Target { name: "wasm_programs", longest: 1024, quick: 20, run, seeds };

/// Lengths of a program's parts: one part for each branch, a few, and one in all.
const PARTS: [usize; 3] = [0, 1000, usize::MAX];

/// The scratchpads of all cases: as they begin, and of each engine.
static MEMORY: LazyLock<Mutex<[Scratchpads; 3]>> = LazyLock::new(|| {
    let mut memory = [(); 3].map(|()| Scratchpads::new(LANES).expect("memory"));
    for (seed, scratchpad) in (1..).zip(memory[0].as_mut_slice()) {
        fill(scratchpad.blocks_mut(), seed);
    }
    Mutex::new(memory)
});

fn run(data: &[u8]) -> bool {
    let case = Case::draw(data).without_loop();
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let [original, expected, found] = &mut *memory;
    for (index, original) in original.as_mut_slice().iter().enumerate() {
        expected.as_mut_slice()[index].blocks_mut().copy_from_slice(original.blocks());
        found.as_mut_slice()[index].blocks_mut().copy_from_slice(original.blocks());
    }
    let mut lanes = [(); 2].map(|()| [(); LANES].map(|()| Lane::new()));
    let [interpreted, compiled] = &mut lanes;
    {
        let [first, second] = expected.as_mut_slice() else { panic!("two scratchpads") };
        let mut codes = [(); LANES].map(|()| Steps::default());
        let (interpreter, lanes) = (Interpreter::new(Cpu::detect()), interpreted.each_mut());
        programs::run(&case, &interpreter, &mut codes, lanes, [first, second], &[]);
    }
    let features = Features {
        fused_multiply_add: case.options & 1 != 0,
        wide_arithmetic: case.options & 2 != 0,
        shared_memory: false,
    };
    let parts = PARTS[usize::from(case.options >> 2) % PARTS.len()];
    {
        let [first, second] = found.as_mut_slice() else { panic!("two scratchpads") };
        let jit = Jit::new(Wasmi::new(features), features, Cpu::detect()).with_parts(parts);
        let mut codes = [(); LANES].map(|()| jit.code());
        programs::run(&case, &jit, &mut codes, compiled.each_mut(), [first, second], &[]);
    }
    let with = format!("{features:?}, parts of {parts}");
    let scratchpads = expected.as_mut_slice().iter().zip(found.as_mut_slice());
    let lanes = interpreted.iter().zip(&*compiled);
    for ((interpreted, compiled), (expected, found)) in lanes.zip(scratchpads) {
        assert_same((interpreted, expected), (compiled, found), &with);
    }
    // Every input is a program.
    true
}
