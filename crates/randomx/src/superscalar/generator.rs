//! The generator of SuperscalarHash programs (specification 6.3). Where the text leaves a choice
//! open, such as when a register search gives up, the reference implementation decides.

use super::cpu::{Decoded, Schedule};
use super::{Instruction, Kind, Program};
use crate::blake_generator::BlakeGenerator;
use crate::params::{SUPERSCALAR_LATENCY, SUPERSCALAR_MAX_SIZE};
use crate::reciprocal::reciprocal;

/// Cycles that the search for a register waits for one to be ready.
const LOOK_FORWARD_CYCLES: usize = 4;
/// Instructions in a row that may be discarded for want of a register.
const MAX_DISCARDED: usize = 256;
/// `lea` cannot have r13, which holds r5, as its base without a displacement.
const NEVER_ADDED_TO: u8 = 5;

/// A decoder group of Table 6.3.1: the sizes of its slots in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Group(&'static [u8]);

const GROUPS: [Group; 4] =
    [Group(&[4, 8, 4]), Group(&[7, 3, 3, 3]), Group(&[3, 7, 3, 3]), Group(&[4, 9, 3])];
const GROUP_OF_MULTIPLICATIONS: Group = Group(&[4, 4, 4, 4]);
const GROUP_AFTER_MULTIPLY_HIGH: Group = Group(&[3, 3, 10]);

/// Generates the next program from `random`.
pub fn generate(random: &mut BlakeGenerator) -> Program {
    let mut generator = Generator {
        random,
        schedule: Schedule::new(),
        registers: [Register::default(); 8],
        current: None,
        cycle: 0,
        ready: 0,
        saturated: false,
        multiplications: 0,
        discarded: 0,
        program: Vec::with_capacity(SUPERSCALAR_MAX_SIZE),
    };
    for decode_cycle in 0..SUPERSCALAR_LATENCY {
        if generator.is_finished() {
            break;
        }
        generator.decode(decode_cycle);
        generator.cycle += 1;
    }
    Program::new(generator.program)
}

/// What the operand rules compare: two operations of one group with one parameter would collapse.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Operation {
    group: Kind,
    parameter: Parameter,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameter {
    /// An immediate operand.
    Constant,
    /// A source register.
    Source(u8),
    /// Drawn at random, so that it matches nothing but itself.
    Random(u32),
}

#[derive(Clone, Copy, Default)]
struct Register {
    /// The cycle in which its value is ready.
    ready: usize,
    last: Option<Operation>,
}

/// An instruction whose macro-ops are being issued.
#[derive(Clone, Copy)]
struct Pending {
    kind: Kind,
    issued: usize,
    dst: u8,
    src: Option<u8>,
    modifier: u8,
    imm32: u32,
    operation: Operation,
}

impl Pending {
    fn instruction(&self) -> Instruction {
        Instruction {
            kind: self.kind,
            dst: self.dst,
            src: self.src.unwrap_or(self.dst),
            modifier: self.modifier,
            imm32: self.imm32,
        }
    }

    fn is_complete(&self) -> bool {
        self.issued >= Decoded::of(self.kind).macro_ops.len()
    }
}

/// What became of an attempt to issue a macro-op.
enum Step {
    Issued,
    /// The instruction found no register and was dropped; another may fit the slot.
    Discarded,
    /// This decoder group is given up.
    Abort,
}

struct Generator<'a> {
    random: &'a mut BlakeGenerator,
    schedule: Schedule,
    registers: [Register; 8],
    /// The instruction in work or, once complete, the last one, which selects the next group.
    current: Option<Pending>,
    cycle: usize,
    /// When the result of the last macro-op is ready.
    ready: usize,
    saturated: bool,
    multiplications: usize,
    discarded: usize,
    program: Vec<Instruction>,
}

impl Generator<'_> {
    fn is_finished(&self) -> bool {
        self.saturated || self.program.len() >= SUPERSCALAR_MAX_SIZE
    }

    /// Fills the slots of one decoder group.
    fn decode(&mut self, decode_cycle: usize) {
        let group = self.select_group(decode_cycle);
        let mut slot = 0;
        while slot < group.0.len() {
            let pending = match self.current {
                Some(pending) if !pending.is_complete() => pending,
                _ if self.is_finished() => return,
                _ => self.create(group, slot),
            };
            match self.issue(pending) {
                Step::Issued => slot += 1,
                Step::Discarded => {}
                Step::Abort => return,
            }
        }
    }

    /// Specification 6.3.1.
    fn select_group(&mut self, decode_cycle: usize) -> Group {
        match self.current.map(|pending| pending.kind) {
            Some(Kind::ImulhR | Kind::IsmulhR) => GROUP_AFTER_MULTIPLY_HIGH,
            _ if self.multiplications <= decode_cycle => GROUP_OF_MULTIPLICATIONS,
            // The multiplication still to come needs a slot of 4 bytes.
            Some(Kind::ImulRcp) => GROUPS[if self.random.byte() & 1 == 1 { 0 } else { 3 }],
            _ => GROUPS[usize::from(self.random.byte() & 3)],
        }
    }

    /// Specification 6.3.2: an instruction whose first macro-op fits the slot.
    fn create(&mut self, group: Group, slot: usize) -> Pending {
        let is_last = slot + 1 == group.0.len();
        let mut choose = |kinds: &[Kind]| kinds[usize::from(self.random.byte()) % kinds.len()];
        let kind = match group.0[slot] {
            3 if is_last => choose(&[Kind::IsubR, Kind::IxorR, Kind::ImulhR, Kind::IsmulhR]),
            3 => choose(&[Kind::IsubR, Kind::IxorR]),
            4 if group == GROUP_OF_MULTIPLICATIONS && !is_last => Kind::ImulR,
            4 => choose(&[Kind::IrorC, Kind::IaddRs]),
            7 => choose(&[Kind::IxorC7, Kind::IaddC7]),
            8 => choose(&[Kind::IxorC8, Kind::IaddC8]),
            9 => choose(&[Kind::IxorC9, Kind::IaddC9]),
            _ => Kind::ImulRcp,
        };
        let (mut modifier, mut imm32) = (0, 0);
        let mut parameter = Parameter::Constant;
        let group = match kind {
            Kind::IsubR | Kind::IaddRs => Kind::IaddRs,
            Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => Kind::IaddC7,
            Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => Kind::IxorC7,
            _ => kind,
        };
        match kind {
            Kind::IaddRs => modifier = self.random.byte(),
            Kind::IrorC => {
                while imm32 == 0 {
                    imm32 = u32::from(self.random.byte() & 63);
                }
            }
            Kind::ImulhR | Kind::IsmulhR => parameter = Parameter::Random(self.random.word()),
            Kind::ImulRcp => {
                while reciprocal(imm32).is_none() {
                    imm32 = self.random.word();
                }
            }
            Kind::IsubR | Kind::IxorR | Kind::ImulR => {}
            _ => imm32 = self.random.word(),
        }
        let operation = Operation { group, parameter };
        Pending { kind, issued: 0, dst: 0, src: None, modifier, imm32, operation }
    }

    /// Issues the next macro-op of `pending` (specifications 6.3.3 and 6.3.4).
    fn issue(&mut self, mut pending: Pending) -> Step {
        let decoded = Decoded::of(pending.kind);
        let macro_op = &decoded.macro_ops[pending.issued];
        let group_cycle = self.cycle;

        let Some(mut start) = self.schedule.earliest(macro_op, self.cycle, self.ready) else {
            self.saturated = true;
            self.current = Some(pending);
            return Step::Abort;
        };
        if decoded.source_at == Some(pending.issued)
            && !self
                .search(&mut start, |generator, cycle| generator.select_source(&mut pending, cycle))
        {
            return self.discard(pending);
        }
        if decoded.destination_at == pending.issued
            && !self.search(&mut start, |generator, cycle| {
                generator.select_destination(&mut pending, cycle)
            })
        {
            return self.discard(pending);
        }
        self.discarded = 0;

        let Some(start) = self.schedule.issue(macro_op, start, start) else {
            self.saturated = true;
            self.current = Some(pending);
            return Step::Abort;
        };
        self.ready = start + macro_op.latency;
        if decoded.result_at == pending.issued {
            self.registers[usize::from(pending.dst)] =
                Register { ready: self.ready, last: Some(pending.operation) };
        }
        self.saturated |= start >= SUPERSCALAR_LATENCY;
        self.cycle = group_cycle;

        pending.issued += 1;
        if pending.is_complete() {
            self.program.push(pending.instruction());
            self.multiplications += usize::from(matches!(
                pending.kind,
                Kind::ImulR | Kind::ImulhR | Kind::IsmulhR | Kind::ImulRcp
            ));
        }
        self.current = Some(pending);
        Step::Issued
    }

    /// Tries `select` at `start` and the next few cycles, which the whole CPU then waits.
    fn search(
        &mut self,
        start: &mut usize,
        mut select: impl FnMut(&mut Self, usize) -> bool,
    ) -> bool {
        for _ in 0..LOOK_FORWARD_CYCLES {
            if select(self, *start) {
                return true;
            }
            *start += 1;
            self.cycle += 1;
        }
        false
    }

    fn discard(&mut self, mut pending: Pending) -> Step {
        if self.discarded < MAX_DISCARDED {
            self.discarded += 1;
            // The kind of a discarded instruction still selects the next group.
            pending.issued = usize::MAX;
            self.current = Some(pending);
            Step::Discarded
        } else {
            self.current = None;
            Step::Abort
        }
    }

    fn select_source(&mut self, pending: &mut Pending, cycle: usize) -> bool {
        let available = self.registers_where(|_, register| register.ready <= cycle);
        // With two candidates for IADD_RS, r5 must be the source: it cannot be the destination.
        let source = if pending.kind == Kind::IaddRs
            && available.len() == 2
            && available.contains(&NEVER_ADDED_TO)
        {
            Some(NEVER_ADDED_TO)
        } else {
            self.choose(&available)
        };
        if let Some(register) = source {
            pending.src = source;
            if !matches!(pending.kind, Kind::ImulhR | Kind::IsmulhR) {
                pending.operation.parameter = Parameter::Source(register);
            }
        }
        source.is_some()
    }

    fn select_destination(&mut self, pending: &mut Pending, cycle: usize) -> bool {
        let may_be_source = matches!(pending.kind, Kind::ImulhR | Kind::IsmulhR);
        let chained_multiplication = self.discarded > 0 || pending.operation.group != Kind::ImulR;
        let available = self.registers_where(|index, register| {
            register.ready <= cycle
                && (may_be_source || Some(index) != pending.src)
                && (chained_multiplication
                    || register.last.is_none_or(|last| last.group != Kind::ImulR))
                && register.last != Some(pending.operation)
                && (pending.kind != Kind::IaddRs || index != NEVER_ADDED_TO)
        });
        match self.choose(&available) {
            Some(register) => pending.dst = register,
            None => return false,
        }
        true
    }

    fn registers_where(&self, test: impl Fn(u8, &Register) -> bool) -> Vec<u8> {
        (0..8).filter(|&index| test(index, &self.registers[usize::from(index)])).collect()
    }

    /// A random one of `available`; a single candidate draws no number.
    fn choose(&mut self, available: &[u8]) -> Option<u8> {
        match available {
            [] => None,
            [only] => Some(*only),
            _ => Some(available[self.random.word() as usize % available.len()]),
        }
    }
}
