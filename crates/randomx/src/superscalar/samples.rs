//! Inputs for tests of SuperscalarHash.

use super::{Instruction, Kind, Program};
use crate::blake_generator::BlakeGenerator;
use crate::params::CACHE_ACCESSES;

/// Returns item numbers from the whole dataset, with both ends.
pub(crate) fn numbers(count: u32) -> Vec<u32> {
    let spread = |index: u32| index.wrapping_mul(0x9e37_79b1) % 34_078_719;
    let mut numbers: Vec<u32> = (0..count).map(spread).collect();
    numbers.extend([34_078_718, 0, u32::MAX]);
    numbers.rotate_right(3);
    numbers
}

/// Returns functions that no key generates: every operation on every pair of registers, with edge
/// values and random words as constants.
pub(crate) fn operations_on_edges() -> impl Iterator<Item = [Program; CACHE_ACCESSES]> {
    const EDGES: [u32; 10] = [0, 1, 2, 3, 63, 64, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX];
    let mut random = BlakeGenerator::new(b"operations on edges");
    (0..24).map(move |round| {
        std::array::from_fn(|function| {
            let instructions = (0..80).map(|index: usize| {
                let word = random.word();
                let edge = EDGES[index % EDGES.len()];
                Instruction {
                    kind: Kind::ALL[(word >> 24) as usize % Kind::ALL.len()],
                    dst: (word & 7) as u8,
                    src: (word >> 3 & 7) as u8,
                    modifier: (word >> 8) as u8,
                    imm32: if word >> 6 & 1 == 0 { edge } else { random.word() },
                }
            });
            let address_register = ((round + function) % 8) as u8;
            Program { instructions: instructions.collect(), address_register }
        })
    })
}
