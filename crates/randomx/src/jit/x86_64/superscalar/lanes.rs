//! Transpositions between vectors and memory, made of shuffles: lines of the cache into the lanes of
//! vectors, and items out of them.

use crate::jit::x86_64::assembler::{Assembler, Gpr, Mem, Scale, Vector, Xmm, Ymm, Zmm};

/// A vector that holds one register of several items.
pub(super) trait Lanes: Vector {
    /// The number of items.
    const LANES: usize;

    /// Emits the XOR of a line of the cache into the registers of each item. The line of lane `i` is
    /// at `lines` plus the 64-bit number at `offsets + 8 * i`. Overwrites `free` and `rax`.
    fn mix(a: &mut Assembler, registers: [Self; 8], free: [Self; 8], lines: Gpr, offsets: Mem);

    /// Emits stores of the items, one after the other. Overwrites `free`.
    fn store(a: &mut Assembler, registers: [Self; 8], free: [Self; 8], items: Mem);
}

fn at(mem: Mem, bytes: usize) -> Mem {
    mem.plus(bytes as i32)
}

/// Emits a load of the offset of lane `lane` into `rax`, and returns the operand of its line.
fn line(a: &mut Assembler, lines: Gpr, offsets: Mem, lane: usize) -> Mem {
    a.mov(Gpr::Rax, at(offsets, 8 * lane));
    Mem::indexed(lines, Gpr::Rax, Scale::One, 0)
}

impl Lanes for Xmm {
    const LANES: usize = 2;

    fn mix(a: &mut Assembler, registers: [Xmm; 8], free: [Xmm; 8], lines: Gpr, offsets: Mem) {
        for pair in 0..4 {
            for (lane, vector) in free.into_iter().enumerate().take(2) {
                let source = line(a, lines, offsets, lane);
                a.vmovdqu64(vector, at(source, 16 * pair));
            }
            let (low, high) = (registers[2 * pair], registers[2 * pair + 1]);
            a.vpunpcklqdq(free[2], free[0], free[1]);
            a.vpunpckhqdq(free[3], free[0], free[1]);
            a.vpxorq(low, low, free[2]);
            a.vpxorq(high, high, free[3]);
        }
    }

    fn store(a: &mut Assembler, registers: [Xmm; 8], free: [Xmm; 8], items: Mem) {
        for pair in 0..4 {
            let (low, high) = (registers[2 * pair], registers[2 * pair + 1]);
            a.vpunpcklqdq(free[0], low, high);
            a.vpunpckhqdq(free[1], low, high);
            a.store_vmovdqu64(at(items, 16 * pair), free[0]);
            a.store_vmovdqu64(at(items, 64 + 16 * pair), free[1]);
        }
    }
}

impl Lanes for Ymm {
    const LANES: usize = 4;

    fn mix(a: &mut Assembler, registers: [Ymm; 8], free: [Ymm; 8], lines: Gpr, offsets: Mem) {
        for half in 0..2 {
            // One vector takes lanes 0 and 2, the other 1 and 3: unpacking within the halves of
            // vectors then gives the right order.
            for (lane, upper) in [(0, false), (1, false), (2, true), (3, true)] {
                let source = line(a, lines, offsets, lane);
                for pair in 0..2 {
                    let vector = free[2 * pair + lane % 2];
                    let source = at(source, 32 * half + 16 * pair);
                    if upper {
                        a.vinserti128(vector, vector, source, 1);
                    } else {
                        a.vmovdqu64(Xmm(vector.0), source);
                    }
                }
            }
            for pair in 0..2 {
                let (first, second) = (free[2 * pair], free[2 * pair + 1]);
                let word = 4 * half + 2 * pair;
                a.vpunpcklqdq(free[4], first, second);
                a.vpunpckhqdq(free[5], first, second);
                a.vpxorq(registers[word], free[4], registers[word]);
                a.vpxorq(registers[word + 1], free[5], registers[word + 1]);
            }
        }
    }

    fn store(a: &mut Assembler, registers: [Ymm; 8], free: [Ymm; 8], items: Mem) {
        for quarter in 0..2 {
            let r = &registers[4 * quarter..4 * quarter + 4];
            a.vpunpcklqdq(free[0], r[0], r[1]);
            a.vpunpckhqdq(free[1], r[0], r[1]);
            a.vpunpcklqdq(free[2], r[2], r[3]);
            a.vpunpckhqdq(free[3], r[2], r[3]);
            for odd in 0..2 {
                let (first, second) = (free[odd], free[2 + odd]);
                a.vperm2i128(free[4], first, second, 0x20);
                a.vperm2i128(free[5], first, second, 0x31);
                a.store_vmovdqu64(at(items, 64 * odd + 32 * quarter), free[4]);
                a.store_vmovdqu64(at(items, 64 * (odd + 2) + 32 * quarter), free[5]);
            }
        }
    }
}

impl Lanes for Zmm {
    const LANES: usize = 8;

    fn mix(a: &mut Assembler, registers: [Zmm; 8], free: [Zmm; 8], lines: Gpr, offsets: Mem) {
        for half in 0..2 {
            // Each vector holds half a line of two lanes, paired so that unpacking and shuffling
            // give the right order.
            for (vector, lanes) in [[0, 2], [1, 3], [4, 6], [5, 7]].into_iter().enumerate() {
                let source = line(a, lines, offsets, lanes[0]);
                a.vmovdqu64(Ymm(free[vector].0), at(source, 32 * half));
                let source = line(a, lines, offsets, lanes[1]);
                a.vinserti64x4(free[vector], free[vector], at(source, 32 * half), 1);
            }
            a.vpunpcklqdq(free[4], free[0], free[1]);
            a.vpunpckhqdq(free[5], free[0], free[1]);
            a.vpunpcklqdq(free[6], free[2], free[3]);
            a.vpunpckhqdq(free[7], free[2], free[3]);
            for word in 0..4 {
                let (first, second) = (free[4 + word % 2], free[6 + word % 2]);
                let register = registers[4 * half + word];
                a.vshufi64x2(free[0], first, second, if word < 2 { 0x88 } else { 0xdd });
                a.vpxorq(register, register, free[0]);
            }
        }
    }

    fn store(a: &mut Assembler, registers: [Zmm; 8], free: [Zmm; 8], items: Mem) {
        for odd in 0..2 {
            for (pair, unpacked) in free[..4].iter().enumerate() {
                let (low, high) = (registers[2 * pair], registers[2 * pair + 1]);
                if odd == 0 {
                    a.vpunpcklqdq(*unpacked, low, high);
                } else {
                    a.vpunpckhqdq(*unpacked, low, high);
                }
            }
            // Blocks of 16 bytes: lanes 0 and 4 (2 and 6) of words 0 to 3, then of 4 to 7.
            for (quarter, control) in [0x88, 0xdd].into_iter().enumerate() {
                a.vshufi64x2(free[4], free[0], free[1], control);
                a.vshufi64x2(free[5], free[2], free[3], control);
                for (upper, control) in [0x88, 0xdd].into_iter().enumerate() {
                    a.vshufi64x2(free[6], free[4], free[5], control);
                    let lane = odd + 2 * quarter + 4 * upper;
                    a.store_vmovdqu64(at(items, 64 * lane), free[6]);
                }
            }
        }
    }
}
