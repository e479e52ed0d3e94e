//! The text of instructions.

use randomx::Version;
use randomx::program::{Configuration, Instruction, Opcode, Program};
use randomx_figures::listing;

/// Returns an instruction with the first opcode byte of an operation.
fn word(opcode: Opcode, dst: u8, src: u8, modifier: u8, imm32: i32) -> Instruction {
    let before = Opcode::FREQUENCIES.iter().take_while(|(other, _)| *other != opcode);
    let byte: usize = before.map(|(_, frequency)| frequency).sum();
    Instruction { opcode: byte as u8, dst, src, modifier, imm32: imm32 as u32 }
}

#[test]
fn operands_and_targets_follow_the_specification() {
    let cases = [
        (word(Opcode::IaddRs, 1, 2, 0b1100, 9), "IADD_RS r1, r2, SHFT 3"),
        (word(Opcode::IaddRs, 5, 2, 0, -9), "IADD_RS r5, r2, -9, SHFT 0"),
        (word(Opcode::IaddM, 11, 4, 1, -8), "IADD_M r3, L1[r4-8]"),
        (word(Opcode::IsubM, 3, 4, 0, 8), "ISUB_M r3, L2[r4+8]"),
        (word(Opcode::ImulhM, 3, 3, 0, -1), "IMULH_M r3, L3[2097144]"),
        (word(Opcode::IsubR, 3, 3, 0, -1), "ISUB_R r3, -1"),
        (word(Opcode::IxorR, 3, 2, 0, -1), "IXOR_R r3, r2"),
        (word(Opcode::IrolR, 3, 3, 0, 65), "IROL_R r3, 1"),
        (word(Opcode::ImulRcp, 3, 3, 0, -1), "IMUL_RCP r3, 4294967295"),
        (word(Opcode::ImulRcp, 3, 3, 0, 64), "IMUL_RCP r3, 64"),
        (word(Opcode::FswapR, 2, 0, 0, 0), "FSWAP_R f2"),
        (word(Opcode::FswapR, 6, 0, 0, 0), "FSWAP_R e2"),
        (word(Opcode::FaddM, 6, 7, 3, 1), "FADD_M f2, L1[r7+1]"),
        (word(Opcode::FmulR, 6, 7, 0, 0), "FMUL_R e2, a3"),
        (word(Opcode::FdivM, 6, 7, 0, 0), "FDIV_M e2, L2[r7+0]"),
        (word(Opcode::Cfround, 6, 7, 0, 67), "CFROUND r7, 3"),
        (word(Opcode::Istore, 6, 7, 0xd0, 5), "ISTORE L2[r6+5], r7"),
        (word(Opcode::Istore, 6, 7, 0xe1, 5), "ISTORE L3[r6+5], r7"),
        (word(Opcode::Cbranch, 3, 0, 0x40, -7), "CBRANCH r3, -7, COND 4"),
    ];
    let program = Program {
        version: Version::V1,
        configuration: Configuration::ZERO,
        instructions: cases.iter().map(|(word, _)| *word).collect(),
    };
    let lines = listing(&program);
    for (line, (_, expected)) in lines.iter().zip(&cases) {
        assert_eq!(line.text, *expected);
    }
    // The last instruction that writes r3 is IMUL_RCP with an immediate that is no power of two.
    assert_eq!(lines.last().and_then(|line| line.target), Some(9));
    let nops: Vec<usize> = (0..lines.len()).filter(|&index| lines[index].is_nop).collect();
    assert_eq!(nops, [9]);
}
