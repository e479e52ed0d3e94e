//! Fuzz targets: functions that take arbitrary bytes and panic on a defect.
//!
//! `cargo xtask fuzz` builds the program `fuzzer` with libFuzzer and instrumented code, and runs it for each target.
//! Each has a kept corpus in `corpus`, which `tests/corpus.rs` replays in every test run.
//!
//! A target compares with an independent implementation where there is one: the crate `monero` for
//! blocks, their ids and the tree of transactions, and arithmetic in this crate for difficulties. A
//! verifier that decodes with iced-x86 checks what machine code accesses. Compiled programs are compared
//! with the core's interpreter, which shares the decoder of instructions with the compilers.

pub mod corpus;
mod input;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod machine_code;
pub mod mutate;
#[cfg(any(all(target_arch = "x86_64", target_os = "linux"), feature = "wasmi"))]
mod programs;
mod targets;
mod vectors;

// The simulated sources and the properties of the light client's own tests.
#[allow(dead_code, reason = "one target does not use all of it")]
#[path = "../../monero/tests/client/counts.rs"]
mod counts;
#[allow(dead_code, reason = "one target does not use all of it")]
#[path = "../../monero/tests/client/history.rs"]
mod history;
#[allow(dead_code, reason = "one target does not use all of it")]
#[path = "../../monero/tests/client/sources.rs"]
mod sources;
#[allow(dead_code, reason = "one target does not use all of it")]
#[path = "../../monero/tests/client/world.rs"]
mod world;

pub use targets::TARGETS;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// The length of the longest useful input, in bytes.
    pub longest: usize,
    /// The number of mutated inputs that the quick tests try.
    pub quick: usize,
    /// Runs the code under test on an input. Returns whether it accepted the input. Panics on a defect.
    pub run: fn(&[u8]) -> bool,
    /// Returns inputs that the code under test accepts, made from the test vectors.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

impl Target {
    /// Returns the target with a name.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn named(name: &str) -> Target {
        let found = TARGETS.iter().find(|target| target.name == name);
        *found.unwrap_or_else(|| panic!("no fuzz target is called {name}"))
    }
}
