//! The state of registers that the choice of operands depends on (specification 6.3.3): when each is
//! ready, and which operation wrote it last.

use super::Kind;

/// The number of cycles in which a search looks for a ready register.
const LOOK_FORWARD_CYCLES: usize = 4;

/// A set of registers, one bit each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Registers(u8);

impl Registers {
    pub(super) const ALL: Registers = Registers(u8::MAX);

    #[inline]
    pub(super) fn without(self, register: u8) -> Registers {
        Registers(self.0 & !(1 << (register & 7)))
    }

    #[inline]
    pub(super) fn difference(self, other: Registers) -> Registers {
        Registers(self.0 & !other.0)
    }

    #[inline]
    pub(super) fn contains(self, register: u8) -> bool {
        self.0 >> (register & 7) & 1 != 0
    }

    #[inline]
    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the register at `index` in the order of the set.
    #[inline]
    pub(super) fn nth(self, index: u32) -> u8 {
        NTH[usize::from(self.0)][index as usize & 7]
    }
}

/// The registers of each set, in order.
static NTH: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut set = 0;
    while set < table.len() {
        let (mut register, mut count) = (0, 0);
        while register < 8 {
            if set >> register & 1 != 0 {
                table[set][count] = register;
                count += 1;
            }
            register += 1;
        }
        set += 1;
    }
    table
};

/// An operation as the operand rules compare it: equal operations in a row could be merged into one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Operation(u64);

impl Operation {
    pub(super) const NONE: Operation = Operation(u64::MAX);

    /// Returns an operation with an immediate operand.
    #[inline]
    pub(super) fn with_constant(group: Kind) -> Operation {
        Operation((group as u64) << 40)
    }

    /// Returns an operation with a source register.
    #[inline]
    pub(super) fn with_source(group: Kind, register: u8) -> Operation {
        Operation((group as u64) << 40 | 1 << 32 | u64::from(register))
    }

    /// Returns an operation that almost never equals another one.
    #[inline]
    pub(super) fn with_random(group: Kind, random: u32) -> Operation {
        Operation((group as u64) << 40 | 2 << 32 | u64::from(random))
    }

    /// Returns whether the operation counts as `group`.
    #[inline]
    pub(super) fn is_in(self, group: Kind) -> bool {
        self.0 >> 40 == group as u64
    }
}

/// The eight registers during the generation of a program.
pub(super) struct Operands {
    /// The cycle in which each is ready, one byte per register.
    ready: u64,
    /// The operation that wrote each register last.
    last: [Operation; 8],
    /// The registers that IMUL_R wrote last.
    multiplied: Registers,
}

const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x80 * EACH_BYTE;

impl Operands {
    pub(super) fn new() -> Operands {
        Operands { ready: 0, last: [Operation::NONE; 8], multiplied: Registers(0) }
    }

    /// Returns the first cycle, from `cycle` on, in which one of `registers` is ready, and those that
    /// are.
    #[inline]
    pub(super) fn first_ready(
        &self,
        registers: Registers,
        cycle: usize,
    ) -> Option<(usize, Registers)> {
        (cycle..cycle + LOOK_FORWARD_CYCLES).find_map(|cycle| {
            let available = Registers(registers.0 & self.ready_at(cycle).0);
            (available.len() > 0).then_some((cycle, available))
        })
    }

    /// The number of cycles that [`first_ready`](Self::first_ready) tries before it returns `None`.
    pub(super) const SEARCH_CYCLES: usize = LOOK_FORWARD_CYCLES;

    #[inline]
    fn ready_at(&self, cycle: usize) -> Registers {
        // Compares the bytes of `now` and `ready`: a high bit of `reached` says that `now` is not
        // less. Cycles can be 128 and more, but are less than 256.
        let now = EACH_BYTE * (cycle as u64 & 0xff);
        let difference = (now | HIGH_BITS).wrapping_sub(self.ready & !HIGH_BITS);
        let reached = (now & !self.ready) | (!(now ^ self.ready) & difference);
        // The product collects these bits in its highest byte.
        let bits = (reached & HIGH_BITS) >> 7;
        Registers((bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8)
    }

    /// Returns the registers that an operation other than `operation` wrote last.
    #[inline]
    pub(super) fn last_written_by_others(&self, operation: Operation) -> Registers {
        let mut others = 0;
        for (register, &last) in self.last.iter().enumerate() {
            others |= u8::from(last != operation) << register;
        }
        Registers(others)
    }

    /// Returns the registers that IMUL_R wrote last.
    #[inline]
    pub(super) fn multiplied(&self) -> Registers {
        self.multiplied
    }

    /// Records that `operation` writes `register`, which is ready again in cycle `ready`.
    #[inline]
    pub(super) fn write(&mut self, register: u8, operation: Operation, ready: usize) {
        let place = 8 * u32::from(register & 7);
        self.ready = self.ready & !(0xff << place) | (ready as u64 & 0xff) << place;
        self.last[usize::from(register & 7)] = operation;
        let bit = u8::from(operation.is_in(Kind::ImulR)) << (register & 7);
        self.multiplied = Registers(self.multiplied.without(register).0 | bit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_ready_from_their_cycle_on() {
        let mut operands = Operands::new();
        for ready in 0..200 {
            operands.write(ready as u8 % 8, Operation::NONE, ready);
            for cycle in 0..200 {
                let expected = (0..8).fold(0, |set, register| {
                    let latest = (0..=ready).rev().find(|last| last % 8 == register).unwrap_or(0);
                    set | u8::from(latest <= cycle) << register
                });
                assert!(operands.ready_at(cycle).0 == expected, "{ready} at {cycle}");
            }
        }
    }

    #[test]
    fn sets_are_in_order() {
        let set = Registers(0b1010_0110);
        let registers: Vec<u8> = (0..set.len()).map(|index| set.nth(index)).collect();
        assert_eq!(registers, [1, 2, 5, 7]);
        assert!(set.contains(5) && !set.without(5).contains(5));
    }
}
