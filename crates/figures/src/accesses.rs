//! The amount of memory that programs read and write (chapters 2.8.1 and 2.8.3).

use randomx::params::ITEM_SIZE;
use randomx::program::{Address, Operation, Program, Sink, decode_dyn};
use randomx::registers::RegisterFile;
use randomx::scratchpad::{L1_MASK, L2_MASK};
use randomx::trace::Tracer;

use crate::share;

/// Bytes that an instruction reads or writes.
const WORD: f64 = 8.0;
/// Bytes of the two lines that an iteration reads first and writes last.
const LINES: f64 = 128.0;

/// Counts the reads and writes of instructions.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    programs: u64,
    iterations: u64,
    listed: [u64; 2],
    reads: [u64; 3],
    writes: [u64; 3],
}

/// Mean numbers of reads and writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessSummary {
    /// Iterations that were counted.
    pub iterations: u64,
    /// Instructions of a program that read: 39 of 256 in the design document.
    pub listed_reads: f64,
    /// Instructions of a program that write: 16 of 256 in the design document.
    pub listed_writes: f64,
    /// Reads by the instructions of an iteration. They exceed the listed ones because branches
    /// repeat some.
    pub reads: f64,
    /// Writes by the instructions of an iteration.
    pub writes: f64,
    /// The reads of an iteration in L1, L2 and L3.
    pub reads_by_level: [f64; 3],
    /// The writes of an iteration in L1, L2 and L3.
    pub writes_by_level: [f64; 3],
    /// Bytes that an iteration reads by the listed instructions, with the two lines and the dataset
    /// item: 504 for v1 in the design document.
    pub bytes_read: f64,
    /// Bytes that an iteration writes by the listed instructions, with the two lines: 256 for v1 in
    /// the design document.
    pub bytes_written: f64,
}

impl Accesses {
    /// Returns the means.
    pub fn summary(&self) -> AccessSummary {
        let per_iteration = |count: u64| share(count, self.iterations);
        let [listed_reads, listed_writes] = self.listed.map(|count| share(count, self.programs));
        AccessSummary {
            iterations: self.iterations,
            listed_reads,
            listed_writes,
            reads: per_iteration(self.reads.iter().sum()),
            writes: per_iteration(self.writes.iter().sum()),
            reads_by_level: self.reads.map(per_iteration),
            writes_by_level: self.writes.map(per_iteration),
            bytes_read: listed_reads * WORD + LINES + ITEM_SIZE as f64,
            bytes_written: listed_writes * WORD + LINES,
        }
    }
}

impl Tracer for Accesses {
    fn program(&mut self, program: &Program) {
        self.programs += 1;
        decode_dyn(&program.instructions, program.version, &mut Listed(&mut self.listed));
    }

    #[inline]
    fn read(&mut self, _: u32, mask: u32) {
        self.reads[level(mask)] += 1;
    }

    #[inline]
    fn write(&mut self, _: u32, mask: u32) {
        self.writes[level(mask)] += 1;
    }

    fn iterated(&mut self, _: &RegisterFile) {
        self.iterations += 1;
    }
}

/// Counts the instructions that read, and those that write.
struct Listed<'a>(&'a mut [u64; 2]);

impl Sink for Listed<'_> {
    fn operation(&mut self, operation: Operation) {
        self.0[0] += u64::from(source(operation).is_some());
        self.0[1] += u64::from(matches!(operation, Operation::Istore { .. }));
    }
}

/// Returns the address that an operation reads.
fn source(operation: Operation) -> Option<Address> {
    match operation {
        Operation::IaddM { address, .. }
        | Operation::IsubM { address, .. }
        | Operation::ImulM { address, .. }
        | Operation::ImulhM { address, .. }
        | Operation::IsmulhM { address, .. }
        | Operation::IxorM { address, .. }
        | Operation::FaddM { address, .. }
        | Operation::FsubM { address, .. }
        | Operation::FdivM { address, .. } => Some(address),
        _ => None,
    }
}

fn level(mask: u32) -> usize {
    match mask {
        L1_MASK => 0,
        L2_MASK => 1,
        _ => 2,
    }
}
