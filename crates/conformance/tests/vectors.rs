//! Every vector, natively, by every implementation that the machine has.

use std::path::Path;

use randomx::VmOptions;
use randomx::cpu::Cpu;

fn run_all(options: VmOptions) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    for suite in randomx_conformance::suites() {
        let text = std::fs::read_to_string(folder.join(suite).with_extension("json"))
            .unwrap_or_else(|error| panic!("{suite}: {error}"));
        let report = randomx_conformance::run(suite, &text, options)
            .unwrap_or_else(|error| panic!("{suite}: {error}"));
        println!("{suite}: {} values", report.checked);
        assert!(report.checked > 0, "{suite} checked nothing");
        assert!(report.failures.is_empty(), "{suite}:\n{}", report.failures.join("\n"));
    }
}

#[test]
fn on_this_machine_and_on_poorer_ones() {
    for cpu in Cpu::detect().levels() {
        println!("with {cpu}:");
        run_all(VmOptions { cpu, ..VmOptions::default() });
    }
}

/// A vector file that no suite runs would be a promise that nobody keeps.
#[test]
fn every_file_has_a_suite() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the vectors are there")
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .collect();
    files.sort();
    let mut suites: Vec<&str> = randomx_conformance::suites().collect();
    suites.sort_unstable();
    assert_eq!(files, suites);
}
