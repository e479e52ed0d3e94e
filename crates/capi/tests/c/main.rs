//! The C library as C and C++ programs see it: each test compiles some, links them with what
//! `cargo xtask capi` installs, and runs them.

mod drop_in;
mod emscripten;
mod installed;
mod monerod;
mod program;
mod programs;
mod symbols;
mod vectors;
