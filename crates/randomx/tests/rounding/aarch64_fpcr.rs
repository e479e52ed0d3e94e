//! The oracle: NEON arithmetic with a rounding mode in FPCR.

#![expect(unsafe_code, reason = "sets the rounding mode of the hardware")]

use std::arch::aarch64::float64x2_t;
use std::arch::asm;

use randomx::f64x2::F64x2;
use randomx::rounding::RoundingMode;

macro_rules! binary {
    ($($name:ident = $instruction:literal),*) => {
        $(
            pub fn $name(a: F64x2, b: F64x2, mode: RoundingMode) -> F64x2 {
                // FPCR has the two bits in reverse order.
                let control = match mode {
                    RoundingMode::Nearest => 0u64,
                    RoundingMode::Up => 1 << 22,
                    RoundingMode::Down => 2 << 22,
                    RoundingMode::Zero => 3 << 22,
                };
                let mut result: float64x2_t = bytemuck::cast(a.to_bits());
                let operand: float64x2_t = bytemuck::cast(b.to_bits());
                // SAFETY: NEON is part of Rust's targets for AArch64, and the block restores FPCR.
                unsafe {
                    asm!(
                        "mrs {saved}, fpcr",
                        "msr fpcr, {control}",
                        $instruction,
                        "msr fpcr, {saved}",
                        saved = out(reg) _,
                        control = in(reg) control,
                        result = inout(vreg) result,
                        operand = in(vreg) operand,
                        options(nomem, nostack)
                    );
                }
                F64x2::from_bits(bytemuck::cast(result))
            }
        )*
    };
}

binary!(
    add = "fadd {result:v}.2d, {result:v}.2d, {operand:v}.2d",
    sub = "fsub {result:v}.2d, {result:v}.2d, {operand:v}.2d",
    mul = "fmul {result:v}.2d, {result:v}.2d, {operand:v}.2d",
    div = "fdiv {result:v}.2d, {result:v}.2d, {operand:v}.2d",
    sqrt_of_second = "fsqrt {result:v}.2d, {operand:v}.2d"
);

pub fn sqrt(a: F64x2, mode: RoundingMode) -> F64x2 {
    sqrt_of_second(a, a, mode)
}
