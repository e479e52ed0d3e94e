//! The operands of all instruction words.

use super::*;

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
                // The lowest bit that is tested is set, so that a branch is not taken twice.
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
