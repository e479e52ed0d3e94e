//! How code sets the rounding mode.
//!
//! Some processors seem to predict, for each `ldmxcsr`, what it loads into MXCSR. Programs of v1 change the mode at random,
//! and a failed prediction takes longer than a mispredicted branch. With an `ldmxcsr` for each mode, which always loads the
//! same value, only the branches between them are mispredicted. `docs/performance.md` has the measurements.

mod fastest;

use std::mem::offset_of;

use super::mxcsr::{MXCSR, ROUNDING_CONTROL};
use super::registers::LANE;
use crate::engine::Lane;
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Label, Mem};

/// The number of instructions that load MXCSR, wherever the mode changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeLoads {
    /// One, which loads any mode.
    One,
    /// Four, one for each mode. Branches select one of them.
    Four,
}

impl ModeLoads {
    /// Both kinds. The first is usual.
    pub const ALL: [ModeLoads; 2] = [ModeLoads::One, ModeLoads::Four];

    /// Returns the kind that is faster on this processor. The first call measures both, in some milliseconds. If the
    /// system refuses memory for that, the result is one load, and the next call measures. A system that forbids pages to
    /// become executable, such as one with `MemoryDenyWriteExecute=`, refuses it each time.
    pub fn fastest() -> ModeLoads {
        fastest::fastest()
    }

    /// A name for users.
    pub fn name(self) -> &'static str {
        match self {
            ModeLoads::One => "one load",
            ModeLoads::Four => "four loads",
        }
    }
}

/// Emits changes of the rounding mode.
#[derive(Clone, Copy)]
pub(super) enum Modes {
    /// For [`ModeLoads::One`].
    One,
    /// For [`ModeLoads::Four`]. The label is that of MXCSR's values for the four modes, in the order of `fprc`.
    Four(Label),
}

/// The field of the lane that keeps MXCSR for its next turn.
const CONTROL: Mem = Mem::new(LANE, offset_of!(Lane, control) as i32);

impl Modes {
    /// Emits the constants that changes of the mode load.
    pub(super) fn emit(assembler: &mut Assembler, loads: ModeLoads) -> Modes {
        match loads {
            ModeLoads::One => Modes::One,
            ModeLoads::Four => {
                let values = assembler.label();
                assembler.bind(values);
                for pair in [[0, 1], [2, 3]] {
                    let [low, high] = pair.map(|mode| u64::from(MXCSR | mode << ROUNDING_CONTROL));
                    assembler.data(low | high << 32);
                }
                Modes::Four(values)
            }
        }
    }

    /// Emits a change to the lane's mode at the start of its turn. It overwrites `rax`.
    pub(super) fn resume(self, assembler: &mut Assembler) {
        if let Modes::Four(_) = self {
            assembler.mov32(Gpr::Rax, CONTROL);
        }
        self.load(assembler);
    }

    /// Emits a change to the mode in `rax`, where it is at its position in MXCSR, among other bits.
    #[inline(always)]
    pub(super) fn change(self, assembler: &mut Assembler) {
        assembler.and32(Gpr::Rax, 3 << ROUNDING_CONTROL);
        assembler.or32(Gpr::Rax, MXCSR as i32);
        assembler.store32(CONTROL, Gpr::Rax);
        self.load(assembler);
    }

    /// Emits a load of MXCSR, whose new value is in the lane and, for four loads, in `eax`. Four loads overwrite `rax`.
    fn load(self, assembler: &mut Assembler) {
        let Modes::Four(values) = self else {
            assembler.ldmxcsr(CONTROL);
            return;
        };
        let value = |mode: u8| Mem::label(values, 4 * i32::from(mode));
        let [one, two, three, end] = [(); 4].map(|()| assembler.label());
        // Moves the mode's higher bit to the carry flag, and the lower one to the sign.
        assembler.shl(Gpr::Rax, 64 - ROUNDING_CONTROL - 1);
        assembler.jcc(Condition::Below, two);
        assembler.jcc(Condition::Sign, one);
        assembler.ldmxcsr(value(0));
        assembler.jmp(end);
        assembler.bind(one);
        assembler.ldmxcsr(value(1));
        assembler.jmp(end);
        assembler.bind(two);
        assembler.jcc(Condition::Sign, three);
        assembler.ldmxcsr(value(2));
        assembler.jmp(end);
        assembler.bind(three);
        assembler.ldmxcsr(value(3));
        assembler.bind(end);
    }
}
