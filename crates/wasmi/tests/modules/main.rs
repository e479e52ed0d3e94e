//! The modules of a key, run by wasmi.

// Imports for `samples`, which uses them through `super` and `crate`.
use randomx::superscalar::{Instruction, Kind, Program};
use randomx::{blake_generator, params};

mod argon2d;
#[path = "../../../randomx/src/superscalar/samples.rs"]
mod samples;
mod superscalar;
