//! Programs as text, with the specification's names and operands.

use std::fmt::Write;

use randomx::program::{Instruction, Opcode, Operation, Program, Sink, decode_dyn};
use randomx::scratchpad::L3_MASK;

use crate::names::opcode_name;

/// An instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The operation.
    pub opcode: Opcode,
    /// The name and operands, such as `IADD_M r3, L1[r6-1287]`.
    pub text: String,
    /// For a branch, the index of the instruction that it jumps to when taken.
    pub target: Option<usize>,
    /// Whether the instruction has no effect, such as ISWAP_R of a register with itself.
    pub is_nop: bool,
}

/// Returns the instructions of a program, in order.
pub fn listing(program: &Program) -> Vec<Line> {
    let mut operations = Operations(Vec::with_capacity(program.instructions.len()));
    decode_dyn(&program.instructions, program.version, &mut operations);
    program.instructions.iter().zip(operations.0).map(|(word, o)| line(word, o)).collect()
}

struct Operations(Vec<Operation>);

impl Sink for Operations {
    fn operation(&mut self, operation: Operation) {
        self.0.push(operation);
    }
}

fn line(word: &Instruction, operation: Operation) -> Line {
    let target = match operation {
        Operation::Cbranch { target, .. } => Some(usize::from(target)),
        _ => None,
    };
    let opcode = word.opcode();
    let mut text = String::from(opcode_name(opcode));
    // Writing to a string does not fail.
    let _ = write!(text, " {}", operands(word, opcode));
    Line { opcode, text, target, is_nop: operation == Operation::Nop }
}

fn operands(word: &Instruction, opcode: Opcode) -> String {
    let (dst, src) = (word.dst & 7, word.src & 7);
    let (float_dst, float_src) = (word.dst & 3, word.src & 3);
    let immediate = word.imm32 as i32;
    let level = if word.mod_mem() == 0 { "L2" } else { "L1" };
    let at = |level: &str, register: u8| format!("{level}[r{register}{immediate:+}]");
    let same = dst == src;
    match opcode {
        // Only r5 has a displacement (specification 5.2.1).
        Opcode::IaddRs if dst == 5 => {
            format!("r{dst}, r{src}, {immediate}, SHFT {}", word.mod_shift())
        }
        Opcode::IaddRs => format!("r{dst}, r{src}, SHFT {}", word.mod_shift()),
        Opcode::IaddM
        | Opcode::IsubM
        | Opcode::ImulM
        | Opcode::ImulhM
        | Opcode::IsmulhM
        | Opcode::IxorM => match same {
            true => format!("r{dst}, L3[{}]", word.imm32 & L3_MASK),
            false => format!("r{dst}, {}", at(level, src)),
        },
        Opcode::IsubR | Opcode::ImulR | Opcode::IxorR if same => format!("r{dst}, {immediate}"),
        Opcode::IrorR | Opcode::IrolR if same => format!("r{dst}, {}", immediate & 63),
        Opcode::IsubR
        | Opcode::ImulR
        | Opcode::IxorR
        | Opcode::IrorR
        | Opcode::IrolR
        | Opcode::ImulhR
        | Opcode::IsmulhR
        | Opcode::IswapR => format!("r{dst}, r{src}"),
        Opcode::ImulRcp => format!("r{dst}, {}", word.imm32),
        Opcode::InegR => format!("r{dst}"),
        Opcode::FswapR if word.dst & 4 == 0 => format!("f{float_dst}"),
        Opcode::FswapR | Opcode::FsqrtR => format!("e{float_dst}"),
        Opcode::FaddR | Opcode::FsubR => format!("f{float_dst}, a{float_src}"),
        Opcode::FaddM | Opcode::FsubM => format!("f{float_dst}, {}", at(level, src)),
        Opcode::FscalR => format!("f{float_dst}"),
        Opcode::FmulR => format!("e{float_dst}, a{float_src}"),
        Opcode::FdivM => format!("e{float_dst}, {}", at(level, src)),
        Opcode::Cbranch => format!("r{dst}, {immediate}, COND {}", word.mod_cond()),
        Opcode::Cfround => format!("r{src}, {}", immediate & 63),
        Opcode::Istore => {
            let level = if word.mod_cond() >= 14 { "L3" } else { level };
            format!("{}, r{src}", at(level, dst))
        }
    }
}
