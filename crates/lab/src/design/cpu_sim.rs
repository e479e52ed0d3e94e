//! Appendix B: what superscalar, out-of-order and speculative execution gain.

mod demand;
mod pipeline;

use rand::Rng;
use randomx::Version;
use randomx::aes::{Aes, AesGenerator4R};
use randomx::cpu::Cpu;
use randomx::program::{Opcode, Program};

use crate::report::{Picture, Report, Row, Series, Shape, Table};
use crate::{Description, Experiment, LabError, Progress, Samples, Settings, parallel, random};

use demand::Demand;
use pipeline::Design;

/// The designs, with the published cycles per program and instructions per cycle.
const PUBLISHED: [(Design, f64, f64); 10] = [
    (Design::new(1, 1, false, false), 293.0, 0.87),
    (Design::new(1, 1, false, true), 262.0, 0.98),
    (Design::new(2, 1, false, false), 197.0, 1.3),
    (Design::new(2, 1, false, true), 161.0, 1.6),
    (Design::new(2, 1, true, false), 144.0, 1.8),
    (Design::new(2, 1, true, true), 122.0, 2.1),
    (Design::new(4, 2, false, false), 135.0, 1.9),
    (Design::new(4, 2, false, true), 99.0, 2.6),
    (Design::new(4, 2, true, false), 89.0, 2.9),
    (Design::new(4, 2, true, true), 64.0, 4.0),
];

/// How many opcode bytes each operation had in May 2019, when the document was written: RandomX 1.0.1,
/// `src/configuration.h`. Pull requests 77 and 118 changed them to today's.
#[rustfmt::skip]
const FREQUENCIES_2019: [(Opcode, usize); 28] = [
    (Opcode::IaddRs, 25), (Opcode::IaddM, 7), (Opcode::IsubR, 16), (Opcode::IsubM, 7),
    (Opcode::ImulR, 16), (Opcode::ImulM, 4), (Opcode::ImulhR, 4), (Opcode::ImulhM, 1),
    (Opcode::IsmulhR, 4), (Opcode::IsmulhM, 1), (Opcode::ImulRcp, 8), (Opcode::InegR, 2),
    (Opcode::IxorR, 15), (Opcode::IxorM, 5), (Opcode::IrorR, 10), (Opcode::IswapR, 4),
    (Opcode::FswapR, 8), (Opcode::FaddR, 20), (Opcode::FaddM, 5), (Opcode::FsubR, 20),
    (Opcode::FsubM, 5), (Opcode::FscalR, 6), (Opcode::FmulR, 20), (Opcode::FdivM, 4),
    (Opcode::FsqrtR, 6), (Opcode::Cbranch, 16), (Opcode::Cfround, 1), (Opcode::Istore, 16),
];

const CYCLES: &str = "Cycles to execute a program, with the instruction frequencies of May 2019";
const IPC: &str = "Instructions per cycle, with the instruction frequencies of May 2019";
const TODAY: &str = "Cycles to execute a program today: v1 (256 instructions) and v2 (384)";
const IPC_TODAY: &str = "Instructions per cycle today";
const MODEL: &str =
    "the document describes its model only in words, so a few rules had to be chosen here";

/// Experiment `cpu-sim`.
pub struct CpuSim;

/// A kind of programs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Programs {
    V1,
    V2,
    /// v1 with the instruction frequencies of May 2019.
    V1In2019,
}

impl Programs {
    const ALL: [Programs; 3] = [Programs::V1, Programs::V2, Programs::V1In2019];

    fn version(self) -> Version {
        if self == Programs::V2 { Version::V2 } else { Version::V1 }
    }
}

static DESCRIPTION: Description = Description {
    name: "cpu-sim",
    section: "RandomX design, 2.7 and Appendix B",
    about: "Appendix B asks which features of a processor make RandomX programs fast. A model processor \
     fetches and decodes, accesses memory, and executes, in a pipeline of three stages. Ten \
     designs differ in the number of execution units (EXU) and memory units (MEM), in whether they \
     execute out of order, and in whether they speculate on branches. They run programs that the \
     core generates and decodes; `deviation` is the standard deviation over programs. The document \
     dates from May 2019, when a program had 16 branches instead of 25; so the published figures \
     are compared with programs that have the instruction frequencies of that time. Two more \
     tables give today's figures. The figures do not depend on the machine.",
    samples: Samples { what: "programs", usual: 100_000, least: 1, most: 10_000_000 },
    parts: &[],
    streams: &[],
};

impl Experiment for CpuSim {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let [v1, v2, in_2019] =
            Programs::ALL.map(|programs| simulate(settings, programs, progress));
        let (v1, v2, in_2019) = (v1?, v2?, in_2019?);
        let mut report = Report::new(&DESCRIPTION, settings);
        let mut cycles = Table::new(CYCLES).columns(&["deviation"]);
        let mut ipc = Table::new(IPC);
        let mut today = Table::new(TODAY).columns(&["deviation", "v2", "v2 deviation"]);
        let mut ipc_today = Table::new(IPC_TODAY).columns(&["v2"]);
        for (at, (design, published, published_ipc)) in PUBLISHED.into_iter().enumerate() {
            let name = format!("#{} {design}", at + 1);
            let row = Row::new(&name, in_2019[at].mean, 0).published(published);
            cycles.push(row.also([Some(in_2019[at].deviation)]).why(MODEL));
            let per_cycle = |version: Version, cycles: &[Cycles]| {
                version.program_size() as f64 / cycles[at].mean
            };
            let decimals = if published_ipc < 1.0 { 2 } else { 1 };
            let row = Row::new(&name, per_cycle(Version::V1, &in_2019), decimals);
            ipc.push(row.published(published_ipc).why(MODEL));
            let others = [v1[at].deviation, v2[at].mean, v2[at].deviation];
            today.push(Row::new(&name, v1[at].mean, 0).also(others.map(Some)));
            let row = Row::new(&name, per_cycle(Version::V1, &v1), 2);
            ipc_today.push(row.also([Some(per_cycle(Version::V2, &v2))]));
        }
        report.tables.extend([cycles, ipc, today, ipc_today]);
        report.pictures.push(picture(&in_2019, &v1, &v2));
        Ok(report)
    }
}

/// The cycles per program of a design.
struct Cycles {
    mean: f64,
    deviation: f64,
}

fn simulate(
    settings: &Settings,
    programs: Programs,
    progress: &mut dyn Progress,
) -> Result<Vec<Cycles>, LabError> {
    /// Programs that a thread simulates at a time.
    const CHUNK: u64 = 250;
    let samples = settings.samples(DESCRIPTION.samples);
    let stage = match programs {
        Programs::V1 => "programs of v1",
        Programs::V2 => "programs of v2",
        Programs::V1In2019 => "programs of May 2019",
    };
    let chunk = |(): &mut (), chunk: u64| {
        let mut sums = [[0.0; 2]; PUBLISHED.len()];
        for index in chunk * CHUNK..samples.min((chunk + 1) * CHUNK) {
            let mut random = random::of(settings.seed, index);
            let demands = Demand::of_program(&generate(programs, &mut random));
            for (sums, (design, ..)) in sums.iter_mut().zip(&PUBLISHED) {
                let cycles = f64::from(design.execute(&demands, &mut random));
                *sums = [sums[0] + cycles, sums[1] + cycles * cycles];
            }
        }
        Ok(sums)
    };
    let chunks = samples.div_ceil(CHUNK);
    let all = parallel::map(stage, chunks, settings.threads, progress, || Ok(()), chunk)?;
    let sums = (0..PUBLISHED.len())
        .map(|at| [0, 1].map(|k| all.iter().map(|sums| sums[at][k]).sum::<f64>()));
    let n = samples as f64;
    Ok(sums
        .map(|[sum, squares]| {
            let mean = sum / n;
            Cycles { mean, deviation: (squares / n - mean * mean).max(0.0).sqrt() }
        })
        .collect())
}

fn generate(programs: Programs, random: &mut impl Rng) -> Program {
    let mut seed = [0; 64];
    random.fill_bytes(&mut seed);
    let mut generator = AesGenerator4R::new(&seed, Aes::new(Cpu::detect()));
    let mut program = Program::generate(&mut generator, programs.version());
    if programs == Programs::V1In2019 {
        for instruction in &mut program.instructions {
            instruction.opcode = today(of_2019(instruction.opcode));
        }
    }
    program
}

/// Returns the operation of an opcode byte in May 2019.
fn of_2019(byte: u8) -> Opcode {
    let mut end = 0;
    let covers = |(_, frequency): &&(Opcode, usize)| {
        end += frequency;
        usize::from(byte) < end
    };
    FREQUENCIES_2019.iter().find(covers).map_or(Opcode::Istore, |(opcode, _)| *opcode)
}

/// Returns an opcode byte of the operation today.
fn today(operation: Opcode) -> u8 {
    let before = Opcode::FREQUENCIES.iter().take_while(|(opcode, _)| *opcode != operation);
    before.map(|(_, frequency)| *frequency).sum::<usize>() as u8
}

fn picture(in_2019: &[Cycles], v1: &[Cycles], v2: &[Cycles]) -> Picture {
    let points = |ys: Vec<f64>| (1..).map(f64::from).zip(ys).collect::<Vec<_>>();
    let means = |cycles: &[Cycles]| points(cycles.iter().map(|cycles| cycles.mean).collect());
    let published = PUBLISHED.iter().map(|(_, cycles, _)| *cycles).collect();
    Picture::plot(
        "cycles",
        "Cycles to execute a program",
        "design",
        "cycles",
        vec![
            Series::new("May 2019", Shape::Bars, means(in_2019)),
            Series::new("published", Shape::Dots, points(published)),
            Series::new("v1 today", Shape::Dots, means(v1)),
            Series::new("v2 (384 instructions)", Shape::Dots, means(v2)),
        ],
    )
}

#[cfg(test)]
mod tests;
