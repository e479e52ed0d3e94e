//! The generator of SuperscalarHash programs (specification 6.3). Where the specification leaves a
//! choice open, such as when a register search gives up, it follows the reference implementation.

use super::cpu::{Decoded, Schedule};
use super::operands::{Operands, Operation, Registers};
use super::tracer::{GenerationTracer, Issued};
use super::traits::{Needs, Traits};
use super::{Instruction, Kind, Program};
use crate::blake_generator::BlakeGenerator;
use crate::blake2b::Blake2b;
use crate::cpu::Cpu;
use crate::params::{CACHE_ACCESSES, SUPERSCALAR_LATENCY, SUPERSCALAR_MAX_SIZE};
use crate::reciprocal::has_reciprocal;

/// The most instructions in a row that are discarded because no register is ready.
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

/// Generates the programs of a key (specification 7.2), one for each access to the cache. `cpu` selects
/// the implementation of Blake2b and does not affect the result.
pub fn programs(key: &[u8], cpu: Cpu) -> [Program; CACHE_ACCESSES] {
    let mut random = BlakeGenerator::with_blake2b(key, Blake2b::new(cpu));
    std::array::from_fn(|_| generate(&mut random))
}

/// Generates the next program from `random`.
pub fn generate(random: &mut BlakeGenerator) -> Program {
    generate_traced(random, &mut ())
}

/// Generates the next program from `random`, and reports its events to `tracer`.
pub fn generate_traced(random: &mut BlakeGenerator, tracer: &mut impl GenerationTracer) -> Program {
    let mut generator = Generator {
        random,
        tracer,
        schedule: Schedule::new(),
        operands: Operands::new(),
        last: None,
        pending: Pending::NONE,
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

/// An instruction whose macro-ops are being issued.
struct Pending {
    instruction: Instruction,
    traits: &'static Traits,
    decoded: &'static Decoded,
    issued: usize,
    operation: Operation,
}

impl Pending {
    /// A complete instruction, before the first one is created.
    const NONE: Pending = Pending {
        instruction: Instruction { kind: Kind::IsubR, dst: 0, src: 0, modifier: 0, imm32: 0 },
        traits: &Traits::NONE,
        decoded: &Decoded::NONE,
        issued: 0,
        operation: Operation::NONE,
    };

    fn is_complete(&self) -> bool {
        self.issued >= self.decoded.macro_ops.len()
    }
}

/// The outcome of an attempt to issue a macro-op.
enum Step {
    Issued,
    /// The instruction found no register and was discarded. Another one may fit the slot.
    Discarded,
    /// The generator abandons the decoder group.
    Abort,
}

struct Generator<'a, T> {
    random: &'a mut BlakeGenerator,
    tracer: &'a mut T,
    schedule: Schedule,
    operands: Operands,
    /// The kind of the last instruction created, which selects the next group.
    last: Option<Kind>,
    pending: Pending,
    cycle: usize,
    /// The cycle in which the result of the last macro-op is ready.
    ready: usize,
    saturated: bool,
    multiplications: usize,
    discarded: usize,
    program: Vec<Instruction>,
}

impl<T: GenerationTracer> Generator<'_, T> {
    fn is_finished(&self) -> bool {
        self.saturated || self.program.len() >= SUPERSCALAR_MAX_SIZE
    }

    /// Fills the slots of one decoder group.
    fn decode(&mut self, decode_cycle: usize) {
        let group = self.select_group(decode_cycle);
        self.tracer.group(group.0);
        let mut slot = 0;
        while slot < group.0.len() {
            if self.pending.is_complete() {
                if self.is_finished() {
                    return;
                }
                self.create(group, slot);
            }
            match self.issue() {
                Step::Issued => slot += 1,
                Step::Discarded => {}
                Step::Abort => return,
            }
        }
    }

    /// Selects a decoder group (specification 6.3.1).
    fn select_group(&mut self, decode_cycle: usize) -> Group {
        match self.last {
            Some(Kind::ImulhR | Kind::IsmulhR) => GROUP_AFTER_MULTIPLY_HIGH,
            _ if self.multiplications <= decode_cycle => GROUP_OF_MULTIPLICATIONS,
            // The pending multiplication of IMUL_RCP needs a slot of 4 bytes.
            Some(Kind::ImulRcp) => GROUPS[if self.random.byte() & 1 == 1 { 0 } else { 3 }],
            _ => GROUPS[usize::from(self.random.byte() & 3)],
        }
    }

    /// Creates an instruction whose first macro-op fits the slot (specification 6.3.2).
    fn create(&mut self, group: Group, slot: usize) {
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
        let traits = Traits::of(kind);
        let mut drawn = self.random.draw(traits.drawn);
        while (traits.needs == Needs::NotZero && drawn & traits.imm32_mask == 0)
            || (traits.needs == Needs::Reciprocal && !has_reciprocal(drawn))
        {
            drawn = self.random.draw(traits.drawn);
        }
        let operation = if traits.is_high {
            Operation::with_random(traits.group, drawn)
        } else {
            Operation::with_constant(traits.group)
        };
        let (modifier, imm32) = ((drawn & traits.modifier_mask) as u8, drawn & traits.imm32_mask);
        let instruction = Instruction { kind, dst: 0, src: 0, modifier, imm32 };
        self.last = Some(kind);
        self.pending =
            Pending { instruction, traits, decoded: Decoded::of(kind), issued: 0, operation };
    }

    /// Issues the next macro-op of the pending instruction (specification 6.3.3 and 6.3.4).
    fn issue(&mut self) -> Step {
        let Pending { decoded, traits, issued, .. } = self.pending;
        let macro_op = &decoded.macro_ops[issued];
        let Some(earliest) = self.schedule.earliest(macro_op, self.cycle, self.ready) else {
            self.saturated = true;
            return Step::Abort;
        };
        let mut start = earliest;
        if decoded.source_at == Some(issued) {
            match self.operands.first_ready(Registers::ALL, start) {
                Some((cycle, available)) => {
                    start = cycle;
                    self.choose_source(available);
                }
                None => return self.discard(start - earliest),
            }
        }
        if decoded.destination_at == issued {
            match self.operands.first_ready(self.destinations(), start) {
                Some((cycle, available)) => {
                    start = cycle;
                    self.pending.instruction.dst = self.choose(available);
                }
                None => return self.discard(start - earliest),
            }
        }
        self.discarded = 0;

        let Some(start) = self.schedule.earliest(macro_op, start, start) else {
            self.saturated = true;
            return Step::Abort;
        };
        let ports = self.schedule.issue(macro_op, start);
        let (kind, latency) = (self.pending.instruction.kind, macro_op.latency);
        self.tracer.issued(Issued { kind, part: issued, cycle: start, latency, ports });
        self.ready = start + macro_op.latency;
        let instruction = &mut self.pending.instruction;
        if decoded.result_at == issued {
            self.operands.write(instruction.dst, self.pending.operation, self.ready);
        }
        self.saturated |= start >= SUPERSCALAR_LATENCY;

        self.pending.issued = issued + 1;
        if self.pending.issued == decoded.macro_ops.len() {
            if decoded.source_at.is_none() {
                instruction.src = instruction.dst;
            }
            self.tracer.instruction(instruction);
            self.program.push(*instruction);
            self.multiplications += usize::from(traits.is_multiplication);
        }
        Step::Issued
    }

    /// Discards the pending instruction. The CPU has waited for `waited` cycles before the register
    /// search, and for the search.
    fn discard(&mut self, waited: usize) -> Step {
        self.tracer.discarded(self.pending.instruction.kind);
        self.cycle += waited + Operands::SEARCH_CYCLES;
        self.pending.issued = usize::MAX;
        if self.discarded < MAX_DISCARDED {
            self.discarded += 1;
            // The kind of a discarded instruction still selects the next group.
            Step::Discarded
        } else {
            self.last = None;
            Step::Abort
        }
    }

    /// Chooses the source register of the pending instruction.
    fn choose_source(&mut self, available: Registers) {
        let Pending { instruction, traits, .. } = self.pending;
        // With two candidates for IADD_RS, r5 must be the source: it cannot be the destination.
        let forced = instruction.kind == Kind::IaddRs
            && available.len() == 2
            && available.contains(NEVER_ADDED_TO);
        let source = if forced { NEVER_ADDED_TO } else { self.choose(available) };
        self.pending.instruction.src = source;
        if !traits.is_high {
            self.pending.operation = Operation::with_source(traits.group, source);
        }
    }

    /// Returns the registers that the pending instruction may write.
    fn destinations(&self) -> Registers {
        let Pending { instruction, traits, operation, decoded, .. } = self.pending;
        let mut registers = self.operands.last_written_by_others(operation);
        if traits.group == Kind::ImulR && self.discarded == 0 {
            registers = registers.difference(self.operands.multiplied());
        }
        if decoded.source_at.is_some() && !traits.is_high {
            registers = registers.without(instruction.src);
        }
        if instruction.kind == Kind::IaddRs {
            registers = registers.without(NEVER_ADDED_TO);
        }
        registers
    }

    /// Chooses a random register of `available`, which is not empty. For a single candidate it draws no
    /// number.
    fn choose(&mut self, available: Registers) -> u8 {
        let count = available.len();
        let drawn = self.random.draw(if count > 1 { 4 } else { 0 });
        available.nth(drawn % count.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blake2b::hash256;

    /// Compares 3,200 programs by their hash, in the encoding of specification 5.1. The expected value
    /// is the hash of the reference implementation's programs.
    #[test]
    fn programs_are_those_of_the_reference() {
        let mut bytes = Vec::new();
        for key in 0..200u32 {
            let mut random = BlakeGenerator::new(&key.to_le_bytes());
            for _ in 0..16 {
                let program = generate(&mut random);
                bytes.extend(program.instructions.iter().flat_map(|one| one.to_bytes()));
                bytes.push(program.address_register);
            }
        }
        let hash: String = hash256(&[&bytes]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, "6939d9e9812c23eea7cc06507a4d665fb9de35f85c1f18c84fd6f8533fa50711");
    }
}
