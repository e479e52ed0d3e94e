//! Runs SuperscalarHash on several items at once.
//!
//! One key has one set of functions, so all lanes take the same steps: an operation is
//! dispatched once and then applied to every lane, which compiles to vector instructions of
//! whatever width the machine has.

use super::{Instruction, Kind, Program};
use crate::reciprocal::reciprocal;

/// Registers `r0` to `r7` of `N` lanes, register by register.
pub type Lanes<const N: usize> = [[u64; N]; 8];

/// A program in the form that runs: immediates extended, reciprocals computed.
#[derive(Clone, Debug)]
pub struct Function {
    operations: Vec<Operation>,
    address_register: u8,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    action: Action,
    dst: u8,
    src: u8,
    constant: u64,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Sub,
    Xor,
    AddShifted,
    Mul,
    MulHigh,
    MulHighSigned,
    RotateConstant,
    AddConstant,
    XorConstant,
    MulConstant,
}

impl From<&Instruction> for Operation {
    fn from(instruction: &Instruction) -> Operation {
        let imm = instruction.imm32;
        let extended = imm as i32 as u64;
        let (action, constant) = match instruction.kind {
            Kind::IsubR => (Action::Sub, 0),
            Kind::IxorR => (Action::Xor, 0),
            Kind::IaddRs => (Action::AddShifted, u64::from(instruction.modifier >> 2 & 3)),
            Kind::ImulR => (Action::Mul, 0),
            Kind::IrorC => (Action::RotateConstant, u64::from(imm & 63)),
            Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => (Action::AddConstant, extended),
            Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => (Action::XorConstant, extended),
            Kind::ImulhR => (Action::MulHigh, 0),
            Kind::IsmulhR => (Action::MulHighSigned, 0),
            // Without a reciprocal the operation leaves its register alone.
            Kind::ImulRcp => (Action::MulConstant, reciprocal(imm).unwrap_or(1)),
        };
        Operation { action, dst: instruction.dst & 7, src: instruction.src & 7, constant }
    }
}

impl From<&Program> for Function {
    fn from(program: &Program) -> Function {
        Function {
            operations: program.instructions.iter().map(Operation::from).collect(),
            address_register: program.address_register & 7,
        }
    }
}

impl Function {
    /// The register that selects the next cache line, 0 to 7.
    pub fn address_register(&self) -> usize {
        usize::from(self.address_register)
    }

    /// Applies the function to the registers of `N` lanes, with vectors of `width`.
    pub fn execute<const N: usize>(&self, registers: &mut Lanes<N>, width: Width) {
        match width {
            Width::Portable => run(&self.operations, registers),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` is only made by `available`, after AVX2 was detected.
            Width::Avx2 => unsafe { run_avx2(&self.operations, registers) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` is only made by `available`, after these extensions were detected.
            Width::Avx512 => unsafe { run_avx512(&self.operations, registers) },
        }
    }
}

/// The vectors that the lanes are computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Whatever the build targets: SSE2 on x86-64, SIMD128 in WebAssembly.
    Portable,
    /// 4 lanes in an instruction.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 8 lanes in an instruction, with 64-bit products.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    /// Every width that this machine can run, the widest last.
    pub fn available() -> Vec<Width> {
        let mut available = vec![Width::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                available.push(Width::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                available.push(Width::Avx512);
            }
        }
        available
    }

    /// The widest that this machine can run.
    pub fn detect() -> Width {
        *Self::available().last().unwrap_or(&Width::Portable)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<const N: usize>(operations: &[Operation], registers: &mut Lanes<N>) {
    run(operations, registers);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn run_avx512<const N: usize>(operations: &[Operation], registers: &mut Lanes<N>) {
    run(operations, registers);
}

#[inline(always)]
fn run<const N: usize>(operations: &[Operation], registers: &mut Lanes<N>) {
    for operation in operations {
        let constant = operation.constant;
        let src = registers[usize::from(operation.src & 7)];
        let dst = &mut registers[usize::from(operation.dst & 7)];
        match operation.action {
            Action::Sub => each(dst, src, |d, s| d.wrapping_sub(s)),
            Action::Xor => each(dst, src, |d, s| d ^ s),
            Action::AddShifted => each(dst, src, |d, s| d.wrapping_add(s << (constant & 3))),
            Action::Mul => each(dst, src, |d, s| d.wrapping_mul(s)),
            Action::MulHigh => each(dst, src, multiply_high),
            Action::MulHighSigned => each(dst, src, multiply_high_signed),
            Action::RotateConstant => each(dst, src, |d, _| d.rotate_right(constant as u32)),
            Action::AddConstant => each(dst, src, |d, _| d.wrapping_add(constant)),
            Action::XorConstant => each(dst, src, |d, _| d ^ constant),
            Action::MulConstant => each(dst, src, |d, _| d.wrapping_mul(constant)),
        }
    }
}

#[inline(always)]
fn each<const N: usize>(dst: &mut [u64; N], src: [u64; N], f: impl Fn(u64, u64) -> u64) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = f(*d, s);
    }
}

/// The high half of a product from four 32-bit ones, which vector units have.
#[inline(always)]
fn multiply_high(a: u64, b: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    let (a0, a1, b0, b1) = (a & LOW, a >> 32, b & LOW, b >> 32);
    let middle = a1 * b0 + ((a0 * b0) >> 32);
    a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & LOW)) >> 32)
}

/// As above for two's complement: each negative factor takes the other off the high half.
#[inline(always)]
fn multiply_high_signed(a: u64, b: u64) -> u64 {
    let sign = |x: u64| (x as i64 >> 63) as u64;
    multiply_high(a, b).wrapping_sub(sign(a) & b).wrapping_sub(sign(b) & a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blake_generator::BlakeGenerator;
    use crate::superscalar::generate;

    #[test]
    fn high_products_are_those_of_128_bits() {
        let edges =
            [0, 1, 2, 0xffff_ffff, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX, 0x1234_5678_9abc_def0];
        for a in edges {
            for b in edges {
                let unsigned = (u128::from(a) * u128::from(b)) >> 64;
                let signed = (i128::from(a as i64) * i128::from(b as i64)) >> 64;
                assert_eq!(multiply_high(a, b), unsigned as u64);
                assert_eq!(multiply_high_signed(a, b), signed as u64);
            }
        }
    }

    /// Lanes are independent of each other, of their number and of the vectors' width.
    #[test]
    fn lanes_do_not_depend_on_width() {
        let mut random = BlakeGenerator::new(b"lanes do not depend on width");
        let function = Function::from(&generate(&mut random));
        let input: Lanes<8> = std::array::from_fn(|_| {
            std::array::from_fn(|_| u64::from(random.word()) * 0x9e37_79b9_7f4a_7c15)
        });
        let mut expected = input;
        for lane in 0..8 {
            let mut single: Lanes<1> = input.map(|register| [register[lane]]);
            function.execute(&mut single, Width::Portable);
            for (register, value) in expected.iter_mut().zip(single) {
                register[lane] = value[0];
            }
        }
        for width in Width::available() {
            let mut actual = input;
            function.execute(&mut actual, width);
            assert_eq!(actual, expected, "{width:?}");
        }
    }
}
