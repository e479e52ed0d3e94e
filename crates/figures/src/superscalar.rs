//! SuperscalarHash programs on the reference CPU (chapter 3.4 and specification 6).

use randomx::superscalar::{GenerationTracer, Instruction, Issued, Kind, Program};

/// A macro-op in the schedule of the reference CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroOp {
    /// The kind, the cycle and the ports.
    pub issued: Issued,
    /// The decoding cycle.
    pub group: usize,
    /// The slot in the group of that cycle.
    pub slot: usize,
    /// The index of its instruction in the program; `None` if the instruction was dropped.
    pub instruction: Option<usize>,
}

/// The schedule of a program as it was generated.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    groups: Vec<&'static [u8]>,
    macro_ops: Vec<MacroOp>,
    /// The number of macro-ops at the end whose instruction is incomplete.
    open: usize,
    slot: usize,
    instructions: usize,
    discarded: usize,
    latency: usize,
}

impl Schedule {
    /// Returns the slot sizes, in bytes, of each decoding cycle.
    pub fn groups(&self) -> &[&'static [u8]] {
        &self.groups
    }

    /// Returns the macro-ops, in the order of their slots.
    pub fn macro_ops(&self) -> &[MacroOp] {
        &self.macro_ops
    }

    /// Returns the number of instructions that were dropped because they found no register.
    pub fn discarded(&self) -> usize {
        self.discarded
    }

    /// Returns the cycle in which the result that was issued last is ready.
    pub fn latency(&self) -> usize {
        self.latency
    }

    /// Returns the bytes of x86 code: the sizes of the filled slots.
    pub fn code_size(&self) -> usize {
        let size = |op: &MacroOp| usize::from(self.groups[op.group][op.slot]);
        self.macro_ops.iter().map(size).sum()
    }
}

impl GenerationTracer for Schedule {
    fn group(&mut self, sizes: &'static [u8]) {
        self.groups.push(sizes);
        self.slot = 0;
    }

    fn issued(&mut self, issued: Issued) {
        let group = self.groups.len().saturating_sub(1);
        if is_result(issued) {
            self.latency = issued.cycle + issued.latency;
        }
        self.macro_ops.push(MacroOp { issued, group, slot: self.slot, instruction: None });
        self.open += 1;
        self.slot += 1;
    }

    fn instruction(&mut self, _: &Instruction) {
        let first = self.macro_ops.len() - self.open;
        for op in &mut self.macro_ops[first..] {
            op.instruction = Some(self.instructions);
        }
        self.open = 0;
        self.instructions += 1;
    }

    fn discarded(&mut self, _: Kind) {
        self.open = 0;
        self.discarded += 1;
    }
}

/// Returns whether a macro-op writes its instruction's result.
fn is_result(Issued { kind, part, .. }: Issued) -> bool {
    match kind {
        Kind::ImulhR | Kind::IsmulhR | Kind::ImulRcp => part == 1,
        _ => part == 0,
    }
}

/// Sums over many programs.
#[derive(Clone, Debug, Default)]
pub struct SuperscalarStatistics {
    programs: u64,
    instructions: u64,
    multiplications: u64,
    chain: u64,
    latency: u64,
    macro_ops: u64,
    code_size: u64,
    discarded: u64,
    kinds: [u64; Kind::ALL.len()],
}

/// Means over programs. The numbers in the documentation are those of the design document.
#[derive(Clone, Debug, PartialEq)]
pub struct SuperscalarSummary {
    /// Programs that were counted.
    pub programs: u64,
    /// Instructions: 450.
    pub instructions: f64,
    /// Multiplications of 64 bits: 155.
    pub multiplications: f64,
    /// The longest chain of dependent instructions: 95.
    pub chain: f64,
    /// Cycles of the reference CPU: 170.
    pub latency: f64,
    /// Macro-ops.
    pub macro_ops: f64,
    /// Macro-ops per cycle of the reference CPU.
    pub macro_ops_per_cycle: f64,
    /// Bytes of x86 code.
    pub code_size: f64,
    /// Instructions that were dropped.
    pub discarded: f64,
    /// The share of each operation.
    pub kinds: Vec<(Kind, f64)>,
}

impl SuperscalarStatistics {
    /// Adds a program and its schedule.
    pub fn add(&mut self, program: &Program, schedule: &Schedule) {
        self.programs += 1;
        self.instructions += program.instructions.len() as u64;
        self.chain += u64::from(program.chains().into_iter().max().unwrap_or(0));
        self.latency += schedule.latency as u64;
        self.macro_ops += schedule.macro_ops.len() as u64;
        self.code_size += schedule.code_size() as u64;
        self.discarded += schedule.discarded as u64;
        for instruction in &program.instructions {
            self.kinds[instruction.kind as usize] += 1;
            self.multiplications += u64::from(is_multiplication(instruction.kind));
        }
    }

    /// Returns the means.
    pub fn summary(&self) -> SuperscalarSummary {
        let mean = |sum: u64| crate::share(sum, self.programs);
        SuperscalarSummary {
            programs: self.programs,
            instructions: mean(self.instructions),
            multiplications: mean(self.multiplications),
            chain: mean(self.chain),
            latency: mean(self.latency),
            macro_ops: mean(self.macro_ops),
            macro_ops_per_cycle: crate::share(self.macro_ops, self.latency),
            code_size: mean(self.code_size),
            discarded: mean(self.discarded),
            kinds: Kind::ALL
                .map(|kind| (kind, crate::share(self.kinds[kind as usize], self.instructions)))
                .to_vec(),
        }
    }
}

fn is_multiplication(kind: Kind) -> bool {
    matches!(kind, Kind::ImulR | Kind::ImulhR | Kind::IsmulhR | Kind::ImulRcp)
}
