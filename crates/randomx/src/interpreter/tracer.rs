//! Events that the interpreter reports while it runs.

use crate::f64x2::F64x2;
use crate::program::Program;
use crate::registers::RegisterFile;
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// Receives the events of running programs, in the order of specification 4.6.2.
///
/// All methods default to no-ops, which are compiled away: with `()` the interpreter is the one that
/// hashes.
#[cfg_attr(not(feature = "internals"), allow(dead_code))]
pub trait Tracer {
    /// A program, one of 8 in a hash, is about to run.
    #[inline(always)]
    fn program(&mut self, _program: &Program) {}

    /// An iteration has loaded its registers (steps 1 to 3) from the 64-byte lines at `spAddr0` and
    /// `spAddr1`. It will write both at its end.
    #[inline(always)]
    fn iteration(&mut self, _lines: [u32; 2], _registers: &RegisterFile) {}

    /// The instruction with this index is about to run. The events up to the next call are its own.
    #[inline(always)]
    fn instruction(&mut self, _index: usize) {}

    /// The instruction reads 8 bytes of the scratchpad at `address`, in the level of this mask.
    #[inline(always)]
    fn read(&mut self, _address: u32, _mask: u32) {}

    /// The instruction writes 8 bytes of the scratchpad at `address`, in the level of this mask.
    #[inline(always)]
    fn write(&mut self, _address: u32, _mask: u32) {}

    /// The instruction is a branch.
    #[inline(always)]
    fn branch(&mut self, _taken: bool) {}

    /// The instruction has set `fprc`.
    #[inline(always)]
    fn rounding(&mut self, _mode: RoundingMode) {}

    /// The instruction has written this value to a register of group F (0 to 3) or E (4 to 7).
    #[inline(always)]
    fn float(&mut self, _register: u8, _value: F64x2) {}

    /// All instructions of the iteration have run (step 4). Groups F and E are not yet mixed.
    #[inline(always)]
    fn executed(&mut self, _registers: &RegisterFile) {}

    /// The iteration has read the dataset item with this number (step 7).
    #[inline(always)]
    fn item(&mut self, _number: u32, _item: &Item) {}

    /// The iteration has written both lines and ends (step 12).
    #[inline(always)]
    fn iterated(&mut self, _registers: &RegisterFile) {}

    /// The last program has run. AesHash1R of this scratchpad will be a part of the hash.
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
