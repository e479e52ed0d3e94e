//! Instruction words and opcodes (specification 5.1).

/// An instruction word of 8 bytes. Every word is a valid instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
pub struct Instruction {
    /// The byte that selects one of the 29 operations.
    pub opcode: u8,
    /// The destination register; only its low bits count.
    pub dst: u8,
    /// The source register; only its low bits count.
    pub src: u8,
    /// The `mod` field (Table 5.1.3).
    pub modifier: u8,
    /// The immediate operand.
    pub imm32: u32,
}

impl Instruction {
    /// Parses an instruction word.
    #[cfg(feature = "internals")]
    pub fn from_bytes(bytes: &[u8; 8]) -> Instruction {
        let [opcode, dst, src, modifier, imm @ ..] = *bytes;
        Instruction { opcode, dst, src, modifier, imm32: u32::from_le_bytes(imm) }
    }

    /// Returns the operation that the opcode byte selects.
    pub fn opcode(&self) -> Opcode {
        OPCODES[usize::from(self.opcode)]
    }

    /// Returns `mod.mem`: 0 selects L2, other values L1.
    pub fn mod_mem(&self) -> u8 {
        self.modifier & 3
    }

    /// Returns `mod.shift`.
    pub fn mod_shift(&self) -> u8 {
        self.modifier >> 2 & 3
    }

    /// Returns `mod.cond`.
    pub fn mod_cond(&self) -> u8 {
        self.modifier >> 4
    }
}

/// Defines `Opcode` and the table of all 256 opcode bytes from the instructions' frequencies.
macro_rules! opcodes {
    ($($opcode:ident = $frequency:literal),* $(,)?) => {
        /// The 29 operations, in the order in which the opcode bytes are distributed.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Opcode {
            $($opcode),*
        }

        impl Opcode {
            /// All operations, each with the number of opcode bytes, of 256, that select it.
            pub const FREQUENCIES: &[(Opcode, usize)] = &[$((Opcode::$opcode, $frequency)),*];
        }
    };
}

opcodes! {
    IaddRs = 16, IaddM = 7, IsubR = 16, IsubM = 7, ImulR = 16, ImulM = 4, ImulhR = 4, ImulhM = 1,
    IsmulhR = 4, IsmulhM = 1, ImulRcp = 8, InegR = 2, IxorR = 15, IxorM = 5, IrorR = 8, IrolR = 2,
    IswapR = 4, FswapR = 4, FaddR = 16, FaddM = 5, FsubR = 16, FsubM = 5, FscalR = 6, FmulR = 32,
    FdivM = 4, FsqrtR = 6, Cbranch = 25, Cfround = 1, Istore = 16,
}

const OPCODES: [Opcode; 256] = {
    let mut table = [Opcode::IaddRs; 256];
    let (mut byte, mut i) = (0, 0);
    while i < Opcode::FREQUENCIES.len() {
        let (opcode, frequency) = Opcode::FREQUENCIES[i];
        let end = byte + frequency;
        while byte < end {
            table[byte] = opcode;
            byte += 1;
        }
        i += 1;
    }
    assert!(byte == table.len(), "the frequencies add up to 256");
    table
};
