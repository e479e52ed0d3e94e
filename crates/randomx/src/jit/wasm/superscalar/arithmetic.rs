//! The code of SuperscalarHash operations on registers in local variables.

use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{Body, Local, Type};
use crate::jit::wasm::high_product::{self, Halves, SIGNED, Sign, UNSIGNED};
use crate::reciprocal::reciprocal;
use crate::superscalar::{Instruction, Kind};

/// Emits arithmetic.
pub(super) struct Arithmetic<'a> {
    body: &'a mut Body,
    r: [Local; 8],
    halves: Option<Halves>,
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
            Kind::ImulhR => self.multiply_high(dst, src, UNSIGNED),
            Kind::IsmulhR => self.multiply_high(dst, src, SIGNED),
            // 0 and powers of two have no reciprocal: the operation does nothing.
            Kind::ImulRcp => {
                if let Some(factor) = reciprocal(instruction.imm32) {
                    self.constant(dst, factor as i64, Body::i64_mul);
                }
            }
        }
    }

    fn multiply_high(&mut self, dst: Local, src: Local, sign: Sign) {
        high_product::multiply(self.body, dst, src, sign, self.halves);
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
}
