//! How often branches are taken, and where to (chapter 2.6.2).

use randomx::program::{Operation, Program, Sink, decode_dyn};
use randomx::trace::Tracer;

use crate::share;

/// Counts branches.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    programs: u64,
    listed: u64,
    /// For each listed branch, the instructions that it repeats when it is taken.
    lengths: Vec<u64>,
    targets: Vec<Option<u16>>,
    at: usize,
    executed: u64,
    taken: u64,
    repeated: u64,
    /// The branch that was taken last and how many times in a row.
    row: (usize, u64),
    longest_row: u64,
    instructions: u64,
}

/// What became of branches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchSummary {
    /// Branches in a program, in the mean: 25 of 256 instructions.
    pub listed: f64,
    /// Instructions that a branch repeats when it is taken, itself included, in the mean of those listed.
    pub mean_length: f64,
    /// The most that one repeats.
    pub longest: u64,
    /// Branches that have run.
    pub executed: u64,
    /// Those that were taken.
    pub taken: u64,
    /// As a part of all: 1/256.
    pub taken_share: f64,
    /// How often a branch was taken in a row, at most: 2.
    pub longest_row: u64,
    /// The part of all instructions that ran because a branch was taken.
    pub repeated_share: f64,
}

impl Branches {
    /// The counts.
    pub fn summary(&self) -> BranchSummary {
        BranchSummary {
            listed: share(self.listed, self.programs),
            mean_length: share(self.lengths.iter().sum(), self.listed),
            longest: self.lengths.iter().copied().max().unwrap_or(0),
            executed: self.executed,
            taken: self.taken,
            taken_share: share(self.taken, self.executed),
            longest_row: self.longest_row,
            repeated_share: share(self.repeated, self.instructions),
        }
    }

    /// For each branch that programs list, the instructions that it repeats when it is taken.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }
}

impl Tracer for Branches {
    fn program(&mut self, program: &Program) {
        self.targets.clear();
        decode_dyn(&program.instructions, program.version, &mut Targets(&mut self.targets));
        self.programs += 1;
        for (index, target) in self.targets.iter().enumerate() {
            if let Some(target) = target {
                self.listed += 1;
                self.lengths.push(length(index, *target));
            }
        }
        self.row = (0, 0);
    }

    #[inline]
    fn instruction(&mut self, index: usize) {
        self.at = index;
        self.instructions += 1;
    }

    #[inline]
    fn branch(&mut self, taken: bool) {
        self.executed += 1;
        if !taken {
            self.row.1 = 0;
            return;
        }
        self.taken += 1;
        let (at, before) = self.row;
        self.row = (self.at, if at == self.at { before + 1 } else { 1 });
        self.longest_row = self.longest_row.max(self.row.1);
        if let Some(Some(target)) = self.targets.get(self.at) {
            self.repeated += length(self.at, *target);
        }
    }
}

fn length(index: usize, target: u16) -> u64 {
    (index + 1).saturating_sub(usize::from(target)) as u64
}

/// Collects where branches go, with nothing for other instructions.
struct Targets<'a>(&'a mut Vec<Option<u16>>);

impl Sink for Targets<'_> {
    fn operation(&mut self, operation: Operation) {
        self.0.push(match operation {
            Operation::Cbranch { target, .. } => Some(target),
            _ => None,
        });
    }
}
