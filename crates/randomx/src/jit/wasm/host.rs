//! Who compiles modules of programs and calls them: a JavaScript engine, or a WebAssembly runtime in
//! tests.

use crate::engine::Lane;
use crate::scratchpad::Scratchpad;

/// An engine of WebAssembly whose modules see the memory that lanes and scratchpads are in.
///
/// A module of a program imports that memory as `randomx` `memory`, and exports functions `"0"`,
/// `"1"` and so on of type `(lane: i32, scratchpad: i32) -> ()`, which take addresses in it.
pub trait Host {
    /// A module that is compiled and instantiated, until it is dropped.
    type Program;

    /// Compiles a module that exports so many functions. None where that is refused: the
    /// interpreter then runs the program.
    fn compile(&self, module: &[u8], functions: usize) -> Option<Self::Program>;

    /// Calls one of the functions, which reads and writes both in place and keeps neither address.
    fn call(
        &self,
        program: &Self::Program,
        function: usize,
        lane: &mut Lane,
        scratchpad: &mut Scratchpad,
    );
}
