//! Templates give the code of the assembler.

use super::*;
use crate::jit::x86_64::program::ModeLoads;

fn features(avx512: bool, bmi2: bool) -> Features {
    Features { aes: true, avx512, bmi2, loads: ModeLoads::One }
}

/// Without this test, a table without templates would compile the same programs slowly.
#[test]
fn most_instructions_have_templates() {
    for (avx512, bmi2) in [(false, false), (false, true), (true, true)] {
        let templates = Templates::of(features(avx512, bmi2));
        let served = templates.kinds.iter().map(|kind| kind.served.count_ones());
        let share = f64::from(served.sum::<u32>()) / (256.0 * 64.0);
        assert!(share > 0.82, "{avx512} {bmi2}: {share}");
    }
}

#[test]
fn templates_give_the_code_of_the_assembler() {
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        seed >> 32
    };
    for (avx512, bmi2) in [(false, false), (false, true), (true, true)] {
        let features = features(avx512, bmi2);
        let templates = Templates::of(features);
        let mut served = 0;
        for _ in 0..20_000 {
            let [opcode, dst, src, modifier, ..] = random().to_le_bytes();
            // Not a constant that fits into a byte: the assembler shortens it, a template does not.
            let word = Instruction {
                opcode,
                dst,
                src,
                modifier,
                imm32: random() as u32 & 0x7fff_ffff | 0x0001_0000,
            };
            let Some((words, length, _)) = templates.fill(&word) else { continue };
            served += 1;
            let mut assembler = Assembler::new(64);
            emit_one_by_one(&mut assembler, &[word], Version::V2, features, Modes::One)
                .expect("code");
            let code = assembler.finish().expect("a short instruction");
            let bytes = words.map(u64::to_le_bytes);
            let (filled, rest) = bytes.as_flattened().split_at(length.into());
            // The next instruction overwrites the bytes after the code.
            assert_eq!((filled, rest.len()), (code, 24 - code.len()), "{word:?}");
        }
        assert!(served > 15_000, "{served}");
    }
}
