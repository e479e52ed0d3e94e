//! Every vector of a part of the algorithm, on this machine and on poorer ones.

use randomx::VmOptions;
use randomx::cpu::Cpu;
use randomx_conformance::hash_vectors;

use crate::{ENGINES, say, vectors_of};

#[test]
fn parts_on_this_machine_and_on_poorer_ones() {
    for cpu in Cpu::detect().levels() {
        for &engine in ENGINES {
            let options = VmOptions { cpu, engine, ..VmOptions::default() };
            let checked: usize =
                randomx_conformance::suites().map(|suite| check(suite, options)).sum();
            say(&format!("parts, {engine:?}, {cpu}: {checked} values"));
        }
    }
}

/// Runs a suite, unless it is one of whole hashes; says how many values it checked.
fn check(suite: &str, options: VmOptions) -> usize {
    let text = vectors_of(suite);
    let wrong = |error| -> ! { panic!("{suite}: {error}") };
    if !hash_vectors(suite, &text).unwrap_or_else(|error| wrong(error)).is_empty() {
        return 0;
    }
    let report =
        randomx_conformance::run(suite, &text, options).unwrap_or_else(|error| wrong(error));
    assert!(report.checked > 0, "{suite} checked nothing");
    assert!(report.failures.is_empty(), "{suite}, {options:?}:\n{}", report.failures.join("\n"));
    report.checked
}
