//! Measurement of how fast an engine runs programs.

use crate::clock::now;
use crate::host::JsHost;
use crate::{error::Failure, features};
use randomx::aes::{Aes, AesGenerator4R};
use randomx::cpu::Cpu;
use randomx::engine::{Engine, Lane, LaneContext};
use randomx::interpreter::{Interpreter, Steps};
use randomx::jit::wasm::engine::Jit;
use randomx::params::PROGRAM_ITERATIONS;
use randomx::program::Program;
use randomx::rounding::RoundingMode;
use randomx::scratchpad::Scratchpads;
use randomx::{Version, VmError};
use wasm_bindgen::prelude::wasm_bindgen;

/// Programs that are run. All but the first count. A JavaScript engine optimises a program's code in
/// the background, though the program is nearly done, and that takes time from the later ones.
const PROGRAMS: u8 = 5;

/// Returns the milliseconds that programs take from their generation to their last iteration,
/// `compiled` or interpreted. `features` are bits; see `detectFeatures`. Each `round` has its own
/// programs, because a JavaScript engine may cache what it has compiled.
///
/// # Errors
///
/// `out-of-memory`.
#[wasm_bindgen]
pub fn calibrate(compiled: bool, features: u32, round: u8) -> Result<f64, Failure> {
    let cpu = Cpu::detect();
    let milliseconds = if compiled {
        let jit = Jit::new(JsHost, features::from_bits(features), cpu);
        let code = jit.code();
        time(&jit, code, round)
    } else {
        time(&Interpreter::new(cpu), Steps::default(), round)
    };
    Ok(milliseconds?)
}

fn time<E: Engine>(engine: &E, mut code: E::Code, round: u8) -> Result<f64, VmError> {
    let mut scratchpads = Scratchpads::new(1)?;
    let scratchpad = &mut scratchpads.as_mut_slice()[0];
    let mut sum = 0.0;
    for number in 0..PROGRAMS {
        let mut seed = [number; 64];
        seed[0] = round;
        let mut generator = AesGenerator4R::new(&seed, Aes::new(Cpu::detect()));
        let start = now();
        let program = Program::generate(&mut generator, Version::V1);
        let mut lane = Lane::new();
        // Later programs of a hash begin in any mode, in which an engine can be slower than in the first one.
        lane.rounding_mode = RoundingMode::from_fprc(number.into());
        engine.load(&program, lane.rounding_mode, &mut code);
        lane.start(&program.configuration);
        for _ in 0..PROGRAM_ITERATIONS {
            let lanes = &mut [LaneContext { code: &code, lane: &mut lane, scratchpad }];
            engine.iterate(lanes, &[[u64::from(number); 8]]);
        }
        if number > 0 {
            sum += now() - start;
        }
    }
    Ok(sum)
}
