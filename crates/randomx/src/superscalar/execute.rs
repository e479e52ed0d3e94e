//! Runs SuperscalarHash on several items at once.
//!
//! One key has one set of functions, so all lanes take the same steps: an operation is
//! dispatched once and then applied to every lane, which compiles to vector instructions of
//! whatever width the machine has.

use super::{Instruction, Kind, Program};
use crate::reciprocal::reciprocal;

/// Registers `r0` to `r7` of `N` lanes, register by register.
pub type Lanes<const N: usize> = [[u64; N]; 8];

/// A program in the form that runs.
#[derive(Clone, Debug)]
pub struct Function {
    runs: Vec<Run>,
    operations: Vec<Operation>,
    address_register: u8,
}

/// Operations of one class in a row, which share a dispatch.
#[derive(Clone, Copy, Debug)]
struct Run {
    class: Class,
    length: u16,
}

/// What operations do that differ only in their masks and constants. A bit each: a class is
/// tested by conditional jumps, which processors predict better than one indirect jump, and a
/// bit test stays a conditional jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// `dst += (((src << shift) ^ sign) & mask) + constant`
    Add = 1,
    /// `dst ^= (src & mask) ^ constant`
    Xor = 2,
    /// `dst *= (src & mask) | constant`
    Mul = 4,
    /// `dst` becomes the high half of `dst * src`, signed where `sign` is set
    MulHigh = 8,
    /// `dst` is rotated right by `shift`
    Rotate = 16,
}

impl Run {
    #[inline(always)]
    fn is(&self, class: Class) -> bool {
        self.class as u8 & class as u8 != 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    dst: u8,
    src: u8,
    shift: u8,
    /// All ones for a subtraction or a signed product, else zero.
    sign: i8,
    /// All ones if there is a source register, else zero.
    mask: i8,
    constant: u64,
}

impl Operation {
    #[inline(always)]
    fn sign(&self) -> u64 {
        self.sign as u64
    }

    #[inline(always)]
    fn mask(&self) -> u64 {
        self.mask as u64
    }
}

fn resolve(instruction: &Instruction) -> (Class, Operation) {
    const ONES: i8 = -1;
    let imm = instruction.imm32;
    let extended = imm as i32 as u64;
    let (class, shift, sign, mask, constant) = match instruction.kind {
        // -x is !x + 1.
        Kind::IsubR => (Class::Add, 0, ONES, ONES, 1),
        Kind::IaddRs => (Class::Add, instruction.modifier >> 2 & 3, 0, ONES, 0),
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => (Class::Add, 0, 0, 0, extended),
        Kind::IxorR => (Class::Xor, 0, 0, ONES, 0),
        Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => (Class::Xor, 0, 0, 0, extended),
        Kind::ImulR => (Class::Mul, 0, 0, ONES, 0),
        // Without a reciprocal the operation leaves its register alone.
        Kind::ImulRcp => (Class::Mul, 0, 0, 0, reciprocal(imm).unwrap_or(1)),
        Kind::ImulhR => (Class::MulHigh, 0, 0, ONES, 0),
        Kind::IsmulhR => (Class::MulHigh, 0, ONES, ONES, 0),
        Kind::IrorC => (Class::Rotate, (imm & 63) as u8, 0, 0, 0),
    };
    let (dst, src) = (instruction.dst & 7, instruction.src & 7);
    (class, Operation { dst, src, shift, sign, mask, constant })
}

impl From<&Program> for Function {
    fn from(program: &Program) -> Function {
        let mut function = Function {
            runs: Vec::new(),
            operations: Vec::with_capacity(program.instructions.len()),
            address_register: program.address_register & 7,
        };
        for (class, operation) in schedule(program.instructions.iter().map(resolve).collect()) {
            function.operations.push(operation);
            match function.runs.last_mut() {
                Some(run) if run.class == class => run.length += 1,
                _ => function.runs.push(Run { class, length: 1 }),
            }
        }
        function
    }
}

/// Reorders operations so that those of one class come together, keeping the order of any two of
/// which one writes a register of the other.
fn schedule(mut waiting: Vec<(Class, Operation)>) -> Vec<(Class, Operation)> {
    let mut scheduled: Vec<(Class, Operation)> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = ready(&waiting);
        let last = scheduled.last().map(|(class, _)| *class);
        let same = ready.iter().copied().find(|&index| Some(waiting[index].0) == last);
        let next = same.unwrap_or_else(|| {
            let count = |class| ready.iter().filter(|&&index| waiting[index].0 == class).count();
            // The first of the largest class that could run now.
            ready.iter().rev().copied().max_by_key(|&index| count(waiting[index].0)).unwrap_or(0)
        });
        scheduled.push(waiting.remove(next));
    }
    scheduled
}

/// The operations that no earlier one stands in the way of.
fn ready(waiting: &[(Class, Operation)]) -> Vec<usize> {
    let (mut read, mut written) = (0u8, 0u8);
    let mut ready = Vec::new();
    for (index, (_, operation)) in waiting.iter().enumerate() {
        let (dst, src) = (1 << operation.dst, 1 << operation.src);
        if written & (dst | src) == 0 && read & dst == 0 {
            ready.push(index);
        }
        read |= src | dst;
        written |= dst;
        if written == u8::MAX {
            break;
        }
    }
    ready
}

impl Function {
    /// The register that selects the next cache line, 0 to 7.
    pub fn address_register(&self) -> usize {
        usize::from(self.address_register)
    }

    /// Applies the function to the registers of `N` lanes, with vectors of `width`.
    pub fn execute<const N: usize>(&self, registers: &mut Lanes<N>, width: Width) {
        match width {
            Width::Portable => run(self, registers),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` is only made by `available`, after AVX2 was detected.
            Width::Avx2 => unsafe { run_avx2(self, registers) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` is only made by `available`, after these extensions were detected.
            Width::Avx512 => unsafe { run_avx512(self, registers) },
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
        #[cfg(not(target_arch = "x86_64"))]
        return vec![Width::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            let mut available = vec![Width::Portable];
            if is_x86_feature_detected!("avx2") {
                available.push(Width::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                available.push(Width::Avx512);
            }
            available
        }
    }

    /// The widest that this machine can run.
    pub fn detect() -> Width {
        *Self::available().last().unwrap_or(&Width::Portable)
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
                // Each negative factor takes the other off the high half.
                let excess = (negative(d) & s).wrapping_add(negative(s) & d);
                multiply_high(d, s).wrapping_sub(excess & o.sign())
            });
        }
    }
}

/// Applies `f` to destination and source of each operation, lane by lane.
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

/// All ones for a negative number, else zero.
#[inline(always)]
fn negative(x: u64) -> u64 {
    (x as i64 >> 63) as u64
}

/// The high half of a product from four 32-bit ones, which vector units have.
#[inline(always)]
fn multiply_high(a: u64, b: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    let (a0, a1, b0, b1) = (a & LOW, a >> 32, b & LOW, b >> 32);
    let middle = a1 * b0 + ((a0 * b0) >> 32);
    a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & LOW)) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blake_generator::BlakeGenerator;
    use crate::superscalar::generate;

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
