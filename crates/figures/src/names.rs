//! The specification's names of instructions.

use randomx::program::Opcode;
use randomx::superscalar::Kind;

/// Returns the name of an instruction of the VM (specification 5).
pub fn opcode_name(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::IaddRs => "IADD_RS",
        Opcode::IaddM => "IADD_M",
        Opcode::IsubR => "ISUB_R",
        Opcode::IsubM => "ISUB_M",
        Opcode::ImulR => "IMUL_R",
        Opcode::ImulM => "IMUL_M",
        Opcode::ImulhR => "IMULH_R",
        Opcode::ImulhM => "IMULH_M",
        Opcode::IsmulhR => "ISMULH_R",
        Opcode::IsmulhM => "ISMULH_M",
        Opcode::ImulRcp => "IMUL_RCP",
        Opcode::InegR => "INEG_R",
        Opcode::IxorR => "IXOR_R",
        Opcode::IxorM => "IXOR_M",
        Opcode::IrorR => "IROR_R",
        Opcode::IrolR => "IROL_R",
        Opcode::IswapR => "ISWAP_R",
        Opcode::FswapR => "FSWAP_R",
        Opcode::FaddR => "FADD_R",
        Opcode::FaddM => "FADD_M",
        Opcode::FsubR => "FSUB_R",
        Opcode::FsubM => "FSUB_M",
        Opcode::FscalR => "FSCAL_R",
        Opcode::FmulR => "FMUL_R",
        Opcode::FdivM => "FDIV_M",
        Opcode::FsqrtR => "FSQRT_R",
        Opcode::Cbranch => "CBRANCH",
        Opcode::Cfround => "CFROUND",
        Opcode::Istore => "ISTORE",
    }
}

/// Returns the name of an instruction of SuperscalarHash (specification 6.1).
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::IsubR => "ISUB_R",
        Kind::IxorR => "IXOR_R",
        Kind::IaddRs => "IADD_RS",
        Kind::ImulR => "IMUL_R",
        Kind::IrorC => "IROR_C",
        Kind::IaddC7 => "IADD_C7",
        Kind::IxorC7 => "IXOR_C7",
        Kind::IaddC8 => "IADD_C8",
        Kind::IxorC8 => "IXOR_C8",
        Kind::IaddC9 => "IADD_C9",
        Kind::IxorC9 => "IXOR_C9",
        Kind::ImulhR => "IMULH_R",
        Kind::IsmulhR => "ISMULH_R",
        Kind::ImulRcp => "IMUL_RCP",
    }
}

/// Returns the name of macro-op `part`, from 0, of an instruction (specification 6.2, Table 6.2.1).
pub fn macro_op_name(kind: Kind, part: usize) -> &'static str {
    match (kind, part) {
        (Kind::IsubR, _) => "sub_rr",
        (Kind::IxorR, _) => "xor_rr",
        (Kind::IaddRs, _) => "lea_sib",
        (Kind::ImulR, _) => "imul_rr",
        (Kind::IrorC, _) => "ror_ri",
        (Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9, _) => "add_ri",
        (Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9, _) => "xor_ri",
        (Kind::ImulhR, 1) => "mul_r",
        (Kind::IsmulhR, 1) => "imul_r",
        (Kind::ImulhR | Kind::IsmulhR, _) => "mov_rr",
        (Kind::ImulRcp, 0) => "mov_ri",
        (Kind::ImulRcp, _) => "imul_rr",
    }
}
