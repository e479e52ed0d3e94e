//! The operands of all instruction words.

use bytemuck::Zeroable;

use super::*;
use crate::params::JUMP_BITS;

/// Checks the operands of each operation.
#[derive(Default)]
struct Bounds {
    operations: u64,
}

impl Sink for Bounds {
    fn operation(&mut self, operation: Operation) {
        use Operation::*;
        let index = self.operations;
        self.operations += 1;
        let (registers, address) = match operation {
            IaddM { dst, address }
            | IsubM { dst, address }
            | ImulM { dst, address }
            | ImulhM { dst, address }
            | IsmulhM { dst, address }
            | IxorM { dst, address } => ([dst, 0], Some(address)),
            FaddM { dst, address } | FsubM { dst, address } | FdivM { dst, address } => {
                assert!(dst < 4);
                ([0; 2], Some(address))
            }
            Istore { src, address } => {
                assert!(address.register < ZERO_REGISTER, "a store has no constant address");
                ([src, 0], Some(address))
            }
            FaddR { dst, src } | FsubR { dst, src } | FmulR { dst, src } => {
                assert!(dst < 4 && src < 4);
                ([0; 2], None)
            }
            FswapF { dst } | FswapE { dst } | FscalR { dst } | FsqrtR { dst } => {
                assert!(dst < 4);
                ([0; 2], None)
            }
            IaddRs { dst, src, shift, .. } => {
                assert!(shift < 4);
                ([dst, src], None)
            }
            IsubR { dst, src }
            | ImulR { dst, src }
            | ImulhR { dst, src }
            | IsmulhR { dst, src }
            | IxorR { dst, src }
            | IrorR { dst, src }
            | IrolR { dst, src }
            | IswapR { dst, src } => ([dst, src], None),
            IsubC { dst, .. } | ImulC { dst, .. } | InegR { dst } | IxorC { dst, .. } => {
                ([dst, 0], None)
            }
            IrorC { dst, count } => {
                assert!(count < 64);
                ([dst, 0], None)
            }
            Cbranch { dst, constant, shift, target } => {
                assert!((8..24).contains(&shift) && u64::from(target) <= index);
                // The lowest bit that is tested is set and the bit below is not, so that a branch is taken at most
                // twice in a row.
                assert_eq!(constant >> (shift - 1) & 3, 2);
                ([dst, 0], None)
            }
            Cfround { src, count, .. } => {
                assert!(count < 64);
                ([src, 0], None)
            }
            Nop => ([0; 2], None),
        };
        assert!(registers.iter().all(|&register| register < 8), "{operation:?}");
        if let Some(Address { register, mask, .. }) = address {
            assert!(register <= ZERO_REGISTER, "{operation:?}");
            assert!([L1_MASK, L2_MASK, L3_MASK].contains(&mask), "{operation:?}");
        }
    }
}

/// All words, except that immediates are edge cases.
#[test]
fn operands_of_every_word_are_in_range() {
    let immediates = [0, 1, 3, 63, i32::MAX as u32, i32::MIN as u32, u32::MAX];
    let mut operations = 0;
    for opcode in 0..=255 {
        for registers in 0..=u8::MAX {
            // Bits beyond the low ones do not count.
            let (dst, src) = (registers & 15, registers >> 4 | registers << 4 & 0x80);
            let words = (0..=255).map(|modifier| {
                let imm32 = immediates[usize::from(modifier ^ registers) % immediates.len()];
                Instruction { opcode, dst, src, modifier, imm32 }
            });
            let words: Vec<Instruction> = words.collect();
            for version in Version::ALL {
                let mut bounds = Bounds::default();
                decode_dyn(&words, version, &mut bounds);
                operations += bounds.operations;
            }
        }
    }
    assert_eq!(operations, 2 << 24);
}

/// Keeps the operation that it received last.
struct Last(Operation);

impl Sink for Last {
    fn operation(&mut self, operation: Operation) {
        self.0 = operation;
    }
}

/// Edge cases of the bits that are tested and of those below, in the constant and in the register.
#[test]
fn branches_are_taken_at_most_twice_in_a_row() {
    let word = |opcode| Instruction { opcode, ..Instruction::zeroed() };
    let branch = (0..=255).map(word).find(|word| word.opcode() == Opcode::Cbranch);
    let branch = branch.expect("an opcode of branches");
    let mut most = 0;
    for modifier in (0..=255).step_by(16) {
        let shift = u32::from(modifier >> 4) + JUMP_OFFSET;
        let below = [0, 1, (1 << (shift - 1)) - 1, 1 << (shift - 1), (1 << shift) - 1];
        let immediates = [0, 1, 254, 255].map(|tested| below.map(|low| tested << shift | low));
        for imm32 in immediates.into_iter().flatten() {
            let word = Instruction { modifier, imm32, ..branch };
            let mut last = Last(Operation::Nop);
            decode_dyn(&[word], Version::V2, &mut last);
            let Operation::Cbranch { constant, shift, .. } = last.0 else { panic!("{word:?}") };
            let step = constant as u64;
            for after in below {
                // The first addition clears the tested bits.
                let mut register = u64::from(after).wrapping_sub(step);
                let mut is_taken = || {
                    register = register.wrapping_add(step);
                    register >> shift & ((1 << JUMP_BITS) - 1) == 0
                };
                most = most.max((0..5).take_while(|_| is_taken()).count());
            }
        }
    }
    assert_eq!(most, 2);
}
