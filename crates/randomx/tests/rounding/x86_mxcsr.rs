//! The oracle: SSE2 arithmetic with the MXCSR that the reference sets.

#![expect(unsafe_code, reason = "sets the rounding mode of the hardware")]

use std::arch::asm;
use std::arch::x86_64::__m128d;

use randomx::f64x2::F64x2;
use randomx::rounding::RoundingMode;

/// Exceptions masked; denormals are zero in operands and results.
const DEFAULT: u32 = 0x9fc0;

macro_rules! binary {
    ($($name:ident = $instruction:literal),*) => {
        $(
            pub fn $name(a: F64x2, b: F64x2, mode: RoundingMode) -> F64x2 {
                let control = DEFAULT | (mode as u32) << 13;
                let mut saved = 0u32;
                let mut result: __m128d = bytemuck::cast(a.to_bits());
                let operand: __m128d = bytemuck::cast(b.to_bits());
                // SAFETY: SSE2 is part of x86-64, the pointers are to live variables, and the block
                // restores MXCSR.
                unsafe {
                    asm!(
                        "stmxcsr [{saved}]",
                        "ldmxcsr [{control}]",
                        concat!($instruction, " {result}, {operand}"),
                        "ldmxcsr [{saved}]",
                        saved = in(reg) &raw mut saved,
                        control = in(reg) &raw const control,
                        result = inout(xmm_reg) result,
                        operand = in(xmm_reg) operand,
                        options(nostack)
                    );
                }
                F64x2::from_bits(bytemuck::cast(result))
            }
        )*
    };
}

binary!(add = "addpd", sub = "subpd", mul = "mulpd", div = "divpd", sqrt_of_second = "sqrtpd");

pub fn sqrt(a: F64x2, mode: RoundingMode) -> F64x2 {
    sqrt_of_second(a, a, mode)
}
