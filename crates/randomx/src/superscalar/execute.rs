//! Interprets SuperscalarHash functions on several items at once.
//!
//! All lanes run the functions of the same key, so an operation is dispatched once and applied to each
//! lane. This compiles to vector instructions of the processor's width.

#![allow(unsafe_code, reason = "calls code for detected instructions")]

use super::function::{Class, Function, Operation};
use crate::cpu::Cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Extension;
use crate::multiply::{multiply_high_in_parts, signed_excess};

/// Registers `r0` to `r7` of `N` lanes, register by register.
pub type Lanes<const N: usize> = [[u64; N]; 8];

impl Function {
    /// Applies the function to the registers of `N` lanes, with vectors of `width`.
    pub fn execute<const N: usize>(&self, registers: &mut Lanes<N>, width: Width) {
        match width.0 {
            Vectors::Portable => run(self, registers),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Width::new` uses `Avx2` only if `Cpu` has detected AVX2.
            Vectors::Avx2 => unsafe { run_avx2(self, registers) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Width::new` uses `Avx512` only if `Cpu` has detected these extensions.
            Vectors::Avx512 => unsafe { run_avx512(self, registers) },
        }
    }
}

/// The width of the vectors that compute the lanes. [`new`](Width::new) returns only widths that the
/// processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(Vectors);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vectors {
    /// The vectors that the build targets: SSE2 on x86-64, SIMD128 in WebAssembly.
    Portable,
    /// 4 lanes per instruction.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 8 lanes per instruction, with 64-bit products.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    /// Returns the largest width of `cpu`.
    pub fn new(cpu: Cpu) -> Width {
        #[cfg(target_arch = "x86_64")]
        if cpu.has(Extension::Avx512) {
            return Width(Vectors::Avx512);
        } else if cpu.has(Extension::Avx2) {
            return Width(Vectors::Avx2);
        }
        let _ = cpu;
        Width(Vectors::Portable)
    }

    /// Returns the name of the vectors.
    pub fn name(self) -> &'static str {
        match self.0 {
            Vectors::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => "AVX-512",
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<const N: usize>(function: &Function, registers: &mut Lanes<N>) {
    run(function, registers);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn run_avx512<const N: usize>(function: &Function, registers: &mut Lanes<N>) {
    run(function, registers);
}

#[inline(always)]
fn run<const N: usize>(function: &Function, registers: &mut Lanes<N>) {
    let mut rest = function.operations.as_slice();
    for run in &function.runs {
        let operations;
        (operations, rest) = rest.split_at(usize::from(run.length).min(rest.len()));
        if run.is(Class::Add) {
            each(operations, registers, |o, d, s| {
                d.wrapping_add(((s << (o.shift & 3)) ^ o.sign()) & o.mask())
                    .wrapping_add(o.constant)
            });
        } else if run.is(Class::Mul) {
            each(operations, registers, |o, d, s| d.wrapping_mul((s & o.mask()) | o.constant));
        } else if run.is(Class::Xor) {
            each(operations, registers, |o, d, s| d ^ (s & o.mask()) ^ o.constant);
        } else if run.is(Class::Rotate) {
            each(operations, registers, |o, d, _| d.rotate_right(u32::from(o.shift)));
        } else {
            each(operations, registers, |o, d, s| {
                multiply_high_in_parts(d, s).wrapping_sub(signed_excess(d, s) & o.sign())
            });
        }
    }
}

/// Applies `f` to the destination and source of each operation, lane by lane.
#[inline(always)]
fn each<const N: usize>(
    operations: &[Operation],
    registers: &mut Lanes<N>,
    f: impl Fn(Operation, u64, u64) -> u64,
) {
    for &operation in operations {
        let src = registers[usize::from(operation.src & 7)];
        let dst = &mut registers[usize::from(operation.dst & 7)];
        for lane in 0..N {
            dst[lane] = f(operation, dst[lane], src[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blake_generator::BlakeGenerator;
    use crate::superscalar::generate;

    /// A lane's result depends neither on other lanes, nor on their number, nor on the width.
    #[test]
    fn lanes_do_not_depend_on_width() {
        let mut random = BlakeGenerator::new(b"lanes do not depend on width");
        let function = Function::from(&generate(&mut random));
        let input: Lanes<8> = std::array::from_fn(|_| {
            std::array::from_fn(|_| u64::from(random.word()).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        let mut expected = input;
        for lane in 0..8 {
            let mut single: Lanes<1> = input.map(|register| [register[lane]]);
            function.execute(&mut single, Width::new(Cpu::baseline()));
            for (register, value) in expected.iter_mut().zip(single) {
                register[lane] = value[0];
            }
        }
        for cpu in Cpu::detect().levels() {
            let width = Width::new(cpu);
            let mut actual = input;
            function.execute(&mut actual, width);
            assert_eq!(actual, expected, "{width:?}");
        }
    }
}
