//! Instructions that do more than the verifier computes. The compiler emits none of these.

use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};

/// Returns why the verifier cannot compute all that an instruction does, if it cannot.
pub(super) fn problem(instruction: &Instruction) -> Option<&'static str> {
    let base = instruction.memory_base();
    let segment = instruction.segment_prefix();
    if names_stack(instruction) {
        return Some("a use of the stack pointer other than to move it by a constant");
    }
    if !is_plain(instruction) {
        return Some("a form of an instruction that no program needs");
    }
    if matches!(segment, Register::FS | Register::GS) || base.is_gpr32() {
        return Some("an address with a segment or a 32-bit base");
    }
    None
}

/// Whether an instruction has the stack's register as an operand, other than to move it by a constant.
fn names_stack(instruction: &Instruction) -> bool {
    let moves = matches!(instruction.mnemonic(), Mnemonic::Add | Mnemonic::Sub)
        && instruction.op0_register() == Register::RSP
        && instruction.try_immediate(1).is_ok();
    let mut operands = 0..instruction.op_count();
    !moves
        && operands.any(|operand| {
            instruction.op_kind(operand) == OpKind::Register
                && instruction.op_register(operand).full_register() == Register::RSP
        })
}

/// Whether an instruction that changes the stack or branches is of the one form that programs have.
fn is_plain(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Push => instruction.code() == Code::Push_r64,
        Mnemonic::Pop => instruction.code() == Code::Pop_r64,
        Mnemonic::Ret => instruction.code() == Code::Retnq,
        // These change RCX.
        Mnemonic::Loop | Mnemonic::Loope | Mnemonic::Loopne => false,
        _ => true,
    }
}
