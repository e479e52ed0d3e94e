//! The frequency and the length of taken branches (chapter 2.6.2).

use randomx::program::{Operation, Program, Sink, decode_dyn};
use randomx::trace::Tracer;

use crate::share;

/// Counts branches.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    programs: u64,
    listed: u64,
    /// For each listed branch, the number of instructions that it repeats when taken.
    lengths: Vec<u64>,
    targets: Vec<Option<u16>>,
    at: usize,
    executed: u64,
    taken: u64,
    repeated: u64,
    /// The branch that was taken last, and the number of times in succession.
    run: (usize, u64),
    longest_run: u64,
    instructions: u64,
}

/// Counts of branches. The numbers in the documentation are those of the design document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchSummary {
    /// Mean number of branches in a program: 25 of 256 instructions.
    pub listed: f64,
    /// Mean number of instructions that a listed branch repeats when taken, including itself.
    pub mean_length: f64,
    /// The greatest number of instructions that a branch repeats.
    pub longest: u64,
    /// Branches that were executed.
    pub executed: u64,
    /// Branches that were taken.
    pub taken: u64,
    /// The share of executed branches that were taken: 1/256.
    pub taken_share: f64,
    /// The greatest number of times that a branch was taken in succession: 2.
    pub longest_run: u64,
    /// The share of executed instructions that a taken branch repeated.
    pub repeated_share: f64,
}

impl Branches {
    /// Returns the counts.
    pub fn summary(&self) -> BranchSummary {
        BranchSummary {
            listed: share(self.listed, self.programs),
            mean_length: share(self.lengths.iter().sum(), self.listed),
            longest: self.lengths.iter().copied().max().unwrap_or(0),
            executed: self.executed,
            taken: self.taken,
            taken_share: share(self.taken, self.executed),
            longest_run: self.longest_run,
            repeated_share: share(self.repeated, self.instructions),
        }
    }

    /// Returns, for each listed branch, the number of instructions that it repeats when taken.
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
        self.run = (0, 0);
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
            self.run.1 = 0;
            return;
        }
        self.taken += 1;
        let (at, before) = self.run;
        self.run = (self.at, if at == self.at { before + 1 } else { 1 });
        self.longest_run = self.longest_run.max(self.run.1);
        if let Some(Some(target)) = self.targets.get(self.at) {
            self.repeated += length(self.at, *target);
        }
    }
}

fn length(index: usize, target: u16) -> u64 {
    (index + 1).saturating_sub(usize::from(target)) as u64
}

/// Collects the targets of branches, and `None` for other instructions.
struct Targets<'a>(&'a mut Vec<Option<u16>>);

impl Sink for Targets<'_> {
    fn operation(&mut self, operation: Operation) {
        self.0.push(match operation {
            Operation::Cbranch { target, .. } => Some(target),
            _ => None,
        });
    }
}
