//! SuperscalarHash instructions as text.

use randomx::superscalar::{Instruction, Kind};

use crate::names::kind_name;

/// Returns the name and operands of an instruction, such as `IADD_RS r3, r6, SHFT 2`.
pub fn superscalar_text(instruction: &Instruction) -> String {
    let Instruction { kind, dst, src, modifier, imm32 } = *instruction;
    let operand = match kind {
        Kind::IaddRs => format!("r{src}, SHFT {}", modifier >> 2 & 3),
        Kind::IsubR | Kind::IxorR | Kind::ImulR | Kind::ImulhR | Kind::IsmulhR => format!("r{src}"),
        Kind::IrorC | Kind::ImulRcp => imm32.to_string(),
        Kind::IaddC7 | Kind::IxorC7 | Kind::IaddC8 | Kind::IxorC8 | Kind::IaddC9 | Kind::IxorC9 => {
            (imm32 as i32).to_string()
        }
    };
    format!("{} r{dst}, {operand}", kind_name(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_follow_the_specification() {
        let text = |kind| {
            let (modifier, imm32) = (0b1000, u32::MAX);
            superscalar_text(&Instruction { kind, dst: 1, src: 2, modifier, imm32 })
        };
        assert_eq!(text(Kind::IaddRs), "IADD_RS r1, r2, SHFT 2");
        assert_eq!(text(Kind::ImulhR), "IMULH_R r1, r2");
        assert_eq!(text(Kind::IxorC9), "IXOR_C9 r1, -1");
        assert_eq!(text(Kind::ImulRcp), "IMUL_RCP r1, 4294967295");
    }
}
