//! Encodes instructions: legacy, VEX and EVEX prefixes, ModRM, SIB, displacements.

use super::operand::{Base, NO_INDEX};
use super::{Assembler, Fixup, Mem, Rm};

/// Up to 8 bytes of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    pub(super) value: u64,
    pub(super) length: usize,
}

impl Bytes {
    #[inline(always)]
    pub(super) const fn new(value: u64, length: usize) -> Bytes {
        Bytes { value, length }
    }

    #[inline(always)]
    const fn push(self, byte: u8) -> Bytes {
        self.push_if(true, byte)
    }

    #[inline(always)]
    const fn push_if(self, present: bool, byte: u8) -> Bytes {
        let byte = if present { byte as u64 } else { 0 };
        Bytes::new(self.value | byte << (8 * self.length), self.length + present as usize)
    }
}

/// The opcode map of an opcode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    One = 0,
    Of = 1,
    Of38 = 2,
    Of3a = 3,
}

/// The mandatory prefix of an opcode, by its number in VEX and EVEX.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    None = 0,
    P66 = 1,
    F3 = 2,
    F2 = 3,
}

/// An instruction without its operands.
#[derive(Clone, Copy)]
pub(super) struct Opcode {
    pub(super) prefix: Prefix,
    pub(super) map: Map,
    pub(super) code: u8,
    pub(super) wide: bool,
}

impl Opcode {
    /// Returns an instruction of the first map on 64 bits.
    #[inline(always)]
    pub(super) const fn wide(code: u8) -> Opcode {
        Opcode { prefix: Prefix::None, map: Map::One, code, wide: true }
    }

    /// Returns an instruction of the first map on 32 bits, or one that needs no REX.W for 64.
    #[inline(always)]
    pub(super) const fn narrow(code: u8) -> Opcode {
        Opcode { prefix: Prefix::None, map: Map::One, code, wide: false }
    }

    #[inline(always)]
    pub(super) const fn new(prefix: Prefix, map: Map, code: u8) -> Opcode {
        Opcode { prefix, map, code, wide: false }
    }
}

/// The constant at the end of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Immediate {
    value: u32,
    length: usize,
}

impl Immediate {
    pub(super) const NONE: Immediate = Immediate { value: 0, length: 0 };

    #[inline(always)]
    pub(super) const fn byte(value: u8) -> Immediate {
        Immediate { value: value as u32, length: 1 }
    }

    #[inline(always)]
    pub(super) const fn long(value: i32) -> Immediate {
        Immediate { value: value as u32, length: 4 }
    }
}

/// The vector width, broadcast and mask of an EVEX instruction.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// 0 for 128 bits, 1 for 256, 2 for 512.
    pub(super) width: u8,
    /// Whether one element of memory is used for all.
    pub(super) broadcast: bool,
    /// The mask register, or 0 for none.
    pub(super) mask: u8,
}

impl Rm {
    /// Returns the upper bit of the base, or of the register.
    #[inline(always)]
    fn b(self) -> u8 {
        match self {
            Rm::Register(number) => number >> 3 & 1,
            Rm::Memory(Mem { base: Base::Register(number), .. }) => number >> 3 & 1,
            Rm::Memory(_) => 0,
        }
    }

    /// Returns the upper bit of the index. Of a register, this is the highest bit, as EVEX needs it.
    #[inline(always)]
    fn x(self) -> u8 {
        match self {
            Rm::Register(number) => number >> 4 & 1,
            Rm::Memory(mem) => mem.index >> 3 & 1,
        }
    }
}

impl Assembler {
    /// Emits an instruction with legacy prefixes.
    #[inline(always)]
    pub(super) fn legacy(&mut self, opcode: Opcode, reg: u8, rm: Rm, immediate: Immediate) {
        let x = match rm {
            Rm::Register(_) => 0,
            Rm::Memory(_) => rm.x(),
        };
        let rex = 0x40 | (opcode.wide as u8) << 3 | (reg >> 3 & 1) << 2 | x << 1 | rm.b();
        let prefix = [0, 0x66, 0xf3, 0xf2][opcode.prefix as usize];
        let head = Bytes::new(0, 0)
            .push_if(opcode.prefix != Prefix::None, prefix)
            .push_if(rex != 0x40, rex)
            .push_if(opcode.map != Map::One, 0x0f)
            .push_if(opcode.map == Map::Of38, 0x38)
            .push_if(opcode.map == Map::Of3a, 0x3a)
            .push(opcode.code);
        self.operands(head, reg, rm, 0, immediate);
    }

    /// Emits an instruction with a VEX prefix, of two bytes where that is enough.
    #[inline(always)]
    pub(super) fn vex(
        &mut self,
        opcode: Opcode,
        width: u8,
        reg: u8,
        second: u8,
        rm: Rm,
        immediate: Immediate,
    ) {
        let x = match rm {
            Rm::Register(_) => 0,
            Rm::Memory(_) => rm.x(),
        };
        let r = !(reg >> 3) & 1;
        let last = (!second & 15) << 3 | width << 2 | opcode.prefix as u8;
        let short = opcode.map == Map::Of && !opcode.wide && x == 0 && rm.b() == 0;
        let head = if short {
            Bytes::new(0xc5, 1).push(r << 7 | last)
        } else {
            Bytes::new(0xc4, 1)
                .push(r << 7 | (x ^ 1) << 6 | (rm.b() ^ 1) << 5 | opcode.map as u8)
                .push((opcode.wide as u8) << 7 | last)
        };
        self.operands(head.push(opcode.code), reg, rm, 0, immediate);
    }

    /// Emits an instruction with an EVEX prefix.
    #[inline(always)]
    pub(super) fn evex(
        &mut self,
        opcode: Opcode,
        shape: Shape,
        reg: u8,
        second: u8,
        rm: Rm,
        immediate: Immediate,
    ) {
        // Displacements of one byte count in elements, or in vectors.
        let unit = if shape.broadcast { 3 } else { 4 + u32::from(shape.width) };
        self.evex_unit(opcode, shape, unit, reg, second, rm, immediate);
    }

    /// Emits an instruction with an EVEX prefix. A displacement of one byte counts in units of
    /// `1 << unit`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn evex_unit(
        &mut self,
        opcode: Opcode,
        shape: Shape,
        unit: u32,
        reg: u8,
        second: u8,
        rm: Rm,
        immediate: Immediate,
    ) {
        let registers =
            (!(reg >> 3) & 1) << 7 | (rm.x() ^ 1) << 6 | (rm.b() ^ 1) << 5 | (!(reg >> 4) & 1) << 4;
        let head = Bytes::new(0x62, 1)
            .push(registers | opcode.map as u8)
            .push((opcode.wide as u8) << 7 | (!second & 15) << 3 | 4 | opcode.prefix as u8)
            .push(
                shape.width << 5
                    | (shape.broadcast as u8) << 4
                    | (!(second >> 4) & 1) << 3
                    | shape.mask & 7,
            )
            .push(opcode.code);
        self.operands(head, reg, rm, unit, immediate);
    }

    /// Emits ModRM and the bytes after it. A displacement of one byte counts in units of
    /// `1 << unit`.
    #[inline(always)]
    fn operands(&mut self, head: Bytes, reg: u8, rm: Rm, unit: u32, immediate: Immediate) {
        let reg = (reg & 7) << 3;
        let mem = match rm {
            Rm::Register(number) => {
                let head = head.push(0xc0 | reg | number & 7);
                return self.put(head, u64::from(immediate.value), immediate.length);
            }
            Rm::Memory(mem) => mem,
        };
        let constant = u64::from(immediate.value);
        let base = match mem.base {
            Base::Register(base) => base & 7,
            Base::Label(label) => {
                let head = head.push(reg | 5);
                self.fixups.push(Fixup { at: self.at + head.length, label });
                // The distance counts from the end of the instruction.
                let distance = mem.displacement - 4 - immediate.length as i32;
                let tail = u64::from(distance as u32) | constant << 32;
                return self.put(head, tail, 4 + immediate.length);
            }
        };
        let displacement = mem.displacement;
        let counted = displacement >> unit;
        // Without a displacement, the encoding of rbp and r13 means rip.
        let (mode, value, length) = if displacement == 0 && base != 5 {
            (0, 0, 0)
        } else if i32::from(counted as i8) << unit == displacement {
            (1 << 6, u64::from(counted as u8), 1)
        } else {
            (2 << 6, u64::from(displacement as u32), 4)
        };
        // The base rsp or r12 can only be encoded in a SIB byte.
        let sib = mem.index != NO_INDEX || base == 4;
        let head = head
            .push(mode | reg | if sib { 4 } else { base })
            .push_if(sib, (mem.scale as u8) << 6 | (mem.index & 7) << 3 | base);
        self.put(head, value | constant << (8 * length), length + immediate.length);
    }
}
