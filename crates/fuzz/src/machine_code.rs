//! A verifier of the machine code of programs.
//!
//! It decodes the code with iced-x86 from both entries on, follows every branch, and computes for each
//! instruction what its registers hold on every path that leads there. It refuses code with
//!
//! - an access to memory outside the lane, the scratchpad, an item, the dataset's window, a link, the
//!   frame on the stack or the constants, whatever the values of the program's registers;
//! - a branch to something else than an instruction of the code, or to an address from a register
//!   that is not another lane's entry or the helper of Rust that the frame calls;
//! - a return with a caller's register changed;
//! - a use of the stack, an address or a branch whose effect is not computed here.
//!
//! It shares no code with the compiler and knows only the layout of what the code may access.

mod state;
mod unsupported;

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};
use randomx::engine::Lane;
use randomx::jit::program::Whole;
use randomx::params::{ITEM_SIZE, SCRATCHPAD_L3};

use state::{State, Value};

/// The size of a link: the addresses of another lane's entry, its lane, its scratchpad and its items.
const LINK_SIZE: u64 = 32;

/// The greatest distance of an item from the start of a program's window.
const LAST_ITEM: u64 = 0x7fff_ffc0;

/// The addresses of helpers that verified code calls.
pub(crate) type Helpers = BTreeSet<u64>;

/// Verifies the code of a program.
///
/// # Errors
///
/// The first instruction that breaks a rule, and the rule.
pub(crate) fn verify(whole: &Whole) -> Result<Helpers, String> {
    follow(whole).map(|verifier| verifier.helpers)
}

/// Follows all paths of the code.
fn follow(whole: &Whole) -> Result<Verifier<'_>, String> {
    let mut verifier = Verifier {
        code: &whole.code,
        takeover: whole.takeover as u64,
        states: BTreeMap::new(),
        instructions: BTreeMap::new(),
        waiting: vec![0, whole.takeover as u64],
        constants: BTreeMap::new(),
        helpers: Helpers::new(),
        information: InstructionInfoFactory::new(),
    };
    verifier.states.insert(0, State::at_entry());
    verifier.states.insert(whole.takeover as u64, State::at_takeover());
    while let Some(at) = verifier.waiting.pop() {
        verifier.step(at)?;
    }
    verifier.check_layout()?;
    Ok(verifier)
}

struct Verifier<'a> {
    code: &'a [u8],
    takeover: u64,
    /// The abstract state before each reachable instruction.
    states: BTreeMap<u64, State>,
    /// Each reachable instruction.
    instructions: BTreeMap<u64, Instruction>,
    waiting: Vec<u64>,
    /// Addresses and sizes of what is loaded from the code.
    constants: BTreeMap<u64, u64>,
    helpers: Helpers,
    information: InstructionInfoFactory,
}

impl Verifier<'_> {
    fn step(&mut self, at: u64) -> Result<(), String> {
        let instruction = self.decode(at)?;
        let mut state = self.states[&at].clone();
        let refuse = |problem: &str| Err(format!("{instruction} at {at}: {problem}"));
        if let Some(problem) = unsupported::problem(&instruction) {
            return refuse(problem);
        }
        if let Err(problem) = self.check_memory(&instruction, &state) {
            return refuse(problem);
        }
        let next = instruction.next_ip();
        match instruction.flow_control() {
            FlowControl::Next => {
                if let Err(problem) = self.transfer(&instruction, &mut state) {
                    return refuse(problem);
                }
                if state.get(Register::RSP) != Value::Stack {
                    return refuse("a crooked stack");
                }
                self.flow(next, state)
            }
            FlowControl::UnconditionalBranch => self.flow(instruction.near_branch_target(), state),
            FlowControl::ConditionalBranch => {
                self.flow(instruction.near_branch_target(), state.clone())?;
                state.not_equal(instruction.mnemonic() == Mnemonic::Je);
                self.flow(next, state)
            }
            FlowControl::IndirectBranch => match state.leaves_to(&instruction) {
                true => Ok(()),
                false => refuse("a jump to an unknown address"),
            },
            FlowControl::IndirectCall => match state.call(&instruction) {
                Some(helper) => {
                    self.helpers.insert(helper);
                    self.flow(next, state)
                }
                None => refuse("a call of an unknown address"),
            },
            FlowControl::Return => match state.returns() {
                true => Ok(()),
                false => refuse("a return with a changed stack or register"),
            },
            _ => refuse("an instruction that no program needs"),
        }
    }

    fn decode(&mut self, at: u64) -> Result<Instruction, String> {
        if let Some(found) = self.instructions.get(&at) {
            return Ok(*found);
        }
        let bytes = usize::try_from(at).ok().and_then(|start| self.code.get(start..));
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
            return Err(format!("a branch to {at}, outside the code"));
        };
        let instruction = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(format!("no instruction at {at}"));
        }
        self.instructions.insert(at, instruction);
        Ok(instruction)
    }

    /// Adds what is known on a path to an instruction.
    fn flow(&mut self, to: u64, state: State) -> Result<(), String> {
        let joined = match self.states.get(&to) {
            Some(known) => {
                let joined = known.join(&state).ok_or(format!("two stacks at {to}"))?;
                if joined == *known {
                    return Ok(());
                }
                joined
            }
            None => state,
        };
        self.states.insert(to, joined);
        self.waiting.push(to);
        Ok(())
    }

    /// Checks each access to memory, other than by instructions that only push and pop.
    fn check_memory(
        &mut self,
        instruction: &Instruction,
        state: &State,
    ) -> Result<(), &'static str> {
        let is_stack = matches!(
            instruction.mnemonic(),
            Mnemonic::Push | Mnemonic::Pop | Mnemonic::Call | Mnemonic::Ret
        );
        if is_stack {
            return Ok(());
        }
        let information = self.information.info(instruction);
        for access in information.used_memory() {
            // Prefetching an address never faults.
            if access.access() == OpAccess::NoMemAccess {
                continue;
            }
            let writes = writes(access.access());
            let size = access.memory_size().size() as u64;
            let aligned = matches!(instruction.mnemonic(), Mnemonic::Movaps);
            let offset = access.displacement();
            if matches!(access.base(), Register::RIP) || instruction.is_ip_rel_memory_operand() {
                let address = instruction.ip_rel_memory_address();
                let expected = match instruction.mnemonic() {
                    Mnemonic::Ldmxcsr if is_control(self.code, address) => 4,
                    Mnemonic::Ldmxcsr => return Err("reserved bits of MXCSR"),
                    _ => 16,
                };
                if writes || size != expected || !address.is_multiple_of(size) {
                    return Err("an access to the code");
                }
                self.constants.insert(address, size);
                continue;
            }
            let index = match access.index() {
                Register::None => 0,
                register if access.scale() == 1 => match state.get(register) {
                    Value::Masked(most) => u64::from(most),
                    _ => return Err("an index that is not masked"),
                },
                _ => return Err("an index with a scale"),
            };
            // The mask clears the low bits, so all that matters is in the offset.
            let is_aligned = !aligned || offset.is_multiple_of(16) && index.is_multiple_of(16);
            let end = offset.checked_add(index).and_then(|sum| sum.checked_add(size));
            // Without a size: a repeated instruction, or one that saves what the processor has.
            let Some(end) = end.filter(|_| is_aligned && size > 0) else {
                return Err("a crooked address");
            };
            let allowed = match state.get(access.base()) {
                Value::Stack => index == 0 && state.has_slot(offset, size),
                Value::Lane => index == 0 && end <= size_of::<Lane>() as u64,
                Value::Scratchpad => end <= SCRATCHPAD_L3 as u64,
                Value::Items => index <= LAST_ITEM && offset + size <= ITEM_SIZE as u64 && !writes,
                Value::Item => index == 0 && end <= ITEM_SIZE as u64 && !writes,
                Value::Link | Value::EarlierLink => index == 0 && end <= LINK_SIZE && !writes,
                _ => false,
            };
            if !allowed {
                return Err("an access outside of what the code may access");
            }
        }
        Ok(())
    }

    /// Computes what registers and the stack hold after an instruction.
    fn transfer(
        &mut self,
        instruction: &Instruction,
        state: &mut State,
    ) -> Result<(), &'static str> {
        let (first, second) = (instruction.op0_register(), instruction.op1_register());
        let loads = instruction.op1_kind() == OpKind::Memory;
        let offset = instruction.memory_displacement64();
        let base = if loads { state.get(instruction.memory_base()) } else { Value::Unknown };
        let compares = instruction.mnemonic() == Mnemonic::Cmp
            && base == Value::Stack
            && state.slot(offset) == Some(Value::LastLink)
            && state.get(first) == Value::Link;
        let known = match (instruction.mnemonic(), instruction.code()) {
            (Mnemonic::Push, _) => {
                state.push(state.get(first));
                return Ok(());
            }
            (Mnemonic::Pop, _) => {
                let value = state.pop().ok_or("the stack is empty")?;
                state.set(first, value);
                return Ok(());
            }
            (Mnemonic::Sub, _) if first == Register::RSP => {
                state.forget_comparison();
                return state.grow(constant(instruction).ok_or("a crooked stack")?);
            }
            (Mnemonic::Add, _) if first == Register::RSP => {
                state.forget_comparison();
                return state.shrink(constant(instruction).ok_or("a crooked stack")?);
            }
            (Mnemonic::Mov, Code::Mov_r64_imm64) => {
                Some(Value::Constant(instruction.immediate64()))
            }
            (Mnemonic::Mov, Code::Mov_r64_rm64) if loads => match base {
                Value::Link | Value::EarlierLink => Some(Value::of_link(offset)),
                Value::Stack => state.slot(offset),
                _ => None,
            },
            (Mnemonic::Mov, Code::Mov_r64_rm64 | Code::Mov_rm64_r64)
                if instruction.op0_kind() == OpKind::Register =>
            {
                match state.get(second) {
                    // The caller's item is the first that it passed.
                    Value::Items => Some(Value::Item),
                    value => Some(value),
                }
            }
            (Mnemonic::Mov, _) if instruction.op0_kind() == OpKind::Memory => {
                if state.get(instruction.memory_base()) == Value::Stack {
                    state.forget(offset, instruction.memory_size().size() as u64);
                    if instruction.code() == Code::Mov_rm64_r64 && offset.is_multiple_of(8) {
                        state.set_slot(offset, state.get(second));
                    }
                }
                return Ok(());
            }
            (Mnemonic::Lea, _) => {
                let index = state.get(instruction.memory_index());
                let masked = matches!(index, Value::Masked(most) if u64::from(most) <= LAST_ITEM);
                let is_item = state.get(instruction.memory_base()) == Value::Items;
                let plain = instruction.memory_index_scale() == 1 && offset == 0;
                (is_item && masked && plain && first.is_gpr64()).then_some(Value::Item)
            }
            (Mnemonic::And, _) if first.is_gpr32() => {
                constant(instruction).and_then(|mask| u32::try_from(mask).ok()).map(Value::Masked)
            }
            // From one link to the next, once this one is not the last.
            (Mnemonic::Add, _) if state.get(first) == Value::EarlierLink && first.is_gpr64() => {
                match constant(instruction) {
                    Some(LINK_SIZE) => Some(Value::Link),
                    _ => return Err("a step between links of another size"),
                }
            }
            _ => None,
        };
        let information = self.information.info(instruction);
        for access in information.used_memory() {
            if writes(access.access()) && state.get(access.base()) == Value::Stack {
                state.forget(access.displacement(), access.memory_size().size() as u64);
            }
        }
        for used in information.used_registers() {
            if writes(used.access()) {
                state.set(used.register(), Value::Unknown);
            }
        }
        if let Some(value) = known {
            state.set(first, value);
        }
        if instruction.rflags_modified() != 0 {
            state.forget_comparison();
        }
        if compares {
            state.compared_with_last(first);
        }
        Ok(())
    }

    /// Instructions do not overlap, nor with constants. The takeover is one of them.
    fn check_layout(&self) -> Result<(), String> {
        let mut end = 0;
        for (&at, instruction) in &self.instructions {
            if at < end {
                return Err(format!("{instruction} at {at} is inside another instruction"));
            }
            end = instruction.next_ip();
            let mut constants = self.constants.range(at.saturating_sub(15)..end);
            if constants.any(|(start, size)| start + size > at) {
                return Err(format!("{instruction} at {at} is read as a constant"));
            }
        }
        if end > self.code.len() as u64 {
            return Err("an instruction goes beyond the code".to_owned());
        }
        let last = self.constants.last_key_value().map_or(0, |(last, size)| last + size);
        match last <= self.code.len() as u64 && self.instructions.contains_key(&self.takeover) {
            true => Ok(()),
            false => Err("a constant or the takeover is outside the code".to_owned()),
        }
    }
}

/// Returns whether the code has a value of MXCSR at an address, without reserved bits.
fn is_control(code: &[u8], address: u64) -> bool {
    let bytes = usize::try_from(address).ok().and_then(|start| code.get(start..));
    let value = bytes.and_then(<[u8]>::first_chunk::<4>);
    value.is_some_and(|value| u32::from_le_bytes(*value) <= 0xffff)
}

/// Returns the second operand, if it is part of the instruction.
fn constant(instruction: &Instruction) -> Option<u64> {
    instruction.try_immediate(1).ok()
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

#[cfg(test)]
mod tests;
