//! Integer vectors, mostly of 64-bit elements, in the encodings of AVX2 (VEX) and AVX-512 (EVEX).
//!
//! The VEX encoding is shorter and runs on more processors. It is used wherever it can express an
//! instruction: on registers 0 to 15 of up to 256 bits, without masks and broadcasts.

use super::encoding::{Bytes, Immediate, Map, Opcode, Prefix, Shape};
use super::{Assembler, Mask, Mem, Rm, Vector, VectorSource, Ymm, Zmm};

const fn q(prefix: Prefix, map: Map, code: u8) -> Opcode {
    Opcode { prefix, map, code, wide: true }
}

macro_rules! binary {
    ($($name:ident $map:ident $code:literal $choice:ident;)*) => {
        /// Instructions of three operands: `dst = a op b`.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " v, v, v | m | broadcast`")]
            #[inline(always)]
            pub fn $name<V: Vector>(&mut self, dst: V, a: V, b: impl VectorSource<V>) {
                let opcode = q(Prefix::P66, Map::$map, $code);
                self.vector(Form::$choice, opcode, dst, a, b, Immediate::NONE);
            }
        )*}
    };
}

binary! {
    vpaddq Of 0xd4 Avx2;
    vpsubq Of 0xfb Avx2;
    vpandq Of 0xdb Avx2;
    vporq Of 0xeb Avx2;
    vpxorq Of 0xef Avx2;
    vpmuludq Of 0xf4 Avx2;
    vpunpcklqdq Of 0x6c Avx2;
    vpunpckhqdq Of 0x6d Avx2;
    vpmullq Of38 0x40 Avx512;
    vpmadd52luq Of38 0xb4 Avx512;
    vpmadd52huq Of38 0xb5 Avx512;
}

macro_rules! of_32_bits {
    ($($name:ident $map:ident $code:literal;)*) => {
        /// Instructions on 32-bit elements: `dst = a op b`.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " v, v, v | m`")]
            #[inline(always)]
            pub fn $name<V: Vector, S: VectorSource<V>>(&mut self, dst: V, a: V, b: S) {
                const { assert!(!S::BROADCAST, "an operand of 64 bits") };
                let opcode = Opcode::new(Prefix::P66, Map::$map, $code);
                self.vector(Form::Avx2, opcode, dst, a, b, Immediate::NONE);
            }
        )*}
    };
}

of_32_bits! {
    vpaddd Of 0xfe;
    vpmulld Of38 0x40;
}

macro_rules! shift {
    ($($name:ident $code:literal $digit:literal $choice:ident;)*) => {
        /// Shifts and rotations by a constant.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " v, v, imm8`")]
            #[inline(always)]
            pub fn $name<V: Vector>(&mut self, dst: V, src: V, count: u8) {
                let opcode = q(Prefix::P66, Map::Of, $code);
                let immediate = Immediate::byte(count);
                self.vector(Form::$choice, opcode, V::new($digit), dst, src, immediate);
            }
        )*}
    };
}

shift! {
    vprorq 0x72 0 Avx512;
    vpsrlq 0x73 2 Avx2;
    vpsllq 0x73 6 Avx2;
}

macro_rules! immediate {
    ($($name:ident $map:ident $code:literal $choice:ident;)*) => {
        /// Instructions of three operands and a constant.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " v, v, v | m | broadcast, imm8`")]
            #[inline(always)]
            pub fn $name<V: Vector>(&mut self, dst: V, a: V, b: impl VectorSource<V>, control: u8) {
                let opcode = q(Prefix::P66, Map::$map, $code);
                self.vector(Form::$choice, opcode, dst, a, b, Immediate::byte(control));
            }
        )*}
    };
}

immediate! {
    vpternlogq Of3a 0x25 Avx512;
    vshufi64x2 Of3a 0x43 Avx512;
}

/// Moves, masks and the rest.
impl Assembler {
    /// `vperm2i128 ymm, ymm, ymm | m256, imm8` (registers 0 to 15)
    #[inline(always)]
    pub fn vperm2i128(&mut self, dst: Ymm, a: Ymm, b: impl VectorSource<Ymm>, control: u8) {
        let opcode = Opcode::new(Prefix::P66, Map::Of3a, 0x46);
        self.vex(opcode, 1, dst.0, a.0, b.rm(), Immediate::byte(control));
    }

    /// `vpblendd v, v, v, imm8` (registers 0 to 15, up to 256 bits)
    #[inline(always)]
    pub fn vpblendd<V: Vector>(&mut self, dst: V, a: V, b: V, control: u8) {
        let opcode = Opcode::new(Prefix::P66, Map::Of3a, 0x02);
        let (rm, control) = (b.rm(), Immediate::byte(control));
        self.vex(opcode, V::WIDTH, dst.number(), a.number(), rm, control);
    }

    /// `vblendvpd v, v, v, v` (registers 0 to 15, up to 256 bits): takes elements from `b` where those of `mask` are
    /// negative, and from `a` elsewhere.
    #[inline(always)]
    pub fn vblendvpd<V: Vector>(&mut self, dst: V, a: V, b: V, mask: V) {
        let opcode = Opcode::new(Prefix::P66, Map::Of3a, 0x4b);
        let (rm, mask) = (b.rm(), Immediate::byte(mask.number() << 4));
        self.vex(opcode, V::WIDTH, dst.number(), a.number(), rm, mask);
    }

    /// `vpshufb v, v, m` (registers 0 to 15, up to 256 bits)
    #[inline(always)]
    pub fn vpshufb<V: Vector>(&mut self, dst: V, a: V, control: Mem) {
        let opcode = Opcode::new(Prefix::P66, Map::Of38, 0x00);
        let rm = Rm::Memory(control);
        self.vex(opcode, V::WIDTH, dst.number(), a.number(), rm, Immediate::NONE);
    }

    /// `vinserti128 ymm, ymm, m128, imm8` (registers 0 to 15)
    #[inline(always)]
    pub fn vinserti128(&mut self, dst: Ymm, a: Ymm, b: Mem, half: u8) {
        let opcode = Opcode::new(Prefix::P66, Map::Of3a, 0x38);
        self.vex(opcode, 1, dst.0, a.0, Rm::Memory(b), Immediate::byte(half));
    }

    /// `vinserti64x4 zmm, zmm, m256, imm8`
    #[inline(always)]
    pub fn vinserti64x4(&mut self, dst: Zmm, a: Zmm, b: Mem, half: u8) {
        const HALF_VECTOR: u32 = 5;
        let opcode = q(Prefix::P66, Map::Of3a, 0x3a);
        let (shape, half) = (shape(a, a), Immediate::byte(half));
        self.evex_unit(opcode, shape, HALF_VECTOR, dst.0, a.0, Rm::Memory(b), half);
    }

    /// `vpmovzxdq v, m`: 32-bit elements become 64-bit ones.
    #[inline(always)]
    pub fn vpmovzxdq<V: Vector>(&mut self, dst: V, src: Mem) {
        let (opcode, rm) = (Opcode::new(Prefix::P66, Map::Of38, 0x35), Rm::Memory(src));
        let number = dst.number();
        if V::WIDTH < 2 && number < 16 {
            self.vex(opcode, V::WIDTH, number, 0, rm, Immediate::NONE);
        } else {
            let (half_vector, none) = (3 + u32::from(V::WIDTH), Immediate::NONE);
            self.evex_unit(opcode, shape(dst, dst), half_vector, number, 0, rm, none);
        }
    }

    /// `vmovdqu64 v, v | m`
    #[inline(always)]
    pub fn vmovdqu64<V: Vector>(&mut self, dst: V, src: impl VectorSource<V>) {
        let opcode = q(Prefix::F3, Map::Of, 0x6f);
        self.vector(Form::Avx2, opcode, dst, V::new(0), src, Immediate::NONE);
    }

    /// `vmovdqu64 m, v`
    #[inline(always)]
    pub fn store_vmovdqu64<V: Vector>(&mut self, dst: Mem, src: V) {
        let opcode = q(Prefix::F3, Map::Of, 0x7f);
        self.vector(Form::Avx2, opcode, src, V::new(0), dst, Immediate::NONE);
    }

    /// `vpsubq v{mask}, v, v`: leaves the other elements of `dst` alone.
    #[inline(always)]
    pub fn vpsubq_masked<V: Vector>(&mut self, dst: V, mask: Mask, a: V, b: impl VectorSource<V>) {
        let opcode = q(Prefix::P66, Map::Of, 0xfb);
        let shape = Shape { mask: mask.0, ..shape(a, b) };
        self.evex(opcode, shape, dst.number(), a.number(), b.rm(), Immediate::NONE);
    }

    /// `vpmovq2m mask, v`: copies the sign of each element.
    #[inline(always)]
    pub fn vpmovq2m<V: Vector>(&mut self, dst: Mask, src: V) {
        let opcode = q(Prefix::F3, Map::Of38, 0x39);
        self.evex(opcode, shape(src, src), dst.0, 0, src.rm(), Immediate::NONE);
    }

    /// `vpshufd v, v, imm8`
    #[inline(always)]
    pub fn vpshufd<V: Vector, S: VectorSource<V>>(&mut self, dst: V, src: S, control: u8) {
        const { assert!(!S::BROADCAST, "an operand of 64 bits") };
        let opcode = Opcode::new(Prefix::P66, Map::Of, 0x70);
        self.vector(Form::Avx2, opcode, dst, V::new(0), src, Immediate::byte(control));
    }

    /// `vzeroupper`: spares later SSE instructions merging with the upper halves.
    #[inline(always)]
    pub fn vzeroupper(&mut self) {
        self.put(Bytes::new(0x77_f8c5, 3), 0, 0);
    }

    /// Emits an instruction in the shortest encoding that can express it.
    #[inline(always)]
    fn vector<V: Vector, S: VectorSource<V>>(
        &mut self,
        form: Form,
        opcode: Opcode,
        dst: V,
        a: V,
        b: S,
        immediate: Immediate,
    ) {
        let (dst, second, rm) = (dst.number(), a.number(), b.rm());
        let last = match rm {
            Rm::Register(number) => number,
            Rm::Memory(_) => 0,
        };
        let vex = V::WIDTH < 2 && !S::BROADCAST && (dst | second | last) < 16;
        if form == Form::Avx2 && vex {
            let opcode = Opcode { wide: false, ..opcode };
            self.vex(opcode, V::WIDTH, dst, second, rm, immediate);
        } else {
            self.evex(opcode, shape(a, b), dst, second, rm, immediate);
        }
    }
}

/// The extension that introduced an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// AVX2; AVX-512 encodes it for more registers.
    Avx2,
    /// AVX-512.
    Avx512,
}

#[inline(always)]
fn shape<V: Vector, S: VectorSource<V>>(_: V, _: S) -> Shape {
    Shape { width: V::WIDTH, broadcast: S::BROADCAST, mask: 0 }
}
