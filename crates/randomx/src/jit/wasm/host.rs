//! The interface to what compiles and calls program modules: a JavaScript engine, or a WebAssembly
//! runtime in tests.

use crate::engine::Lane;
use crate::scratchpad::Scratchpad;

pub use super::program::EXPORT;

/// A WebAssembly engine whose modules see the memory that lanes and scratchpads are in.
///
/// A program's module imports that memory as `randomx.memory`. It exports one function, named
/// [`EXPORT`], of type `(lane: i32, scratchpad: i32) -> ()`; the arguments are addresses.
pub trait Host {
    /// A module, compiled and instantiated.
    type Program;

    /// Compiles a module. If this returns `None`, the interpreter runs the program.
    fn compile(&self, module: &[u8]) -> Option<Self::Program>;

    /// Calls the module's function. It reads and writes the lane and the scratchpad in place, and
    /// keeps neither address.
    fn call(&self, program: &Self::Program, lane: &mut Lane, scratchpad: &mut Scratchpad);
}
