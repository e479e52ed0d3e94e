//! A log of one program of a hash: its registers after each iteration, and the executions of its
//! instructions.

use randomx::program::Program;
use randomx::registers::RegisterFile;
use randomx::trace::Tracer;

/// The registers after the instructions of an iteration, before they are mixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registers {
    /// `r0` to `r7`.
    pub r: [u64; 8],
    /// `f0` to `f3`, low half first.
    pub f: [[f64; 2]; 4],
    /// `e0` to `e3`.
    pub e: [[f64; 2]; 4],
}

/// Logs one program of a hash.
#[derive(Clone, Debug)]
pub struct ProgramLog {
    program: usize,
    limit: usize,
    seen: usize,
    kept: Option<Program>,
    rows: Vec<Registers>,
    runs: Vec<u64>,
}

impl ProgramLog {
    /// Creates a log of the program with this number, 0 to 7, and of its registers in at most
    /// `limit` iterations.
    pub fn new(program: usize, limit: usize) -> ProgramLog {
        ProgramLog { program, limit, seen: 0, kept: None, rows: Vec::new(), runs: Vec::new() }
    }

    /// Returns the program, once it has begun.
    pub fn program(&self) -> Option<&Program> {
        self.kept.as_ref()
    }

    /// Returns the registers of each iteration.
    pub fn rows(&self) -> &[Registers] {
        &self.rows
    }

    /// Returns the number of executions of each instruction.
    pub fn runs(&self) -> &[u64] {
        &self.runs
    }

    fn is_in_progress(&self) -> bool {
        self.seen == self.program.saturating_add(1)
    }
}

impl Tracer for ProgramLog {
    fn program(&mut self, program: &Program) {
        if self.seen == self.program {
            self.kept = Some(program.clone());
            self.runs = vec![0; program.instructions.len()];
        }
        self.seen += 1;
    }

    #[inline]
    fn instruction(&mut self, index: usize) {
        if self.is_in_progress()
            && let Some(runs) = self.runs.get_mut(index)
        {
            *runs += 1;
        }
    }

    fn executed(&mut self, registers: &RegisterFile) {
        if self.is_in_progress() && self.rows.len() < self.limit {
            let floats = |group: &[randomx::f64x2::F64x2; 4]| {
                group.map(|pair| pair.to_bits().map(f64::from_bits))
            };
            let RegisterFile { r, f, e, .. } = registers;
            self.rows.push(Registers { r: *r, f: floats(f), e: floats(e) });
        }
    }
}
