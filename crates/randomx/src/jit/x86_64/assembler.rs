//! An assembler for x86-64: typed operands in, bytes out.
//!
//! A hash assembles eight programs, so emitting is fast: an instruction is built in two registers
//! and stored whole, with one bounds check. Instructions that do not fit the buffer are dropped,
//! and [`Assembler::finish`] reports that.

mod encoding;
mod integer;
mod operand;
mod sse;
#[cfg(test)]
pub(crate) mod tests;
mod vector;

use std::collections::TryReserveError;
use std::fmt;

use encoding::Bytes;
pub use operand::{
    Broadcast, Condition, Gpr, IntegerSource, Mask, Mem, Operand, Rm, Scale, Source, Vector,
    VectorSource, Xmm, Ymm, Zmm,
};

/// Free bytes that the buffer has after the code: an instruction is stored as two words of 8 bytes,
/// the second at most 15 bytes after the first.
const SLOT: usize = 24;

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

/// The position of code that has been emitted: a target of backward jumps, which need no label.
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

/// A 32-bit distance that is filled in when its label is bound.
struct Fixup {
    at: usize,
    label: Label,
}

/// The reason why [`Assembler::finish`] returns no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssemblerError {
    /// The code is longer than the assembler's capacity.
    Full,
    /// A label is used but never bound.
    Unbound,
}

impl fmt::Display for AssemblerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssemblerError::Full => "the code is longer than its buffer",
            AssemblerError::Unbound => "the code refers to a label that is never bound",
        })
    }
}

impl std::error::Error for AssemblerError {}

impl Assembler {
    /// Makes an assembler for at most `capacity` bytes of code.
    pub fn new(capacity: usize) -> Assembler {
        Assembler::over(vec![0; capacity + SLOT])
    }

    /// Makes an assembler for at most `capacity` bytes of code, which may be many.
    ///
    /// # Errors
    ///
    /// [`TryReserveError`] if the buffer cannot be allocated.
    pub fn try_new(capacity: usize) -> Result<Assembler, TryReserveError> {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(capacity + SLOT)?;
        buffer.resize(capacity + SLOT, 0);
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
    /// was used but not bound.
    pub fn finish(&mut self) -> Result<&[u8], AssemblerError> {
        if self.full || self.at + SLOT > self.buffer.len() {
            return Err(AssemblerError::Full);
        }
        for fixup in self.fixups.drain(..) {
            let target = self.labels[fixup.label.0 as usize].ok_or(AssemblerError::Unbound)?;
            if let Some(field) = self.buffer[fixup.at..].first_chunk_mut::<4>() {
                let distance = i32::from_le_bytes(*field);
                *field = distance.wrapping_add(target.wrapping_sub(fixup.at) as i32).to_le_bytes();
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
        const NOP: u64 = 0x90;
        while !self.full && !self.at.is_multiple_of(alignment) {
            self.put(Bytes::new(NOP, 1), 0, 0);
        }
    }

    /// Emits 8 bytes of data, little-endian.
    pub fn data(&mut self, word: u64) {
        self.put(Bytes::new(word, 8), 0, 0);
    }

    /// Emits the first `length` of 24 bytes, which hold instructions that were assembled before.
    #[inline(always)]
    pub fn assembled(&mut self, words: [u64; SLOT / 8], length: u8) {
        let slot = self.buffer.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<SLOT>);
        let Some(slot) = slot else {
            self.full = true;
            return;
        };
        let (parts, _) = slot.as_chunks_mut::<8>();
        for (part, word) in parts.iter_mut().zip(words) {
            *part = word.to_le_bytes();
        }
        self.at += usize::from(length).min(SLOT);
    }

    /// Appends the two parts of an instruction.
    #[inline(always)]
    fn put(&mut self, head: Bytes, tail: u64, tail_length: usize) {
        let head_length = head.length & 15;
        let slot = self.buffer.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<SLOT>);
        let Some(slot) = slot else {
            self.full = true;
            return;
        };
        slot[..8].copy_from_slice(&head.value.to_le_bytes());
        slot[head_length..head_length + 8].copy_from_slice(&tail.to_le_bytes());
        self.at += head_length + tail_length;
    }
}

/// Jumps and calls.
impl Assembler {
    /// `jmp label`
    pub fn jmp(&mut self, label: Label) {
        self.jump(Bytes::new(0xeb, 1), Bytes::new(0xe9, 1), label);
    }

    /// `jcc label`
    pub fn jcc(&mut self, condition: Condition, label: Label) {
        let condition = condition as u64;
        self.jump(Bytes::new(0x70 | condition, 1), Bytes::new(0x800f | condition << 8, 2), label);
    }

    /// `jcc position`, backwards.
    #[inline(always)]
    pub fn jcc_back(&mut self, condition: Condition, position: Position) {
        let condition = condition as u64;
        let (short, long) =
            (Bytes::new(0x70 | condition, 1), Bytes::new(0x800f | condition << 8, 2));
        self.jump_back(short, long, position.0);
    }

    /// `call register`
    pub fn call(&mut self, target: Gpr) {
        self.legacy(encoding::Opcode::narrow(0xff), 2, target.rm(), encoding::Immediate::NONE);
    }

    /// `jmp register`
    pub fn jmp_register(&mut self, target: Gpr) {
        self.legacy(encoding::Opcode::narrow(0xff), 4, target.rm(), encoding::Immediate::NONE);
    }

    /// `ret`
    pub fn ret(&mut self) {
        self.put(Bytes::new(0xc3, 1), 0, 0);
    }

    fn jump(&mut self, short: Bytes, long: Bytes, label: Label) {
        if let Some(target) = self.labels[label.0 as usize] {
            return self.jump_back(short, long, target);
        }
        self.fixups.push(Fixup { at: self.at + long.length, label });
        // The distance counts from the end of its own field of 4 bytes.
        self.put(long, u64::from(-4i32 as u32), 4);
    }

    #[inline(always)]
    fn jump_back(&mut self, short: Bytes, long: Bytes, target: usize) {
        let back = |length: usize| target as i64 - (self.at + length) as i64;
        let near = back(short.length + 1);
        if i8::try_from(near).is_ok() {
            self.put(short, near as u64, 1);
        } else {
            self.put(long, back(long.length + 4) as u64, 4);
        }
    }
}
