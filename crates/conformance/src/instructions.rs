//! The suite of instructions: states before and after, from the reference implementation.

use randomx::aes::{Aes, AesGenerator1R};
use randomx::cpu::Cpu;
use randomx::engine::{Engine, Lane};
use randomx::f64x2::F64x2;
use randomx::interpreter::Interpreter;
use randomx::jit::native;
use randomx::program::{Configuration, Instruction, Program};
use randomx::registers::RegisterFile;
use randomx::rounding::RoundingMode;
use randomx::scratchpad::Scratchpads;
use randomx::{EngineChoice, VmOptions};
use serde::Deserialize;

use crate::hashes::version;
use crate::{Error, Report, array, parse};

#[derive(Deserialize)]
struct Vectors {
    scratchpad_seed: String,
    vectors: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    version: u64,
    program: Vec<String>,
    e_mask: String,
    fprc: [u64; 2],
    before: String,
    after: String,
    stores: Vec<Store>,
}

#[derive(Deserialize)]
struct Store {
    address: u32,
    bytes: String,
}

pub(crate) fn instructions(
    text: &str,
    options: VmOptions,
    report: &mut Report,
) -> Result<(), Error> {
    if options.engine != EngineChoice::Jit {
        return run_instructions(text, &Interpreter::new(options.cpu), options.cpu, report);
    }
    let jit = native::jit(options.cpu, options.code_pages);
    // Without executable memory the engine would use the interpreter.
    let jit = jit.and_then(|jit| jit.code().map(|_| jit));
    let jit = jit.map_err(|error| Error::Failed(error.to_string()))?;
    run_instructions(text, &jit, options.cpu, report)
}

/// Runs the vectors of the suite `instructions` on any engine, and adds the results to a report. `cpu`
/// selects the code that fills the scratchpad.
///
/// # Errors
///
/// If the vectors are malformed, or memory is missing.
pub fn run_instructions(
    text: &str,
    engine: &impl Engine,
    cpu: Cpu,
    report: &mut Report,
) -> Result<(), Error> {
    let vectors: Vectors = parse(text)?;
    let mut original = Scratchpads::new(1).map_err(|error| Error::Failed(error.to_string()))?;
    let mut scratchpads = Scratchpads::new(1).map_err(|error| Error::Failed(error.to_string()))?;
    let original = &mut original.as_mut_slice()[0];
    let scratchpad = &mut scratchpads.as_mut_slice()[0];
    AesGenerator1R::new(&array(&vectors.scratchpad_seed)?, Aes::new(cpu))
        .fill(original.blocks_mut());

    for (index, case) in vectors.vectors.iter().enumerate() {
        let instructions: Vec<Instruction> = case
            .program
            .iter()
            .map(|word| array(word).map(|bytes| Instruction::from_bytes(&bytes)))
            .collect::<Result<_, _>>()?;
        let mut lane = Lane::new();
        lane.registers = RegisterFile::from_bytes(&array(&case.before)?);
        lane.rounding_mode = RoundingMode::from_fprc(case.fprc[0]);
        let e_mask: [u8; 16] = array(&case.e_mask)?;
        let (halves, _) = e_mask.as_chunks();
        lane.e_mask = F64x2::from_bits([halves[0], halves[1]].map(u64::from_le_bytes));
        scratchpad.blocks_mut().copy_from_slice(original.blocks());
        let program = Program {
            version: version(case.version)?,
            configuration: Configuration::ZERO,
            instructions,
        };
        engine.execute(&program, &mut lane, scratchpad);

        let at = |what: &str| format!("{what} after case {index}, {}", case.name);
        report.check(
            || at("registers"),
            hex::encode(lane.registers.to_bytes()),
            case.after.clone(),
        );
        report.check(|| at("fprc"), lane.rounding_mode as u64, case.fprc[1]);
        for store in &case.stores {
            report.check(
                || at(&format!("scratchpad word {}", store.address)),
                hex::encode(scratchpad.read(store.address)),
                store.bytes.clone(),
            );
        }
        report.check(
            || at("number of other scratchpad words that changed"),
            changed_elsewhere(original.blocks(), scratchpad.blocks(), &case.stores),
            0,
        );
    }
    Ok(())
}

/// Returns the number of words that changed at other addresses than those of `stores`.
fn changed_elsewhere(before: &[[u8; 64]], after: &[[u8; 64]], stores: &[Store]) -> usize {
    let (before, _) = before.as_flattened().as_chunks::<8>();
    let (after, _) = after.as_flattened().as_chunks::<8>();
    let changed =
        (0..).step_by(8).zip(before.iter().zip(after)).filter(|(_, (one, other))| one != other);
    changed.filter(|(address, _)| stores.iter().all(|store| store.address != *address)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One store of 16 bytes instead of 8, or at the next address, changes no other line.
    #[test]
    fn words_beside_a_store_count_as_changed_elsewhere() {
        let stores = [Store { address: 72, bytes: String::new() }];
        let before = [[0; 64]; 3];
        for (changed, expected) in
            [(72..80, 0), (72..88, 1), (64..72, 1), (71..81, 2), (0..192, 23)]
        {
            let mut after = before;
            after.as_flattened_mut()[changed.clone()].fill(1);
            assert_eq!(changed_elsewhere(&before, &after, &stores), expected, "{changed:?}");
        }
    }
}
