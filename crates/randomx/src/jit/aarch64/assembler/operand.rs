//! Operands of instructions.

/// A general purpose register of 64 bits. Some instructions read and write its lower half.
///
/// Register 18 has none of these values: systems reserve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpr(u8);

impl Gpr {
    /// The zero register, for instructions that do not take the stack pointer.
    pub const ZERO: Gpr = Gpr(31);
    /// The stack pointer, for instructions that do not take the zero register.
    pub const SP: Gpr = Gpr(31);

    /// Returns register `x0` to `x30`.
    ///
    /// # Panics
    ///
    /// If `number` is 18 or more than 30. In a constant, that is an error of compilation.
    pub const fn x(number: u8) -> Gpr {
        assert!(number <= 30 && number != 18, "a register that code may use");
        Gpr(number)
    }

    /// Returns the field of a destination.
    #[inline(always)]
    pub(super) const fn d(self) -> u32 {
        self.0 as u32
    }

    /// Returns the field of a first source or a base.
    #[inline(always)]
    pub(super) const fn n(self) -> u32 {
        (self.0 as u32) << 5
    }

    /// Returns the field of a second destination, or of an addend.
    #[inline(always)]
    pub(super) const fn t2(self) -> u32 {
        (self.0 as u32) << 10
    }

    /// Returns the field of a second source.
    #[inline(always)]
    pub(super) const fn m(self) -> u32 {
        (self.0 as u32) << 16
    }
}

/// A NEON register of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neon(u8);

impl Neon {
    /// Returns register `v0` to `v31`.
    ///
    /// # Panics
    ///
    /// If `number` is more than 31. In a constant, that is an error of compilation.
    pub const fn v(number: u8) -> Neon {
        assert!(number <= 31, "a NEON register");
        Neon(number)
    }

    /// Returns the field of a destination.
    #[inline(always)]
    pub(super) const fn d(self) -> u32 {
        self.0 as u32
    }

    /// Returns the field of a first source.
    #[inline(always)]
    pub(super) const fn n(self) -> u32 {
        (self.0 as u32) << 5
    }

    /// Returns the field of a second destination.
    #[inline(always)]
    pub(super) const fn t2(self) -> u32 {
        (self.0 as u32) << 10
    }

    /// Returns the field of a second source.
    #[inline(always)]
    pub(super) const fn m(self) -> u32 {
        (self.0 as u32) << 16
    }
}

/// How a second source is shifted before an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// To the left.
    Lsl(u8),
    /// To the right.
    Lsr(u8),
    /// Rotated to the right. Additions do not have it.
    Ror(u8),
}

impl Shift {
    /// Not at all.
    pub const NONE: Shift = Shift::Lsl(0);

    #[inline(always)]
    pub(super) const fn field(self) -> u32 {
        let (kind, amount) = match self {
            Shift::Lsl(amount) => (0, amount),
            Shift::Lsr(amount) => (1, amount),
            Shift::Ror(amount) => (3, amount),
        };
        kind << 22 | (amount as u32 & 63) << 10
    }
}

/// A condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Condition {
    /// The result was zero.
    Zero = 0,
    /// The result was not zero.
    NotZero = 1,
}

/// The kind of a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Prefetch {
    /// To read, into all caches.
    Keep = 0b00000,
    /// To read once.
    Stream = 0b00001,
    /// To write.
    Store = 0b10000,
}

/// Returns the fields `N`, `immr` and `imms` of a logical instruction's immediate operand: bits 22,
/// 16 to 21 and 10 to 15. Returns `None` if no instruction has this operand.
///
/// Such an operand repeats an element of 2, 4, 8, 16, 32 or 64 bits, in which all set bits are in one
/// row, possibly around its end.
pub const fn logical_immediate(value: u64) -> Option<u32> {
    if value == 0 || value == u64::MAX {
        return None;
    }
    let mut size = 64;
    while size > 2 {
        let half = size / 2;
        let mask = (1 << half) - 1;
        if value & mask != value >> half & mask {
            break;
        }
        size = half;
    }
    let mask = u64::MAX >> (64 - size);
    let element = value & mask;
    let ones = element.count_ones();
    // Where the row of set bits begins.
    let start = if element & 1 == 0 {
        element.trailing_zeros()
    } else {
        let clear = !element & mask;
        (clear.trailing_zeros() + clear.count_ones()) % size
    };
    let row = (1 << (ones - 1) << 1) - 1u64;
    let rotated = if start == 0 { row } else { (row << start | row >> (size - start)) & mask };
    if rotated != element {
        return None;
    }
    let rotation = (size - start) % size;
    let length = (0x3f << (size.trailing_zeros() + 1)) & 0x3f | (ones - 1);
    Some(((size == 64) as u32) << 22 | rotation << 16 | length << 10)
}
