//! Events that the interpreter reports while it runs.

use crate::f64x2::F64x2;
use crate::program::Program;
use crate::registers::RegisterFile;
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// Receives the events of running programs, in the order of specification 4.6.2.
///
/// All methods default to no-ops, which are compiled away: with `()` the interpreter is the one
/// that hashes.
#[cfg_attr(not(feature = "internals"), allow(dead_code))]
pub trait Tracer {
    /// Receives a program, one of 8 in a hash, before it runs.
    #[inline(always)]
    fn program(&mut self, _program: &Program) {}

    /// Receives the registers that an iteration has loaded (steps 1 to 3) and the addresses of the
    /// 64-byte lines, `spAddr0` and `spAddr1`. The iteration will write both lines at its end.
    #[inline(always)]
    fn iteration(&mut self, _lines: [u32; 2], _registers: &RegisterFile) {}

    /// Receives the index of an instruction before it runs. The events up to the next call are its
    /// own.
    #[inline(always)]
    fn instruction(&mut self, _index: usize) {}

    /// Receives a read of 8 bytes of the scratchpad at `address`, in the level of this mask.
    #[inline(always)]
    fn read(&mut self, _address: u32, _mask: u32) {}

    /// Receives a write of 8 bytes of the scratchpad at `address`, in the level of this mask.
    #[inline(always)]
    fn write(&mut self, _address: u32, _mask: u32) {}

    /// Receives whether a branch is taken.
    #[inline(always)]
    fn branch(&mut self, _taken: bool) {}

    /// Receives the value that CFROUND has written to `fprc`.
    #[inline(always)]
    fn rounding(&mut self, _mode: RoundingMode) {}

    /// Receives a value that was written to a register of group F (0 to 3) or E (4 to 7).
    #[inline(always)]
    fn float(&mut self, _register: u8, _value: F64x2) {}

    /// Receives the registers after all instructions of an iteration (step 4), before groups F and
    /// E are mixed.
    #[inline(always)]
    fn executed(&mut self, _registers: &RegisterFile) {}

    /// Receives the dataset item that the iteration has read (step 7).
    #[inline(always)]
    fn item(&mut self, _number: u32, _item: &Item) {}

    /// Receives the registers at the end of an iteration, when both lines are written (step 12).
    #[inline(always)]
    fn iterated(&mut self, _registers: &RegisterFile) {}

    /// Receives the scratchpad after the last program. Its AesHash1R will be a part of the hash.
    #[inline(always)]
    fn scratchpad(&mut self, _scratchpad: &Scratchpad) {}
}

/// A no-op tracer.
impl Tracer for () {}

/// Defines all methods of a tracer that forwards every call.
macro_rules! forward {
    ($self:ident, $($to:expr),+) => {
        #[inline(always)]
        fn program(&mut $self, program: &Program) {
            $($to.program(program);)+
        }
        #[inline(always)]
        fn iteration(&mut $self, lines: [u32; 2], registers: &RegisterFile) {
            $($to.iteration(lines, registers);)+
        }
        #[inline(always)]
        fn instruction(&mut $self, index: usize) {
            $($to.instruction(index);)+
        }
        #[inline(always)]
        fn read(&mut $self, address: u32, mask: u32) {
            $($to.read(address, mask);)+
        }
        #[inline(always)]
        fn write(&mut $self, address: u32, mask: u32) {
            $($to.write(address, mask);)+
        }
        #[inline(always)]
        fn branch(&mut $self, taken: bool) {
            $($to.branch(taken);)+
        }
        #[inline(always)]
        fn rounding(&mut $self, mode: RoundingMode) {
            $($to.rounding(mode);)+
        }
        #[inline(always)]
        fn float(&mut $self, register: u8, value: F64x2) {
            $($to.float(register, value);)+
        }
        #[inline(always)]
        fn executed(&mut $self, registers: &RegisterFile) {
            $($to.executed(registers);)+
        }
        #[inline(always)]
        fn item(&mut $self, number: u32, item: &Item) {
            $($to.item(number, item);)+
        }
        #[inline(always)]
        fn iterated(&mut $self, registers: &RegisterFile) {
            $($to.iterated(registers);)+
        }
        #[inline(always)]
        fn scratchpad(&mut $self, scratchpad: &Scratchpad) {
            $($to.scratchpad(scratchpad);)+
        }
    };
}

impl<T: Tracer> Tracer for &mut T {
    forward!(self, (**self));
}

/// Forwards every call to two tracers. Pairs can be nested.
impl<A: Tracer, B: Tracer> Tracer for (A, B) {
    forward!(self, self.0, self.1);
}
