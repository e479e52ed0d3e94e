//! The properties of operations that the generator uses (specification 6.3.2 and 6.3.3).

use super::Kind;

/// The properties of an operation, in a table so that the generator need not branch.
#[derive(Clone, Copy)]
pub(super) struct Traits {
    /// The operation that it counts as in the operand rules.
    pub(super) group: Kind,
    /// The number of random bytes drawn for it.
    pub(super) drawn: usize,
    /// The bits of the random number that become the `mod` field.
    pub(super) modifier_mask: u32,
    /// The bits of the random number that become the immediate.
    pub(super) imm32_mask: u32,
    /// The random numbers that it accepts. Others are drawn again.
    pub(super) needs: Needs,
    /// Whether its parameter is the random number, and its source may be its destination.
    pub(super) is_high: bool,
    pub(super) is_multiplication: bool,
}

/// The random numbers that an operation accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// All.
    Nothing,
    /// All but 0.
    NotZero,
    /// Those with a reciprocal: all but 0 and powers of two.
    Reciprocal,
}

impl Traits {
    /// A placeholder for an instruction that is never issued.
    pub(super) const NONE: Traits = traits(Kind::IsubR);

    /// Returns the properties of an operation.
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
