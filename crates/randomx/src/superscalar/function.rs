//! SuperscalarHash programs for the interpreter: immediates extended, reciprocals computed, and
//! operations reordered so that several of them share a dispatch.

use super::{Instruction, Kind, Program};
use crate::reciprocal::reciprocal;

/// A program for the interpreter.
#[derive(Clone, Debug)]
pub struct Function {
    pub(super) runs: Vec<Run>,
    pub(super) operations: Vec<Operation>,
    address_register: u8,
}

/// Operations of one class in a row, which share a dispatch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    class: Class,
    pub(super) length: u16,
}

/// Operations that differ only in their masks and constants. Each class is a bit: bit tests compile to
/// conditional jumps, which processors predict better here than one indirect jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// `dst += (((src << shift) ^ sign) & mask) + constant`
    Add = 1,
    /// `dst ^= (src & mask) ^ constant`
    Xor = 2,
    /// `dst *= (src & mask) | constant`
    Mul = 4,
    /// `dst` becomes the high half of `dst * src`, signed where `sign` is set
    MulHigh = 8,
    /// `dst` is rotated right by `shift`
    Rotate = 16,
}

impl Run {
    #[inline(always)]
    pub(super) fn is(&self, class: Class) -> bool {
        self.class as u8 & class as u8 != 0
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) dst: u8,
    pub(super) src: u8,
    pub(super) shift: u8,
    /// All ones for a subtraction or a signed product, else zero.
    sign: i8,
    /// All ones if there is a source register, else zero.
    mask: i8,
    pub(super) constant: u64,
}

impl Operation {
    #[inline(always)]
    pub(super) fn sign(&self) -> u64 {
        self.sign as u64
    }

    #[inline(always)]
    pub(super) fn mask(&self) -> u64 {
        self.mask as u64
    }
}

fn resolve(instruction: &Instruction) -> (Class, Operation) {
    const ONES: i8 = -1;
    let imm = instruction.imm32;
    let extended = imm as i32 as u64;
    let (class, shift, sign, mask, constant) = match instruction.kind {
        // -x is !x + 1.
        Kind::IsubR => (Class::Add, 0, ONES, ONES, 1),
        Kind::IaddRs => (Class::Add, instruction.modifier >> 2 & 3, 0, ONES, 0),
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => (Class::Add, 0, 0, 0, extended),
        Kind::IxorR => (Class::Xor, 0, 0, ONES, 0),
        Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => (Class::Xor, 0, 0, 0, extended),
        Kind::ImulR => (Class::Mul, 0, 0, ONES, 0),
        // 0 and powers of two have no reciprocal: the operation does nothing.
        Kind::ImulRcp => (Class::Mul, 0, 0, 0, reciprocal(imm).unwrap_or(1)),
        Kind::ImulhR => (Class::MulHigh, 0, 0, ONES, 0),
        Kind::IsmulhR => (Class::MulHigh, 0, ONES, ONES, 0),
        Kind::IrorC => (Class::Rotate, (imm & 63) as u8, 0, 0, 0),
    };
    let (dst, src) = (instruction.dst & 7, instruction.src & 7);
    (class, Operation { dst, src, shift, sign, mask, constant })
}

impl From<&Program> for Function {
    fn from(program: &Program) -> Function {
        let mut function = Function {
            runs: Vec::new(),
            operations: Vec::with_capacity(program.instructions.len()),
            address_register: program.address_register & 7,
        };
        for (class, operation) in schedule(program.instructions.iter().map(resolve).collect()) {
            function.operations.push(operation);
            match function.runs.last_mut() {
                Some(run) if run.class == class => run.length += 1,
                _ => function.runs.push(Run { class, length: 1 }),
            }
        }
        function
    }
}

/// Reorders operations to group those of one class. Two operations keep their order if one of them
/// writes a register of the other.
fn schedule(mut waiting: Vec<(Class, Operation)>) -> Vec<(Class, Operation)> {
    let mut scheduled: Vec<(Class, Operation)> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = ready(&waiting);
        let last = scheduled.last().map(|(class, _)| *class);
        let same = ready.iter().copied().find(|&index| Some(waiting[index].0) == last);
        let next = same.unwrap_or_else(|| {
            let count = |class| ready.iter().filter(|&&index| waiting[index].0 == class).count();
            // The first operation of the class that has the most ready operations.
            ready.iter().rev().copied().max_by_key(|&index| count(waiting[index].0)).unwrap_or(0)
        });
        scheduled.push(waiting.remove(next));
    }
    scheduled
}

/// Returns the operations that depend on no earlier one.
fn ready(waiting: &[(Class, Operation)]) -> Vec<usize> {
    let (mut read, mut written) = (0u8, 0u8);
    let mut ready = Vec::new();
    for (index, (_, operation)) in waiting.iter().enumerate() {
        let (dst, src) = (1 << operation.dst, 1 << operation.src);
        if written & (dst | src) == 0 && read & dst == 0 {
            ready.push(index);
        }
        read |= src | dst;
        written |= dst;
        if written == u8::MAX {
            break;
        }
    }
    ready
}

impl Function {
    /// Returns the register that selects the next cache line, 0 to 7.
    pub fn address_register(&self) -> usize {
        usize::from(self.address_register)
    }
}
