//! The plain objects returned to JavaScript; `tsify` writes their types.

use randomx::superscalar::{Port, Program};
use randomx_figures::{
    AccessSummary, BranchSummary, HashFigures, Histogram, MacroOp, ProgramLog, Runtime, Schedule,
    Statistics, SuperscalarSummary, WriteMapSummary, listing, macro_op_name, superscalar_text,
};
use serde::Serialize;
use tsify::Tsify;

/// One hash, and one of its programs.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Exploration {
    /// The hash in hex.
    hash: String,
    lines: Vec<Line>,
    /// The shares of the scratchpad that were overwritten, 0 to 1.
    written: Written,
    accesses: Accesses,
    branches: Branches,
}

/// An instruction of the program.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
struct Line {
    text: String,
    /// The target of a branch.
    target: Option<u32>,
    nop: bool,
    /// How often it was executed in 2048 iterations.
    runs: f64,
}

#[derive(Serialize, Tsify)]
struct Written {
    l1: f64,
    l2: f64,
    rest: f64,
    whole: f64,
}

/// Means per iteration.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
struct Accesses {
    listed_reads: f64,
    listed_writes: f64,
    reads: f64,
    writes: f64,
    /// L1, L2, L3.
    reads_by_level: Vec<f64>,
    writes_by_level: Vec<f64>,
    bytes_read: f64,
    bytes_written: f64,
}

#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
struct Branches {
    listed: f64,
    mean_length: f64,
    executed: f64,
    taken: f64,
    taken_share: f64,
    longest_run: f64,
    repeated_share: f64,
}

/// Figures of many hashes.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    hashes: f64,
    instructions: Vec<Instruction>,
    accesses: Accesses,
    branches: Branches,
    f: Bins,
    e: Bins,
    f_range: f64,
    programs: f64,
    infinite_programs: f64,
    /// Milliseconds of each hash.
    hash_times: Vec<f64>,
    /// Milliseconds of each program, without its items.
    program_times: Vec<f64>,
    hash_statistics: Option<Spread>,
    program_statistics: Option<Spread>,
    /// Mean milliseconds per hash in each phase.
    phases: Vec<Phase>,
}

#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
struct Instruction {
    name: &'static str,
    nominal: f64,
    listed: f64,
    listed_share: f64,
    executed: f64,
    executed_share: f64,
}

/// A histogram. Its first interval has no lower bound and its last one no upper bound.
#[derive(Serialize, Tsify)]
struct Bins {
    edges: Vec<f64>,
    counts: Vec<f64>,
}

#[derive(Serialize, Tsify)]
struct Spread {
    count: u32,
    mean: f64,
    deviation: f64,
    /// Minimum, quartiles, maximum.
    quartiles: Vec<f64>,
}

#[derive(Serialize, Tsify)]
struct Phase {
    name: String,
    milliseconds: f64,
}

/// A SuperscalarHash function.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct SuperscalarFunction {
    instructions: Vec<String>,
    macro_ops: Vec<PlacedMacroOp>,
    address_register: u32,
    latency: u32,
    chain: u32,
    discarded: u32,
    decode_cycles: u32,
    code_size: u32,
    /// The means of all functions of the key.
    means: Means,
}

#[derive(Serialize, Tsify)]
struct PlacedMacroOp {
    name: &'static str,
    /// Absent if the generator discarded the instruction.
    instruction: Option<u32>,
    cycle: u32,
    latency: u32,
    ports: Vec<&'static str>,
}

#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
struct Means {
    instructions: f64,
    multiplications: f64,
    chain: f64,
    latency: f64,
    macro_ops_per_cycle: f64,
}

impl Exploration {
    pub(crate) fn new(
        hash: &[u8; 32],
        log: &ProgramLog,
        written: &WriteMapSummary,
        accesses: &AccessSummary,
        branches: &BranchSummary,
    ) -> Exploration {
        let lines = log.program().map(listing).unwrap_or_default();
        let lines = lines.into_iter().zip(log.runs()).map(|(line, runs)| Line {
            text: line.text,
            target: line.target.map(|target| target as u32),
            nop: line.is_nop,
            runs: *runs as f64,
        });
        let &WriteMapSummary { l1, l2, rest, whole } = written;
        Exploration {
            hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            lines: lines.collect(),
            written: Written { l1, l2, rest, whole },
            accesses: accesses.into(),
            branches: branches.into(),
        }
    }
}

impl Figures {
    pub(crate) fn new<C: FnMut() -> f64>(figures: &HashFigures, runtime: &Runtime<C>) -> Figures {
        let floats = figures.floats.summary();
        let times = runtime.summary();
        let instructions = figures.instructions.summary().into_iter().map(|count| Instruction {
            name: count.name,
            nominal: count.nominal,
            listed: count.listed as f64,
            listed_share: count.listed_share,
            executed: count.executed as f64,
            executed_share: count.executed_share,
        });
        let phases = times.phases.into_iter().map(|(phase, milliseconds)| Phase {
            name: format!("{phase:?}").to_lowercase(),
            milliseconds,
        });
        Figures {
            hashes: runtime.hashes().len() as f64,
            instructions: instructions.collect(),
            accesses: (&figures.accesses.summary()).into(),
            branches: (&figures.branches.summary()).into(),
            f: (&floats.f).into(),
            e: (&floats.e).into(),
            f_range: floats.f_range,
            programs: floats.programs as f64,
            infinite_programs: floats.infinite_programs as f64,
            hash_times: runtime.hashes().to_vec(),
            program_times: runtime.programs().to_vec(),
            hash_statistics: times.hashes.map(Spread::from),
            program_statistics: times.programs.map(Spread::from),
            phases: phases.collect(),
        }
    }
}

impl SuperscalarFunction {
    pub(crate) fn new(
        program: &Program,
        made: &Schedule,
        means: &SuperscalarSummary,
    ) -> SuperscalarFunction {
        SuperscalarFunction {
            instructions: program.instructions.iter().map(superscalar_text).collect(),
            macro_ops: made.macro_ops().iter().map(PlacedMacroOp::from).collect(),
            address_register: u32::from(program.address_register),
            latency: made.latency() as u32,
            chain: program.chains().into_iter().max().unwrap_or(0),
            discarded: made.discarded() as u32,
            decode_cycles: made.groups().len() as u32,
            code_size: made.code_size() as u32,
            means: Means {
                instructions: means.instructions,
                multiplications: means.multiplications,
                chain: means.chain,
                latency: means.latency,
                macro_ops_per_cycle: means.macro_ops_per_cycle,
            },
        }
    }
}

impl From<&MacroOp> for PlacedMacroOp {
    fn from(op: &MacroOp) -> PlacedMacroOp {
        let name = |port: &Port| match port {
            Port::P0 => "P0",
            Port::P1 => "P1",
            Port::P5 => "P5",
        };
        PlacedMacroOp {
            name: macro_op_name(op.issued.kind, op.issued.part),
            instruction: op.instruction.map(|index| index as u32),
            cycle: op.issued.cycle as u32,
            latency: op.issued.latency as u32,
            ports: Port::ALL.iter().filter(|port| op.issued.uses(**port)).map(name).collect(),
        }
    }
}

impl From<&AccessSummary> for Accesses {
    fn from(summary: &AccessSummary) -> Accesses {
        Accesses {
            listed_reads: summary.listed_reads,
            listed_writes: summary.listed_writes,
            reads: summary.reads,
            writes: summary.writes,
            reads_by_level: summary.reads_by_level.to_vec(),
            writes_by_level: summary.writes_by_level.to_vec(),
            bytes_read: summary.bytes_read,
            bytes_written: summary.bytes_written,
        }
    }
}

impl From<&BranchSummary> for Branches {
    fn from(summary: &BranchSummary) -> Branches {
        Branches {
            listed: summary.listed,
            mean_length: summary.mean_length,
            executed: summary.executed as f64,
            taken: summary.taken as f64,
            taken_share: summary.taken_share,
            longest_run: summary.longest_run as f64,
            repeated_share: summary.repeated_share,
        }
    }
}

impl From<&Histogram> for Bins {
    fn from(histogram: &Histogram) -> Bins {
        let counts = histogram.counts().iter().map(|count| *count as f64).collect();
        Bins { edges: histogram.edges().to_vec(), counts }
    }
}

impl From<Statistics> for Spread {
    fn from(statistics: Statistics) -> Spread {
        let Statistics { count, mean, deviation, quartiles } = statistics;
        Spread { count: count as u32, mean, deviation, quartiles: quartiles.to_vec() }
    }
}
