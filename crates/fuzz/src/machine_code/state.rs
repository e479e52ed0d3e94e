//! The abstract state of the registers and the stack at a point of the code.

use iced_x86::{Instruction, Register};

/// The abstract value of a register or a word on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Anything.
    Unknown,
    /// A number of at most this, with zeros where this has zeros.
    Masked(u32),
    /// This number.
    Constant(u64),
    /// The top of the stack.
    Stack,
    /// The address to return to.
    Return,
    /// The caller's value of a register.
    Caller(Register),
    /// The address of the lane.
    Lane,
    /// The address of the lane's scratchpad.
    Scratchpad,
    /// The address of the caller's item, or of the dataset's window.
    Items,
    /// The address of an item.
    Item,
    /// The address of a lane's link.
    Link,
    /// The address of the link of a lane that is not the last.
    EarlierLink,
    /// The address of the last lane's link.
    LastLink,
    /// The address at which another lane's code begins.
    Takeover,
}

impl Value {
    /// Returns the field of a link.
    pub(super) fn of_link(offset: u64) -> Value {
        match offset {
            0 => Value::Takeover,
            8 => Value::Lane,
            16 => Value::Scratchpad,
            24 => Value::Items,
            _ => Value::Unknown,
        }
    }

    fn join(self, other: Value) -> Value {
        match (self, other) {
            (one, other) if one == other => one,
            (Value::Masked(one), Value::Masked(other)) => Value::Masked(one | other),
            (Value::Link, Value::EarlierLink) | (Value::EarlierLink, Value::Link) => Value::Link,
            _ => Value::Unknown,
        }
    }
}

/// The registers that a function of the System V ABI leaves unchanged.
const SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The registers that a call changes.
const VOLATILE: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// Words of the frame below the saved registers, and the place of those that other lanes' code reads.
const FRAME: usize = 7;
const CALLER_MXCSR_AND_FLAGS: usize = 0;
const LINK: usize = 1;
const FIRST: usize = 2;
const LAST: usize = 3;
const TURNS: usize = 4;

/// The abstract state before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// By the number of the register in encodings.
    registers: [Value; 16],
    /// Words, the last pushed at the end.
    stack: Vec<Value>,
    /// The register that was compared with the address of the last link.
    compared: Option<Register>,
}

impl State {
    /// The state at the start of the function: its arguments are the first link, the last, the number
    /// of turns and the flags.
    pub(super) fn at_entry() -> State {
        let mut state =
            State { registers: [Value::Unknown; 16], stack: vec![Value::Return], compared: None };
        for register in SAVED {
            state.set(register, Value::Caller(register));
        }
        state.set(Register::RSP, Value::Stack);
        state.set(Register::RDI, Value::Link);
        state.set(Register::RSI, Value::LastLink);
        state
    }

    /// The state at which another lane's code takes over.
    pub(super) fn at_takeover() -> State {
        let mut state =
            State { registers: [Value::Unknown; 16], stack: vec![Value::Return], compared: None };
        state.stack.extend(SAVED.map(Value::Caller));
        // The end of the list is the top of the stack.
        let mut frame = [Value::Unknown; FRAME];
        frame[LINK] = Value::Link;
        frame[FIRST] = Value::Link;
        frame[LAST] = Value::LastLink;
        frame[CALLER_MXCSR_AND_FLAGS] = Value::Unknown;
        frame[TURNS] = Value::Unknown;
        frame.reverse();
        state.stack.extend(frame);
        state.set(Register::RSP, Value::Stack);
        state.set(Register::RCX, Value::Link);
        state
    }

    pub(super) fn get(&self, register: Register) -> Value {
        match register.is_gpr() {
            true => self.registers[register.full_register().number()],
            false => Value::Unknown,
        }
    }

    /// Sets a register. A part of one stands for the whole. A comparison was of the value before.
    pub(super) fn set(&mut self, register: Register, value: Value) {
        let whole = register.full_register();
        if register.is_gpr() {
            self.registers[whole.number()] = value;
            self.compared = self.compared.filter(|compared| compared.full_register() != whole);
        }
    }

    pub(super) fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    pub(super) fn pop(&mut self) -> Option<Value> {
        self.stack.pop()
    }

    pub(super) fn grow(&mut self, bytes: u64) -> Result<(), &'static str> {
        if !bytes.is_multiple_of(8) || bytes > 4096 {
            return Err("a crooked stack");
        }
        self.stack.resize(self.stack.len() + bytes as usize / 8, Value::Unknown);
        Ok(())
    }

    pub(super) fn shrink(&mut self, bytes: u64) -> Result<(), &'static str> {
        let left = self.stack.len().checked_sub(bytes as usize / 8);
        let left = left.filter(|_| bytes.is_multiple_of(8) && bytes <= 4096);
        self.stack.truncate(left.ok_or("a crooked stack")?);
        Ok(())
    }

    /// Whether an access to the stack stays in the frame, above the saved registers.
    pub(super) fn has_slot(&self, offset: u64, size: u64) -> bool {
        let saved = 1 + SAVED.len();
        let words = self.stack.len().saturating_sub(saved) as u64;
        offset.checked_add(size).is_some_and(|end| end <= 8 * words)
    }

    /// Returns the word at an offset from the top.
    pub(super) fn slot(&self, offset: u64) -> Option<Value> {
        if !offset.is_multiple_of(8) {
            return None;
        }
        self.stack.iter().rev().nth(offset as usize / 8).copied()
    }

    /// Sets the word at an offset from the top, a multiple of 8.
    pub(super) fn set_slot(&mut self, offset: u64, value: Value) {
        if let Some(slot) = self.stack.iter_mut().rev().nth(offset as usize / 8) {
            *slot = value;
        }
    }

    /// Forgets every word that a write at an offset from the top changes, or a part of it.
    pub(super) fn forget(&mut self, offset: u64, size: u64) {
        let words = (offset / 8) as usize..(offset + size).div_ceil(8) as usize;
        let touched = self.stack.iter_mut().rev().take(words.end).skip(words.start);
        touched.for_each(|slot| *slot = Value::Unknown);
    }

    pub(super) fn compared_with_last(&mut self, register: Register) {
        self.compared = Some(register);
    }

    pub(super) fn forget_comparison(&mut self) {
        self.compared = None;
    }

    /// Follows the path on which a jump if equal was not taken.
    pub(super) fn not_equal(&mut self, jumps_if_equal: bool) {
        if let Some(register) = self.compared
            && jumps_if_equal
        {
            self.set(register, Value::EarlierLink);
        }
    }

    /// Whether an indirect jump leads to another lane, in the state that its code expects.
    pub(super) fn leaves_to(&self, jump: &Instruction) -> bool {
        let expected = State::at_takeover();
        self.get(jump.op0_register()) == Value::Takeover
            && self.get(Register::RSP) == Value::Stack
            && self.get(Register::RCX) == Value::Link
            && self.join(&expected).is_some_and(|joined| joined.stack == expected.stack)
    }

    /// Follows a call of a helper. Returns its address, or `None` if that or the stack is unusable.
    pub(super) fn call(&mut self, call: &Instruction) -> Option<u64> {
        let Value::Constant(helper) = self.get(call.op0_register()) else { return None };
        // The return address of this function made the stack crooked by 8 bytes.
        let aligned = self.stack.len().is_multiple_of(2);
        let usable = aligned && self.get(Register::RDI) == Value::Lane;
        VOLATILE.iter().for_each(|&register| self.set(register, Value::Unknown));
        self.compared = None;
        usable.then_some(helper)
    }

    /// Whether the stack and the registers are the caller's.
    pub(super) fn returns(&self) -> bool {
        self.stack == [Value::Return]
            && self.get(Register::RSP) == Value::Stack
            && SAVED.iter().all(|&register| self.get(register) == Value::Caller(register))
    }

    /// Returns what is known on both of two paths, or `None` if their stacks differ in size.
    pub(super) fn join(&self, other: &State) -> Option<State> {
        if self.stack.len() != other.stack.len() {
            return None;
        }
        let mut joined = self.clone();
        for (one, other) in joined.registers.iter_mut().zip(other.registers) {
            *one = one.join(other);
        }
        for (one, other) in joined.stack.iter_mut().zip(&other.stack) {
            *one = one.join(*other);
        }
        joined.compared = joined.compared.filter(|_| self.compared == other.compared);
        Some(joined)
    }
}
