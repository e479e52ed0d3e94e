//! Every vector of a part of the algorithm, on this machine and on poorer ones.

use randomx::cpu::{Cpu, Extension};
use randomx::{EngineChoice, VmOptions};
use randomx_conformance::hash_vectors;
use randomx_testing::say;

use crate::{ENGINES, levels, vectors_of};

/// The suite whose keys are expanded into caches, which takes most of the time.
const CACHE: &str = "cache";

#[test]
fn parts_on_this_machine_and_on_poorer_ones() {
    for cpu in Cpu::detect().levels() {
        for &engine in ENGINES {
            let suites = randomx_conformance::suites().filter(|suite| *suite != CACHE);
            check_all(suites, cpu, engine);
        }
    }
}

/// The interpreter and machine code compute items with different extensions. The extensions that
/// fill a cache are among those of the interpreter, so machine code needs no further levels for it.
#[test]
fn caches_and_items_on_this_machine_and_on_poorer_ones() {
    for &engine in ENGINES {
        for cpu in levels(used_extensions(engine)) {
            check_all([CACHE].into_iter(), cpu, engine);
        }
    }
}

/// Returns the extensions that change how caches and items are computed.
#[cfg(target_arch = "x86_64")]
fn used_extensions(engine: EngineChoice) -> &'static [Extension] {
    use Extension::{Avx2, Avx512, Ifma};
    if engine == EngineChoice::Jit { &[Avx2, Avx512, Ifma] } else { &[Avx2, Avx512] }
}

/// Returns all extensions.
#[cfg(not(target_arch = "x86_64"))]
fn used_extensions(_: EngineChoice) -> &'static [Extension] {
    &Extension::ALL
}

fn check_all(suites: impl Iterator<Item = &'static str>, cpu: Cpu, engine: EngineChoice) {
    let options = VmOptions { cpu, engine, ..VmOptions::default() };
    let mut checked = Vec::new();
    for suite in suites {
        let count = check(suite, options);
        if count > 0 {
            checked.push(format!("{count} of {suite}"));
        }
    }
    say(format_args!("parts, {engine:?}, {cpu}: {}", checked.join(", ")));
}

/// Runs a suite and returns the number of values that it checked. Suites of whole hashes are
/// skipped.
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
