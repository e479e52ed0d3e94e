//! The operations of SuperscalarHash on registers in local variables.

use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{Body, Local, Type};
use crate::reciprocal::reciprocal;
use crate::superscalar::{Instruction, Kind};

/// Writes arithmetic.
pub(super) struct Arithmetic<'a> {
    body: &'a mut Body,
    r: [Local; 8],
    halves: Option<Halves>,
}

/// Intermediate values of a high product that is made of four products of 32 bits.
struct Halves {
    low: [Local; 2],
    high: [Local; 2],
    middle: Local,
}

impl Arithmetic<'_> {
    pub(super) fn new(body: &mut Body, r: [Local; 8], features: Features) -> Arithmetic<'_> {
        let halves = (!features.wide_arithmetic).then(|| Halves {
            low: body.locals(Type::I64),
            high: body.locals(Type::I64),
            middle: body.local(Type::I64),
        });
        Arithmetic { body, r, halves }
    }

    pub(super) fn operation(&mut self, instruction: &Instruction) {
        let dst = self.r[usize::from(instruction.dst & 7)];
        let src = self.r[usize::from(instruction.src & 7)];
        let extended = i64::from(instruction.imm32 as i32);
        match instruction.kind {
            Kind::IsubR => self.registers(dst, src, Body::i64_sub),
            Kind::IxorR => self.registers(dst, src, Body::i64_xor),
            Kind::IaddRs => self.add_shifted(dst, src, instruction.modifier >> 2 & 3),
            Kind::ImulR => self.registers(dst, src, Body::i64_mul),
            Kind::IrorC => self.constant(dst, (instruction.imm32 & 63).into(), Body::i64_rotr),
            Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => {
                self.constant(dst, extended, Body::i64_add);
            }
            Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => {
                self.constant(dst, extended, Body::i64_xor);
            }
            Kind::ImulhR => self.multiply_high(dst, src, Body::i64_mul_wide_u, Body::i64_shr_u),
            Kind::IsmulhR => self.multiply_high(dst, src, Body::i64_mul_wide_s, Body::i64_shr_s),
            // Without a reciprocal the operation leaves its register alone.
            Kind::ImulRcp => {
                if let Some(factor) = reciprocal(instruction.imm32) {
                    self.constant(dst, factor as i64, Body::i64_mul);
                }
            }
        }
    }

    fn registers(&mut self, dst: Local, src: Local, operation: fn(&mut Body)) {
        self.body.local_get(dst);
        self.body.local_get(src);
        operation(self.body);
        self.body.local_set(dst);
    }

    fn constant(&mut self, dst: Local, value: i64, operation: fn(&mut Body)) {
        self.body.local_get(dst);
        self.body.i64_const(value);
        operation(self.body);
        self.body.local_set(dst);
    }

    fn add_shifted(&mut self, dst: Local, src: Local, shift: u8) {
        self.body.local_get(dst);
        self.body.local_get(src);
        if shift != 0 {
            self.body.i64_const(shift.into());
            self.body.i64_shl();
        }
        self.body.i64_add();
        self.body.local_set(dst);
    }

    /// `shift` extends the upper halves, and what is carried to them, like the product is signed.
    fn multiply_high(&mut self, dst: Local, src: Local, wide: fn(&mut Body), shift: fn(&mut Body)) {
        let Some(Halves { low, high, middle }) = self.halves else {
            self.body.local_get(dst);
            self.body.local_get(src);
            wide(self.body);
            self.body.local_set(dst);
            self.body.drop_();
            return;
        };
        for (index, factor) in [dst, src].into_iter().enumerate() {
            self.body.local_get(factor);
            self.low_half();
            self.body.local_set(low[index]);
            self.body.local_get(factor);
            self.high_half(shift);
            self.body.local_set(high[index]);
        }
        // No sum leaves 64 bits: a product of halves and two more halves fit.
        self.product(high[0], low[1]);
        self.product(low[0], low[1]);
        self.high_half(Body::i64_shr_u);
        self.body.i64_add();
        self.body.local_set(middle);

        self.product(high[0], high[1]);
        self.body.local_get(middle);
        self.high_half(shift);
        self.body.i64_add();
        self.product(low[0], high[1]);
        self.body.local_get(middle);
        self.low_half();
        self.body.i64_add();
        self.high_half(shift);
        self.body.i64_add();
        self.body.local_set(dst);
    }

    fn product(&mut self, a: Local, b: Local) {
        self.body.local_get(a);
        self.body.local_get(b);
        self.body.i64_mul();
    }

    fn low_half(&mut self) {
        self.body.i32_wrap_i64();
        self.body.i64_extend_i32_u();
    }

    fn high_half(&mut self, shift: fn(&mut Body)) {
        self.body.i64_const(32);
        shift(self.body);
    }
}
