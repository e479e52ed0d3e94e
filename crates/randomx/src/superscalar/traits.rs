//! What tells the operations apart for the generator (specifications 6.3.2 and 6.3.3).

use super::Kind;

/// What the rules tell apart about an operation, looked up rather than branched on.
#[derive(Clone, Copy)]
pub(super) struct Traits {
    /// The operation that it counts as.
    pub(super) group: Kind,
    /// Bytes drawn when it is created, and what of them becomes which field.
    pub(super) drawn: usize,
    pub(super) modifier_mask: u32,
    pub(super) imm32_mask: u32,
    /// What a number must be to be kept; others are drawn again.
    pub(super) needs: Needs,
    /// Whether a random number is its parameter, and its source may be its destination.
    pub(super) is_high: bool,
    pub(super) is_multiplication: bool,
}

/// Which immediate operands an operation can take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    NotZero,
    Reciprocal,
}

impl Traits {
    /// Those of an instruction that there is not.
    pub(super) const NONE: Traits = traits(Kind::IsubR);

    #[inline]
    pub(super) fn of(kind: Kind) -> &'static Traits {
        static TRAITS: [Traits; Kind::ALL.len()] = {
            let mut table = [Traits::NONE; Kind::ALL.len()];
            let mut i = 0;
            while i < table.len() {
                table[Kind::ALL[i] as usize] = traits(Kind::ALL[i]);
                i += 1;
            }
            table
        };
        &TRAITS[kind as usize]
    }
}

const fn traits(kind: Kind) -> Traits {
    let plain = Traits {
        group: kind,
        drawn: 0,
        modifier_mask: 0,
        imm32_mask: 0,
        needs: Needs::Nothing,
        is_high: false,
        is_multiplication: false,
    };
    let constant = Traits { drawn: 4, imm32_mask: u32::MAX, ..plain };
    match kind {
        Kind::IsubR => Traits { group: Kind::IaddRs, ..plain },
        Kind::IxorR => plain,
        Kind::IaddRs => Traits { drawn: 1, modifier_mask: 0xff, ..plain },
        Kind::ImulR => Traits { is_multiplication: true, ..plain },
        Kind::IrorC => Traits { drawn: 1, imm32_mask: 63, needs: Needs::NotZero, ..plain },
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => Traits { group: Kind::IaddC7, ..constant },
        Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => Traits { group: Kind::IxorC7, ..constant },
        Kind::ImulhR | Kind::IsmulhR => {
            Traits { drawn: 4, is_high: true, is_multiplication: true, ..plain }
        }
        Kind::ImulRcp => Traits { needs: Needs::Reciprocal, is_multiplication: true, ..constant },
    }
}
