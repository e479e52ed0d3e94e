//! An assembler for ARM64: typed operands in, bytes out.
//!
//! Instructions that do not fit the buffer are dropped, and [`Assembler::finish`] reports that.
//! Operands outside an instruction's range panic: all of them are constants of this crate, or were
//! chosen by a function here that knows the range.

mod integer;
mod memory;
mod operand;
#[cfg(test)]
pub(crate) mod tests;
mod vector;

use std::collections::TryReserveError;
use std::fmt;

pub use operand::{Condition, Gpr, Neon, Prefetch, Shift, logical_immediate};

/// Bytes of an instruction.
const WORD: usize = 4;

/// Emits machine code into a buffer.
pub struct Assembler {
    buffer: Vec<u8>,
    at: usize,
    full: bool,
    labels: Vec<Option<usize>>,
    fixups: Vec<Fixup>,
}

/// A place in the code that instructions can refer to before its position is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

/// The position of code that has been emitted: a target of backward branches, which need no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(usize);

impl Position {
    /// Returns the distance from the start of the code, in bytes.
    pub fn offset(self) -> usize {
        self.0
    }
}

/// The end of code that stays while later code is replaced; see [`Assembler::mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    at: usize,
    labels: usize,
}

/// A distance that is filled in when its label is bound.
struct Fixup {
    at: usize,
    label: Label,
    /// Added to the label's position, in bytes.
    beyond: usize,
    field: Field,
}

/// Where an instruction has its distance.
#[derive(Clone, Copy)]
enum Field {
    /// 26 bits of words: `b`.
    Branch26,
    /// 19 bits of words: `b.cond`, `ldr` of a literal.
    Branch19,
    /// 14 bits of words: `tbz` and `tbnz`.
    Branch14,
    /// 21 bits of bytes in two parts: `adr`.
    Address,
}

impl Field {
    /// Returns the bits of a distance, or `None` if it is too long.
    fn bits(self, distance: i64) -> Option<u32> {
        let words = |bits: u32| {
            let reach = 1 << (bits - 1);
            let field = distance >> 2;
            (-reach..reach).contains(&field).then_some(field as u32 & ((1 << bits) - 1))
        };
        match self {
            Field::Branch26 => words(26),
            Field::Branch19 => words(19).map(|field| field << 5),
            Field::Branch14 => words(14).map(|field| field << 5),
            Field::Address => (-(1 << 20)..1 << 20)
                .contains(&distance)
                .then_some((distance as u32 & 3) << 29 | ((distance >> 2) as u32 & 0x7_ffff) << 5),
        }
    }
}

/// The reason why [`Assembler::finish`] returns no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssemblerError {
    /// The code is longer than the assembler's capacity.
    Full,
    /// A label is used but never bound.
    Unbound,
    /// A label is too far from an instruction that refers to it.
    Far,
}

impl fmt::Display for AssemblerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssemblerError::Full => "the code is longer than its buffer",
            AssemblerError::Unbound => "the code refers to a label that is never bound",
            AssemblerError::Far => "the code refers to a label that is too far away",
        })
    }
}

impl std::error::Error for AssemblerError {}

impl Assembler {
    /// Makes an assembler for at most `capacity` bytes of code.
    pub fn new(capacity: usize) -> Assembler {
        Assembler::over(vec![0; capacity])
    }

    /// Makes an assembler for at most `capacity` bytes of code, which may be many.
    ///
    /// # Errors
    ///
    /// [`TryReserveError`] if the buffer cannot be allocated.
    pub fn try_new(capacity: usize) -> Result<Assembler, TryReserveError> {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(capacity)?;
        buffer.resize(capacity, 0);
        Ok(Assembler::over(buffer))
    }

    fn over(buffer: Vec<u8>) -> Assembler {
        Assembler { buffer, at: 0, full: false, labels: Vec::new(), fixups: Vec::new() }
    }

    /// Marks the end of code that stays when [`rewind`](Self::rewind) removes what follows. All
    /// labels so far have to be bound.
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, labels: self.labels.len() }
    }

    /// Removes all code and labels since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        self.at = self.at.min(mark.at);
        self.full = false;
        self.labels.truncate(mark.labels);
        self.fixups.retain(|fixup| fixup.at < mark.at);
    }

    /// Returns the code, with all distances filled in.
    ///
    /// # Errors
    ///
    /// [`AssemblerError::Full`] if the buffer was too small, [`AssemblerError::Unbound`] if a label
    /// was used but not bound, [`AssemblerError::Far`] if one is out of reach.
    pub fn finish(&mut self) -> Result<&[u8], AssemblerError> {
        if self.full {
            return Err(AssemblerError::Full);
        }
        for Fixup { at, label, beyond, field } in self.fixups.drain(..) {
            let target = self.labels[label.0 as usize].ok_or(AssemblerError::Unbound)? + beyond;
            let distance = target as i64 - at as i64;
            let bits = field.bits(distance).ok_or(AssemblerError::Far)?;
            if let Some(word) = self.buffer[at..].first_chunk_mut::<WORD>() {
                *word = (u32::from_le_bytes(*word) | bits).to_le_bytes();
            }
        }
        Ok(&self.buffer[..self.at])
    }

    /// Returns the position of the next instruction.
    #[inline(always)]
    pub fn position(&self) -> Position {
        Position(self.at)
    }

    /// Makes a label, to be bound later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds `label` to the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.at);
    }

    /// Emits `nop` up to a multiple of `alignment`.
    pub fn align(&mut self, alignment: usize) {
        const NOP: u32 = 0xd503_201f;
        while !self.full && !self.at.is_multiple_of(alignment) {
            self.put(NOP);
        }
    }

    /// Emits 8 bytes of data, little-endian.
    pub fn data(&mut self, word: u64) {
        self.put(word as u32);
        self.put((word >> 32) as u32);
    }

    /// Appends an instruction.
    #[inline(always)]
    fn put(&mut self, word: u32) {
        match self.buffer.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<WORD>) {
            Some(slot) => {
                *slot = word.to_le_bytes();
                self.at += WORD;
            }
            None => self.full = true,
        }
    }

    /// Appends an instruction whose distance to `label`, and `beyond` it, is filled in later.
    fn put_distance(&mut self, word: u32, label: Label, beyond: usize, field: Field) {
        self.fixups.push(Fixup { at: self.at, label, beyond, field });
        self.put(word);
    }
}

/// Branches and calls.
impl Assembler {
    /// `b label`
    pub fn b(&mut self, label: Label) {
        self.put_distance(0x1400_0000, label, 0, Field::Branch26);
    }

    /// `b.cond label`
    pub fn b_if(&mut self, condition: Condition, label: Label) {
        self.put_distance(0x5400_0000 | condition as u32, label, 0, Field::Branch19);
    }

    /// `b.cond position`, backwards.
    pub fn b_if_back(&mut self, condition: Condition, position: Position) {
        let distance = position.0 as i64 - self.at as i64;
        match Field::Branch19.bits(distance) {
            Some(bits) => self.put(0x5400_0000 | bits | condition as u32),
            None => self.full = true,
        }
    }

    /// `tbz`: branches to `label` if `bit` of `register` is 0.
    pub fn tbz(&mut self, register: Gpr, bit: u32, label: Label) {
        self.test_bit(0x3600_0000, register, bit, label);
    }

    /// `tbnz`: branches to `label` if `bit` of `register` is 1.
    pub fn tbnz(&mut self, register: Gpr, bit: u32, label: Label) {
        self.test_bit(0x3700_0000, register, bit, label);
    }

    /// `br register`
    pub fn br(&mut self, target: Gpr) {
        self.put(0xd61f_0000 | target.n());
    }

    /// `blr register`
    pub fn blr(&mut self, target: Gpr) {
        self.put(0xd63f_0000 | target.n());
    }

    /// `ret`
    pub fn ret(&mut self) {
        self.put(0xd65f_03c0);
    }

    fn test_bit(&mut self, opcode: u32, register: Gpr, bit: u32, label: Label) {
        let bit = (bit >> 5 & 1) << 31 | (bit & 31) << 19;
        self.put_distance(opcode | bit | register.d(), label, 0, Field::Branch14);
    }
}
