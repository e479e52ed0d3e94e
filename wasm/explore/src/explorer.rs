//! Traced hashes of one key.

use std::sync::Arc;

use js_sys::Uint8Array;
use randomx::blake_generator::BlakeGenerator;
use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::params::{CACHE_ACCESSES, PROGRAM_COUNT, PROGRAM_ITERATIONS};
use randomx::superscalar::generate_traced;
use randomx::{Cache, EngineChoice, KeyMemory, Version, Vm, VmOptions, trace};
use randomx_figures::{
    Accesses, Branches, HashFigures, ProgramLog, Runtime, Schedule, SuperscalarStatistics, WriteMap,
};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument;
use crate::clock::now;
use crate::failure::Failure;
use crate::plain::{Exploration, Figures, SuperscalarFunction};

/// A key's cache, the last explored hash, and the figures of all added hashes.
#[wasm_bindgen]
pub struct Explorer {
    key: KeyMemory,
    vm: Vm,
    figures: HashFigures,
    runtime: Runtime<fn() -> f64>,
    log: ProgramLog,
    map: WriteMap,
}

impl Explorer {
    pub(crate) fn new(cache: Cache) -> Result<Explorer, Failure> {
        let items = Items::new(Arc::new(cache), Cpu::detect());
        let key = KeyMemory::Items(Arc::new(items));
        let engine = EngineChoice::Interpreter;
        // One lane, because the times are those of single hashes.
        let options = VmOptions { lanes: Some(1), engine, ..VmOptions::default() };
        Ok(Explorer {
            vm: Vm::with_options(key.clone(), Version::V1, options)?,
            key,
            figures: HashFigures::default(),
            runtime: Runtime::new(now),
            log: ProgramLog::new(0, 0),
            map: WriteMap::default(),
        })
    }
}

#[wasm_bindgen]
impl Explorer {
    /// Traces the hash of `input` (at most 1 MiB) and one of its programs, 0 to 7.
    ///
    /// # Errors
    ///
    /// `invalid-argument`; `out-of-memory`; `worker-failed`.
    pub fn explore(
        &mut self,
        version: u32,
        input: &Uint8Array,
        program: u32,
    ) -> Result<Ts<Exploration>, Failure> {
        let version = argument::version("version", version)?;
        let input = argument::bytes("input", input)?;
        let program = argument::index("program", program, PROGRAM_COUNT)?;
        let mut log = ProgramLog::new(program, PROGRAM_ITERATIONS);
        let mut map = WriteMap::default();
        let mut accesses = Accesses::default();
        let mut branches = Branches::default();
        let mut tracer = ((&mut log, &mut map), (&mut accesses, &mut branches));
        let hash = trace::hash(self.key.clone(), version, &input, &mut tracer)?;
        let (accesses, branches) = (accesses.summary(), branches.summary());
        let exploration = Exploration::new(&hash, &log, &map.summary(), &accesses, &branches);
        (self.log, self.map) = (log, map);
        Ok(exploration.into_ts()?)
    }

    /// Returns `r0` to `r7` of the last explored program, for each iteration.
    #[wasm_bindgen(js_name = integerRegisters)]
    pub fn integer_registers(&self) -> Vec<u64> {
        self.log.rows().iter().flat_map(|row| row.r).collect()
    }

    /// Returns `f0` to `f3` and `e0` to `e3` of the last explored program, two halves each: 16 numbers
    /// per iteration.
    #[wasm_bindgen(js_name = floatRegisters)]
    pub fn float_registers(&self) -> Vec<f64> {
        let rows = self.log.rows().iter();
        rows.flat_map(|row| row.f.into_iter().chain(row.e)).flatten().collect()
    }

    /// Returns a bit for each 8 bytes of the scratchpad, lowest bit first: 1 if the last explored hash
    /// overwrote them.
    #[wasm_bindgen(js_name = writeMap)]
    pub fn write_map(&self) -> Vec<u8> {
        self.map.bits().iter().flat_map(|bits| bits.to_le_bytes()).collect()
    }

    /// Adds the hash of `input` (at most 1 MiB) to the figures. Computes it twice: once traced, and once
    /// untraced to measure its time.
    ///
    /// # Errors
    ///
    /// `invalid-argument`; `out-of-memory`.
    pub fn add(&mut self, version: u32, input: &Uint8Array) -> Result<(), Failure> {
        let version = argument::version("version", version)?;
        let input = argument::bytes("input", input)?;
        trace::hash(self.key.clone(), version, &input, &mut self.figures)?;
        self.vm.set_version(version);
        self.vm.hash_many_observed(&[input], &mut self.runtime);
        Ok(())
    }

    /// Removes all added hashes from the figures.
    pub fn clear(&mut self) {
        self.figures = HashFigures::default();
        self.runtime = Runtime::new(now);
    }

    /// Returns the figures of all added hashes.
    ///
    /// # Errors
    ///
    /// `worker-failed`.
    pub fn figures(&self) -> Result<Ts<Figures>, Failure> {
        Ok(Figures::new(&self.figures, &self.runtime).into_ts()?)
    }
}

/// Returns how SuperscalarHash function `function` (0 to 7) of `key` is generated, and the means of all 8.
///
/// # Errors
///
/// `invalid-argument`; `worker-failed`.
#[wasm_bindgen]
pub fn superscalar(key: &Uint8Array, function: u32) -> Result<Ts<SuperscalarFunction>, Failure> {
    let key = argument::bytes("key", key)?;
    let wanted = argument::index("function", function, CACHE_ACCESSES)?;
    let mut random = BlakeGenerator::new(&key);
    let mut statistics = SuperscalarStatistics::default();
    let functions: [_; CACHE_ACCESSES] = std::array::from_fn(|_| {
        let mut schedule = Schedule::default();
        let program = generate_traced(&mut random, &mut schedule);
        statistics.add(&program, &schedule);
        (program, schedule)
    });
    let (program, schedule) = &functions[wanted];
    Ok(SuperscalarFunction::new(program, schedule, &statistics.summary()).into_ts()?)
}
