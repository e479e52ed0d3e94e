//! 2.1.1: machine instructions per instruction.

use rand::Rng;
use randomx::Version;
use randomx::aes::{Aes, AesGenerator4R};
use randomx::cpu::Cpu;
use randomx::program::Program;

use crate::report::Report;
use crate::{LabError, random};

/// Programs per hash.
const PROGRAMS: u64 = randomx::params::PROGRAM_COUNT as u64;

/// Adds a note that there is no table.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn add(report: &mut Report, _: u64, _: u64) -> Result<(), LabError> {
    report.notes.push("There is no JIT compiler for this processor's architecture.".to_owned());
    Ok(())
}

/// Adds the table.
#[cfg(target_arch = "x86_64")]
pub(super) fn add(report: &mut Report, seed: u64, hashes: u64) -> Result<(), LabError> {
    use crate::report::{Row, Table};

    let title = "2.1.1 x86 instructions per VM instruction";
    let mut table = Table::new(title).columns(&["with this processor's extensions"]);
    let count = |cpu| count(seed, hashes * PROGRAMS, cpu);
    let (plain, extended) = (count(Cpu::baseline())?, count(Cpu::detect())?);
    let why = "the document counts the code of the reference's JIT compiler";
    let also = |figure: fn(&Counts) -> f64| [Some(figure(&extended))];
    table.push(Row::new("mean", plain.mean(), 1).published(1.8).also(also(Counts::mean)).why(why));
    table.push(
        Row::new("least", plain.least(), 0).published(1.0).also(also(Counts::least)).why(why),
    );
    table.push(Row::new("most", plain.most(), 0).published(7.0).also(also(Counts::most)).why(why));
    report.tables.push(table);
    report.pictures.push(plain.picture(&extended));
    Ok(())
}

/// The number of VM instructions for each number of machine instructions.
#[cfg(target_arch = "x86_64")]
struct Counts(Vec<u64>);

#[cfg(target_arch = "x86_64")]
impl Counts {
    fn mean(&self) -> f64 {
        let sum: u64 = self.0.iter().zip(0..).map(|(count, length)| count * length).sum();
        sum as f64 / self.0.iter().sum::<u64>() as f64
    }

    /// The smallest number above 0.
    fn least(&self) -> f64 {
        let mut lengths = self.0.iter().enumerate().skip(1);
        lengths.find(|(_, count)| **count > 0).map_or(0.0, |(length, _)| length as f64)
    }

    fn most(&self) -> f64 {
        self.0.len().saturating_sub(1) as f64
    }

    fn picture(&self, extended: &Counts) -> crate::report::Picture {
        use crate::report::{Picture, Series, Shape};

        let points = |counts: &Counts| {
            let all = counts.0.iter().sum::<u64>() as f64;
            let share = move |count: &u64| 100.0 * *count as f64 / all;
            (0..).map(f64::from).zip(counts.0.iter().map(share).collect::<Vec<_>>())
        };
        Picture::plot(
            "x86",
            "x86 instructions per VM instruction",
            "x86 instructions",
            "% of instructions of v1",
            vec![
                Series::new("without extensions", Shape::Bars, points(self)),
                Series::new("with this processor's extensions", Shape::Dots, points(extended)),
            ],
        )
    }
}

#[cfg(target_arch = "x86_64")]
fn count(seed: u64, programs: u64, cpu: Cpu) -> Result<Counts, LabError> {
    use iced_x86::{Decoder, DecoderOptions};
    use randomx::CodePages;
    use randomx::jit::x86_64::program::Jit;

    let jit = Jit::new(cpu, CodePages::default());
    let mut counts = Vec::new();
    for index in 0..programs {
        let mut seed_bytes = [0; 64];
        random::of(seed, index).fill_bytes(&mut seed_bytes);
        let mut generator = AesGenerator4R::new(&seed_bytes, Aes::new(Cpu::detect()));
        let program = Program::generate(&mut generator, Version::V1);
        for code in jit.list(&program).map_err(randomx::VmError::from)? {
            let length = Decoder::new(64, &code, DecoderOptions::NONE).iter().count();
            if counts.len() <= length {
                counts.resize(length + 1, 0);
            }
            counts[length] += 1;
        }
    }
    Ok(Counts(counts))
}
