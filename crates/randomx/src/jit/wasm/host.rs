//! Who compiles modules of programs and calls them: a JavaScript engine, or a WebAssembly runtime in
//! tests.

use crate::engine::Lane;
use crate::scratchpad::Scratchpad;

pub use super::program::EXPORT;

/// An engine of WebAssembly whose modules see the memory that lanes and scratchpads are in.
///
/// A module of a program imports that memory as `randomx` `memory`, and exports one function by the
/// name [`EXPORT`] of type `(lane: i32, scratchpad: i32) -> ()`, which takes addresses in it.
pub trait Host {
    /// A module that is compiled and instantiated, until it is dropped.
    type Program;

    /// Compiles a module. None where that is refused: the interpreter then runs the program.
    fn compile(&self, module: &[u8]) -> Option<Self::Program>;

    /// Calls its function, which reads and writes both in place and keeps neither address.
    fn call(&self, program: &Self::Program, lane: &mut Lane, scratchpad: &mut Scratchpad);
}
