//! The reference engine: safe, portable and the definition of what the others must compute.

use crate::engine::{Engine, Lane};
use crate::f64x2::F64x2;
use crate::program::{Address, Operation, Program, decode};
use crate::rounding::{self, RoundingMode};
use crate::scratchpad::Scratchpad;

/// Runs decoded operations one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

impl Engine for Interpreter {
    type Code = Vec<Operation>;

    fn load(&self, program: &Program, code: &mut Vec<Operation>) {
        decode(&program.instructions, program.version, code);
    }

    fn execute(&self, code: &Vec<Operation>, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        let mut machine = Machine::new(lane, scratchpad);
        machine.run(code);
        machine.leave(lane);
    }
}

/// FSCAL_R: the sign and the low exponent bits to flip (specification 5.3.4).
const SCALE: u64 = 0x80f0_0000_0000_0000;

/// The registers while a program runs. `r[8]` is the zero register and stays zero; the array
/// is longer than that because a power of two needs no bounds checks.
struct Machine<'a> {
    r: [u64; 16],
    f: [F64x2; 4],
    e: [F64x2; 4],
    a: [F64x2; 4],
    e_mask: F64x2,
    mode: RoundingMode,
    scratchpad: &'a mut Scratchpad,
}

impl<'a> Machine<'a> {
    #[inline(always)]
    fn new(lane: &Lane, scratchpad: &'a mut Scratchpad) -> Machine<'a> {
        let mut r = [0; 16];
        r[..8].copy_from_slice(&lane.registers.r);
        Machine {
            r,
            f: lane.registers.f,
            e: lane.registers.e,
            a: lane.registers.a,
            e_mask: lane.e_mask,
            mode: lane.rounding_mode,
            scratchpad,
        }
    }

    #[inline(always)]
    fn leave(self, lane: &mut Lane) {
        lane.registers.r.copy_from_slice(&self.r[..8]);
        lane.registers.f = self.f;
        lane.registers.e = self.e;
        lane.rounding_mode = self.mode;
    }

    #[inline(always)]
    fn run(&mut self, operations: &[Operation]) {
        let mut next = 0;
        while let Some(&operation) = operations.get(next) {
            next += 1;
            match operation {
                Operation::Nop => {}
                Operation::IaddRs { dst, src, shift, constant } => {
                    let shifted = self.integer(src) << (shift & 3);
                    self.update(dst, |d| d.wrapping_add(shifted).wrapping_add(constant as u64));
                }
                Operation::IaddM { dst, address } => {
                    let s = self.load(address);
                    self.update(dst, |d| d.wrapping_add(s));
                }
                Operation::IsubR { dst, src } => {
                    let s = self.integer(src);
                    self.update(dst, |d| d.wrapping_sub(s));
                }
                Operation::IsubC { dst, constant } => {
                    self.update(dst, |d| d.wrapping_sub(constant as u64));
                }
                Operation::IsubM { dst, address } => {
                    let s = self.load(address);
                    self.update(dst, |d| d.wrapping_sub(s));
                }
                Operation::ImulR { dst, src } => {
                    let s = self.integer(src);
                    self.update(dst, |d| d.wrapping_mul(s));
                }
                Operation::ImulC { dst, constant } => {
                    self.update(dst, |d| d.wrapping_mul(constant));
                }
                Operation::ImulM { dst, address } => {
                    let s = self.load(address);
                    self.update(dst, |d| d.wrapping_mul(s));
                }
                Operation::ImulhR { dst, src } => {
                    let s = self.integer(src);
                    self.update(dst, |d| multiply_high(d, s));
                }
                Operation::ImulhM { dst, address } => {
                    let s = self.load(address);
                    self.update(dst, |d| multiply_high(d, s));
                }
                Operation::IsmulhR { dst, src } => {
                    let s = self.integer(src);
                    self.update(dst, |d| multiply_high_signed(d, s));
                }
                Operation::IsmulhM { dst, address } => {
                    let s = self.load(address);
                    self.update(dst, |d| multiply_high_signed(d, s));
                }
                Operation::InegR { dst } => self.update(dst, u64::wrapping_neg),
                Operation::IxorR { dst, src } => {
                    let s = self.integer(src);
                    self.update(dst, |d| d ^ s);
                }
                Operation::IxorC { dst, constant } => self.update(dst, |d| d ^ constant as u64),
                Operation::IxorM { dst, address } => {
                    let s = self.load(address);
                    self.update(dst, |d| d ^ s);
                }
                Operation::IrorR { dst, src } => {
                    let s = self.integer(src);
                    self.update(dst, |d| d.rotate_right(s as u32 & 63));
                }
                Operation::IrorC { dst, count } => {
                    self.update(dst, |d| d.rotate_right(u32::from(count)));
                }
                Operation::IrolR { dst, src } => {
                    let s = self.integer(src);
                    self.update(dst, |d| d.rotate_left(s as u32 & 63));
                }
                Operation::IswapR { dst, src } => {
                    self.r.swap(usize::from(dst & 7), usize::from(src & 7));
                }
                Operation::FswapF { dst } => self.update_f(dst, F64x2::swap),
                Operation::FswapE { dst } => self.update_e(dst, F64x2::swap),
                Operation::FaddR { dst, src } => {
                    let (s, mode) = (self.constant(src), self.mode);
                    self.update_f(dst, |d| rounding::add(d, s, mode));
                }
                Operation::FaddM { dst, address } => {
                    let (s, mode) = (F64x2::from_integers(self.read(address)), self.mode);
                    self.update_f(dst, |d| rounding::add(d, s, mode));
                }
                Operation::FsubR { dst, src } => {
                    let (s, mode) = (self.constant(src), self.mode);
                    self.update_f(dst, |d| rounding::sub(d, s, mode));
                }
                Operation::FsubM { dst, address } => {
                    let (s, mode) = (F64x2::from_integers(self.read(address)), self.mode);
                    self.update_f(dst, |d| rounding::sub(d, s, mode));
                }
                Operation::FscalR { dst } => self.update_f(dst, |d| d ^ F64x2::splat_bits(SCALE)),
                Operation::FmulR { dst, src } => {
                    let (s, mode) = (self.constant(src), self.mode);
                    self.update_e(dst, |d| rounding::mul(d, s, mode));
                }
                Operation::FdivM { dst, address } => {
                    let s = Lane::group_e(self.e_mask, self.read(address));
                    let mode = self.mode;
                    self.update_e(dst, |d| rounding::div(d, s, mode));
                }
                Operation::FsqrtR { dst } => {
                    let mode = self.mode;
                    self.update_e(dst, |d| rounding::sqrt(d, mode));
                }
                Operation::Cbranch { dst, constant, shift, target } => {
                    self.update(dst, |d| d.wrapping_add(constant as u64));
                    if self.integer(dst) >> (shift & 63) & 0xff == 0 {
                        next = usize::from(target);
                    }
                }
                Operation::Cfround { src, count, gate } => {
                    let rotated = self.integer(src).rotate_right(u32::from(count));
                    if rotated & u64::from(gate) == 0 {
                        self.mode = RoundingMode::from_fprc(rotated);
                    }
                }
                Operation::Istore { src, address } => {
                    let bytes = self.integer(src).to_le_bytes();
                    let address = self.locate(address);
                    self.scratchpad.write(address, bytes);
                }
            }
        }
    }

    #[inline(always)]
    fn integer(&self, register: u8) -> u64 {
        self.r[usize::from(register & 15)]
    }

    #[inline(always)]
    fn update(&mut self, register: u8, f: impl FnOnce(u64) -> u64) {
        let register = &mut self.r[usize::from(register & 7)];
        *register = f(*register);
    }

    #[inline(always)]
    fn constant(&self, register: u8) -> F64x2 {
        self.a[usize::from(register & 3)]
    }

    #[inline(always)]
    fn update_f(&mut self, register: u8, f: impl FnOnce(F64x2) -> F64x2) {
        let register = &mut self.f[usize::from(register & 3)];
        *register = f(*register);
    }

    #[inline(always)]
    fn update_e(&mut self, register: u8, f: impl FnOnce(F64x2) -> F64x2) {
        let register = &mut self.e[usize::from(register & 3)];
        *register = f(*register);
    }

    #[inline(always)]
    fn locate(&self, address: Address) -> u32 {
        (self.integer(address.register) as u32).wrapping_add(address.offset) & address.mask
    }

    #[inline(always)]
    fn read(&self, address: Address) -> [u8; 8] {
        self.scratchpad.read(self.locate(address))
    }

    #[inline(always)]
    fn load(&self, address: Address) -> u64 {
        u64::from_le_bytes(self.read(address))
    }
}

#[inline(always)]
fn multiply_high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

#[inline(always)]
fn multiply_high_signed(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}
