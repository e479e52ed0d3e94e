//! The C library in C and C++ programs. Each test compiles programs, links them with the library that
//! `cargo xtask capi` installs, and runs them.

mod drop_in;
mod emscripten;
mod installed;
mod monerod;
mod program;
mod programs;
mod symbols;
mod vectors;
