//! How many bits of the result one input bit changes.

use rand::RngExt;
use randomx::cpu::Cpu;
use randomx::params::DATASET_ITEMS;
use randomx::superscalar::{Function, Lanes, Width, generate, initial_registers};

use super::generator;
use crate::{LabError, Progress, Settings, parallel, random};

/// The effect of flipping a bit, averaged over programs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sensitivity {
    /// Bits of the result that change.
    pub(super) changed: f64,
    /// The share of programs in which far more, or far fewer, than half of the bits change.
    pub(super) insensitive: f64,
}

/// Bits in the result.
const RESULT: u32 = 512;
/// The distance from half of the bits that counts as far, as in the document.
const FAR: u32 = 64;

/// Measures the sensitivity to each bit.
pub(super) fn measure(
    settings: &Settings,
    samples: u64,
    progress: &mut dyn Progress,
) -> Result<[Sensitivity; 64], LabError> {
    /// Programs that a thread takes at a time.
    const CHUNK: u64 = 100;
    let chunk = |width: &mut Width, chunk: u64| {
        let mut sums = [[0u64; 2]; 64];
        for index in chunk * CHUNK..samples.min((chunk + 1) * CHUNK) {
            for (sums, changed) in sums.iter_mut().zip(flip(settings.seed, index, *width)) {
                sums[0] += u64::from(changed);
                sums[1] += u64::from(changed.abs_diff(RESULT / 2) > FAR);
            }
        }
        Ok(sums)
    };
    let width = || Ok(Width::new(Cpu::detect()));
    let chunks = samples.div_ceil(CHUNK);
    let all = parallel::map("sensitivity", chunks, settings.threads, progress, width, chunk)?;
    let mean = |bit: usize, of: usize| {
        all.iter().map(|sums| sums[bit][of]).sum::<u64>() as f64 / samples as f64
    };
    Ok(std::array::from_fn(|bit| Sensitivity { changed: mean(bit, 0), insensitive: mean(bit, 1) }))
}

/// Returns how many bits of the result change with each bit of a register, which is chosen at random.
fn flip(seed: u64, index: u64, width: Width) -> [u32; 64] {
    const LANES: usize = 16;
    let function = Function::from(&generate(&mut generator(seed, index)));
    let mut random = random::of(seed, index);
    let input = initial_registers(random.random_range(0..DATASET_ITEMS));
    let register = random.random_range(0..input.len());
    let run = |flipped: [u64; LANES]| {
        let mut registers: Lanes<LANES> = input.map(|value| [value; LANES]);
        for (value, bits) in registers[register].iter_mut().zip(flipped) {
            *value ^= bits;
        }
        function.execute(&mut registers, width);
        registers
    };
    let unchanged = run([0; LANES]).map(|lanes| lanes[0]);
    let mut changed = [0; 64];
    for (group, changed) in changed.chunks_mut(LANES).enumerate() {
        let registers = run(std::array::from_fn(|lane| 1 << (group * LANES + lane)));
        for (lane, changed) in changed.iter_mut().enumerate() {
            let differs =
                |(value, before): (&[u64; LANES], u64)| (value[lane] ^ before).count_ones();
            *changed = registers.iter().zip(unchanged).map(differs).sum();
        }
    }
    changed
}
