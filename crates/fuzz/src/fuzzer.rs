//! libFuzzer with every target. The environment variable `RANDOMX_FUZZ_TARGET` names the one to run.
//! `cargo xtask fuzz` sets it.

#![no_main]

use std::env;
use std::sync::LazyLock;

use randomx_fuzz::Target;

/// The target to run. One program serves all targets: a program for one target would contain the others' code too.
static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = env::var("RANDOMX_FUZZ_TARGET").expect("RANDOMX_FUZZ_TARGET names a target");
    Target::named(&name)
});

libfuzzer_sys::fuzz_target!(
    // A wrong name ends the program before it reads an input.
    init: LazyLock::force(&TARGET),
    |data: &[u8]| {
        (TARGET.run)(data);
    }
);
