//! The code of SuperscalarHash operations on vectors.

use super::kernel::Pool;
use crate::jit::x86_64::assembler::{Assembler, Broadcast, Mask, Vector, VectorSource};
use crate::reciprocal::reciprocal;
use crate::superscalar::{Instruction, Kind};

/// The index of the vector of zeros among a group's free ones, with AVX2.
const ZERO: usize = 5;

/// Operands of `vpshufd`: the upper half of each 64-bit element in both halves, and both halves swapped.
const UPPER: u8 = 0b11_11_01_01;
const SWAP: u8 = 0b10_11_00_01;

/// The instruction set of the vector code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// AVX2, which has no 64-bit products, rotations or broadcast operands.
    Avx2,
    /// AVX-512, which has them.
    Avx512,
    /// AVX-512 with IFMA. Products of 52 bits make the high half of a 64-bit product in 13
    /// instructions, two of them zeroing, instead of 14: 5% of the time of an item.
    Avx512Ifma,
}

/// The vectors of some items: `r0` to `r7`, and those for intermediate values.
#[derive(Clone, Copy)]
pub(super) struct Group<V> {
    pub(super) r: [V; 8],
    pub(super) free: [V; 8],
}

/// The operation that combines a register with a constant.
#[derive(Clone, Copy)]
pub(super) enum Combine {
    Add,
    And,
    Xor,
}

/// Emits arithmetic. Many instructions of AVX2 are a byte shorter if their last operand is one of the vectors 0 to 7.
/// So sums and products read the first two free vectors last where they can.
pub(super) struct Arithmetic<'a> {
    pub(super) a: &'a mut Assembler,
    pub(super) pool: &'a mut Pool,
    pub(super) set: Set,
}

impl Arithmetic<'_> {
    /// Emits the zeros that high products of AVX2 read. [`Lanes`](super::lanes::Lanes) may overwrite them.
    pub(super) fn zero<V: Vector>(&mut self, group: &Group<V>) {
        let zero = group.free[ZERO];
        self.a.vpxorq(zero, zero, zero);
    }

    /// Emits `instruction` for all items of `group`.
    pub(super) fn operation<V: Vector>(&mut self, group: &Group<V>, instruction: &Instruction) {
        let dst = group.r[usize::from(instruction.dst & 7)];
        let src = group.r[usize::from(instruction.src & 7)];
        let extended = instruction.imm32 as i32 as u64;
        match instruction.kind {
            Kind::IsubR => self.a.vpsubq(dst, dst, src),
            Kind::IxorR => self.a.vpxorq(dst, dst, src),
            Kind::IaddRs => self.add_shifted(group, dst, src, instruction.modifier >> 2 & 3),
            Kind::ImulR => self.multiply(group, dst, src),
            Kind::IrorC => self.rotate(group, dst, (instruction.imm32 & 63) as u8),
            Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => {
                self.constant(Combine::Add, dst, extended);
            }
            Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => {
                self.constant(Combine::Xor, dst, extended);
            }
            Kind::ImulhR => self.multiply_high(group, dst, src),
            Kind::IsmulhR => self.multiply_high_signed(group, dst, src),
            // 0 and powers of two have no reciprocal: the operation does nothing.
            Kind::ImulRcp => {
                if let Some(factor) = reciprocal(instruction.imm32) {
                    self.multiply_constant(group, dst, factor);
                }
            }
        }
    }

    /// Emits the combination of `dst` with a constant.
    pub(super) fn constant<V: Vector>(&mut self, combine: Combine, dst: V, value: u64) {
        if self.set == Set::Avx2 {
            let mem = self.pool.vector([value; 4]);
            self.combine(combine, dst, mem);
        } else {
            let mem = self.pool.constant(value);
            self.combine(combine, dst, Broadcast(mem));
        }
    }

    fn combine<V: Vector>(&mut self, combine: Combine, dst: V, src: impl VectorSource<V>) {
        match combine {
            Combine::Add => self.a.vpaddq(dst, dst, src),
            Combine::And => self.a.vpandq(dst, dst, src),
            Combine::Xor => self.a.vpxorq(dst, dst, src),
        }
    }

    /// Emits `dst += src << shift`.
    fn add_shifted<V: Vector>(&mut self, group: &Group<V>, dst: V, src: V, shift: u8) {
        let [t, ..] = group.free;
        match shift {
            0 => return self.a.vpaddq(dst, dst, src),
            // Only one of the two ports for 512 bits shifts; both add.
            1 => self.a.vpaddq(t, src, src),
            _ => self.a.vpsllq(t, src, shift),
        }
        self.a.vpaddq(dst, dst, t);
    }

    fn rotate<V: Vector>(&mut self, group: &Group<V>, dst: V, count: u8) {
        if self.set != Set::Avx2 {
            return self.a.vprorq(dst, dst, count);
        }
        if count.is_multiple_of(8) {
            let control = self.pool.vector(rotation(count / 8));
            return self.a.vpshufb(dst, dst, control);
        }
        let [t, u, ..] = group.free;
        self.a.vpsrlq(t, dst, count);
        self.a.vpsllq(u, dst, 64 - count);
        self.a.vporq(dst, t, u);
    }

    fn multiply<V: Vector>(&mut self, group: &Group<V>, dst: V, src: V) {
        if self.set != Set::Avx2 {
            // Three micro-operations, 15 cycles on Intel. Eight shorter instructions take 9 cycles
            // but are slower in batches of any size.
            return self.a.vpmullq(dst, dst, src);
        }
        let [crossed, spare, ..] = group.free;
        self.a.vpshufd(crossed, src, SWAP);
        self.a.vpmulld(crossed, crossed, dst);
        self.a.vpmuludq(dst, dst, src);
        self.add_crossed(dst, crossed, spare);
    }

    /// Emits `dst *= factor`.
    pub(super) fn multiply_constant<V: Vector>(&mut self, group: &Group<V>, dst: V, factor: u64) {
        if self.set != Set::Avx2 {
            let constant = self.pool.constant(factor);
            return self.a.vpmullq(dst, dst, Broadcast(constant));
        }
        let [crossed, spare, ..] = group.free;
        let swapped = self.pool.vector([factor.rotate_left(32); 4]);
        let constant = self.pool.vector([factor; 4]);
        self.a.vpmulld(crossed, dst, swapped);
        self.a.vpmuludq(dst, dst, constant);
        self.add_crossed(dst, crossed, spare);
    }

    /// Emits the addition of two products of 32 bits, one in each half of `crossed`, that both start at bit 32.
    fn add_crossed<V: Vector>(&mut self, dst: V, crossed: V, spare: V) {
        self.a.vpsrlq(spare, crossed, 32);
        self.a.vpaddd(crossed, crossed, spare);
        self.a.vpsllq(crossed, crossed, 32);
        self.a.vpaddq(dst, dst, crossed);
    }

    /// Emits moves of the upper halves to the lower ones, where products read their factors.
    fn upper<V: Vector>(&mut self, dst: V, src: V) {
        self.a.vpshufd(dst, src, UPPER);
    }

    /// Emits the high half of a signed product: that of the unsigned product, minus each factor
    /// whose other factor is negative.
    fn multiply_high_signed<V: Vector>(&mut self, group: &Group<V>, dst: V, src: V) {
        let [.., excess, u] = group.free;
        if self.set == Set::Avx2 {
            let zero = group.free[ZERO];
            self.a.vblendvpd(excess, zero, src, dst);
            self.a.vblendvpd(u, zero, dst, src);
            self.a.vpaddq(excess, excess, u);
            self.multiply_high(group, dst, src);
            self.a.vpsubq(dst, dst, excess);
        } else {
            let (dst_negative, src_negative, old) = (Mask(1), Mask(2), excess);
            self.a.vpmovq2m(dst_negative, dst);
            self.a.vpmovq2m(src_negative, src);
            self.a.vmovdqu64(old, dst);
            self.multiply_high(group, dst, src);
            let src = if src.number() == dst.number() { old } else { src };
            self.a.vpsubq_masked(dst, dst_negative, dst, src);
            self.a.vpsubq_masked(dst, src_negative, dst, old);
        }
    }

    fn multiply_high<V: Vector>(&mut self, group: &Group<V>, dst: V, src: V) {
        if self.set == Set::Avx512Ifma {
            self.multiply_high_52(group, dst, src);
        } else {
            self.multiply_high_32(group, dst, src);
        }
    }

    /// Emits the high half of a product, from four products of 32-bit halves. Leaves the last
    /// three free vectors alone.
    fn multiply_high_32<V: Vector>(&mut self, group: &Group<V>, dst: V, src: V) {
        let [t, u, low, cross, other, ..] = group.free;
        self.upper(t, dst);
        self.upper(u, src);
        self.a.vpmuludq(low, dst, src);
        self.a.vpmuludq(cross, dst, u);
        self.a.vpmuludq(other, src, t);
        self.a.vpmuludq(t, t, u);
        self.a.vpsrlq(low, low, 32);
        self.a.vpaddq(cross, cross, low);
        // Only the lower half of the sum is added to the other product: all of it would overflow.
        if self.set == Set::Avx2 {
            self.a.vpblendd(low, cross, group.free[ZERO], 0b1010_1010);
        } else {
            let half = self.pool.constant(u64::from(u32::MAX));
            self.a.vpandq(low, cross, Broadcast(half));
        }
        self.a.vpaddq(other, other, low);
        self.a.vpsrlq(cross, cross, 32);
        self.a.vpsrlq(other, other, 32);
        self.a.vpaddq(t, cross, t);
        self.a.vpaddq(dst, other, t);
    }

    /// Emits the high half of a product, from products of 52 bits and of the 12 bits above: one sum
    /// starts at bit 52, the other at bit 104. Leaves the last four free vectors alone.
    fn multiply_high_52<V: Vector>(&mut self, group: &Group<V>, dst: V, src: V) {
        let [t, u, at_52, at_104, ..] = group.free;
        self.a.vpsrlq(t, dst, 52);
        self.a.vpsrlq(u, src, 52);
        self.a.vpxorq(at_52, at_52, at_52);
        self.a.vpxorq(at_104, at_104, at_104);
        self.a.vpmadd52huq(at_52, dst, src);
        self.a.vpmadd52huq(at_104, dst, u);
        self.a.vpmadd52luq(at_52, dst, u);
        self.a.vpmadd52huq(at_104, t, src);
        self.a.vpmadd52luq(at_52, t, src);
        self.a.vpmadd52luq(at_104, t, u);
        self.a.vpsrlq(at_52, at_52, 64 - 52);
        self.a.vpsllq(at_104, at_104, 104 - 64);
        self.a.vpaddq(dst, at_52, at_104);
    }
}

/// Returns the operand of `vpshufb` that rotates 64-bit elements to the right by some bytes.
fn rotation(bytes: u8) -> [u64; 4] {
    let element =
        |first: u8| u64::from_le_bytes(std::array::from_fn(|at| first + (at as u8 + bytes) % 8));
    // Bytes are counted in each half of the vector.
    [element(0), element(8), element(0), element(8)]
}
