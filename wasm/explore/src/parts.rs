//! The speed of the parts of a hash, measured as in the native build.

use std::hint::black_box;

use randomx::aes::{Aes, AesGenerator1R, AesGenerator4R, aes_hash_1r};
use randomx::blake_generator::BlakeGenerator;
use randomx::blake2b::Blake2b;
use randomx::cpu::Cpu;
use randomx::memory::Memory;
use randomx::params::SCRATCHPAD_L3;
use randomx::superscalar;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::clock::now;
use crate::failure::Failure;

/// A megabyte, as in published figures.
const MEGABYTE: f64 = (1 << 20) as f64;

/// The blocks of 64 bytes that AesGenerator4R generates for a program of v1.
const PROGRAM_BLOCKS: usize = 34;

/// The longest measurement, in milliseconds.
const LONGEST: f64 = 10_000.0;

/// Repeats a part for `milliseconds` (at most 10,000) and returns its rate per second:
///
/// - `Blake2b`: hashes of 64 bytes
/// - `Blake2bLong`: hashes of 72 bytes with 1024 bytes of output
/// - `Aes1R`, `Aes4R`: MiB generated, 2 MiB or 2176 bytes at a time
/// - `AesHash1R`: hashes of 2 MiB
/// - `Superscalar`: programs generated
///
/// # Errors
///
/// `invalid-argument` for another name or time; `out-of-memory`.
#[wasm_bindgen(js_name = measurePart)]
pub fn measure_part(name: &str, milliseconds: f64) -> Result<f64, Failure> {
    if !(0.0..=LONGEST).contains(&milliseconds) {
        let complaint = format!("milliseconds: expected 0 to {LONGEST}, got {milliseconds}");
        return Err(Failure::InvalidArgument(complaint));
    }
    let cpu = Cpu::detect();
    let aes = Aes::new(cpu);
    Ok(match name {
        "Blake2b" => {
            let (hash, mut state) = (Blake2b::new(cpu), [0; 64]);
            repeat(1.0, milliseconds, || state = hash.hash512(&[black_box(&state)]))
        }
        "Blake2bLong" => {
            let (hash, mut state) = (Blake2b::new(cpu), [0; 72]);
            repeat(1.0, milliseconds, || {
                let output: [u8; 1024] = hash.hash_long(black_box(&state));
                state.copy_from_slice(&output[..72]);
            })
        }
        "Aes1R" => {
            let mut scratchpad = scratchpad()?;
            repeat(SCRATCHPAD_L3 as f64 / MEGABYTE, milliseconds, || {
                let scratchpad = black_box(scratchpad.as_mut_slice());
                AesGenerator1R::new(&[1; 64], aes).fill(scratchpad);
            })
        }
        "Aes4R" => {
            let mut program = [[0; 64]; PROGRAM_BLOCKS];
            repeat((64 * PROGRAM_BLOCKS) as f64 / MEGABYTE, milliseconds, || {
                AesGenerator4R::new(&[1; 64], aes).fill(black_box(&mut program));
            })
        }
        "AesHash1R" => {
            let scratchpad = scratchpad()?;
            repeat(1.0, milliseconds, || {
                black_box(aes_hash_1r(black_box(scratchpad.as_slice()), aes));
            })
        }
        "Superscalar" => {
            let mut random = BlakeGenerator::new(b"randomx bench");
            repeat(1.0, milliseconds, || drop(black_box(superscalar::generate(&mut random))))
        }
        _ => {
            return Err(Failure::InvalidArgument(format!(
                "name: expected a part of a hash, got {name}"
            )));
        }
    })
}

fn scratchpad() -> Result<Memory, Failure> {
    Memory::zeroed(SCRATCHPAD_L3)
        .map_err(|_| Failure::OutOfMemory("no memory for a scratchpad, 2 MiB".to_owned()))
}

/// Returns `amount` times the repetitions of `work` per second. The clock may be coarse, so the work
/// between two readings doubles until it takes long enough.
fn repeat(amount: f64, milliseconds: f64, mut work: impl FnMut()) -> f64 {
    // The first repetitions also let the engine optimise the code.
    let mut time = |times: u64| {
        let start = now();
        for _ in 0..times {
            work();
        }
        now() - start
    };
    let mut times = 1;
    while time(times) < milliseconds / 8.0 && times < 1 << 32 {
        times *= 2;
    }
    let (mut done, mut elapsed) = (0, 0.0);
    while done == 0 || (elapsed < milliseconds && done < 1 << 40) {
        elapsed += time(times);
        done += times;
    }
    // A clock that stands still must not give an infinite rate.
    amount * done as f64 * 1e3 / elapsed.max(1e-3)
}
