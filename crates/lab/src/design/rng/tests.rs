//! The streams, and a few quick tests of them.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::dieharder::{self, Assessment, Finding, Test};

fn bytes(name: &str, seed: u64, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    let mut stream = crate::stream(&Rng, name, seed).expect("a stream");
    stream.read_exact(&mut bytes).expect("streams have no end");
    bytes
}

/// The document prints the initial state for seed 1.
#[test]
fn hashed_states_match_the_document() {
    let state = randomx::blake2b::hash512(&[&1u64.to_le_bytes()]);
    let hex: String = state.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "67e8bbe567a1c18c91a316faf19fab7339f7c0e0a8d96512c525852124fdc9fe\
         7abb07b2c90e04f098261e323eee81593df534c34cdfbb4e70f8c0e1826f4cf7"
    );
}

#[test]
fn streams_are_the_generators_output() {
    use randomx::aes::{Aes, AesGenerator4R};
    let mut expected = vec![[0; 64]; 3000];
    let seed = randomx::blake2b::hash512(&[&5u64.to_le_bytes()]);
    AesGenerator4R::new(&seed, Aes::new(randomx::cpu::Cpu::baseline())).fill(&mut expected);
    assert_eq!(bytes("4r-hashed", 5, 3000 * 64), expected.as_flattened());
    assert_ne!(bytes("4r-hashed", 5, 64), bytes("4r-hashed", 6, 64));
    assert_ne!(bytes("1r-hashed", 5, 64), bytes("4r-hashed", 5, 64));
    assert_eq!(bytes("1r-zero", 5, 64), bytes("1r-zero", 6, 64));
}

#[test]
#[ignore = "full tests: needs dieharder"]
fn quick_tests_pass() {
    let quick: Vec<Test> =
        TESTS.iter().copied().filter(|test| [0, 15, 100, 101].contains(&test.number)).collect();
    let settings = Settings::default();
    let results = battery::run("4r-hashed", &quick, 20, &settings, &mut ()).expect("dieharder");
    assert!(results.len() >= quick.len(), "{results:?}");
    let verdict = battery::verdict("4r-hashed", &results);
    let row = summed_up("4r-hashed", &results);
    assert_eq!((row.published, row.here, row.agrees()), (Some(0.0), 0.0, Some(true)));
    for result in &results {
        let assess = |p| Finding { name: String::new(), p }.assessment();
        assert_ne!(assess(result.p), Assessment::Failed, "{result:?}");
        assert!(result.again.is_none_or(|p| assess(p) == Assessment::Passed), "{result:?}");
    }
    assert!(verdict.contains(&format!("{} p-values", results.len())), "{verdict}");
}

/// The record in `docs` has 100 repetitions, and changes if another number of bytes is skipped.
#[test]
fn a_second_run_begins_after_the_numbers_of_the_first() {
    const MIB: u64 = 1 << 20;
    let used = [1, 39, 40, 100, 10_000].map(battery::used);
    assert_eq!(used, [640 * MIB, 640 * MIB, 640 * MIB, 1600 * MIB, 160_000 * MIB]);
}

/// Counts the bytes that are read.
struct Counting(crate::Stream, Arc<AtomicU64>);

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[test]
#[ignore = "full tests: needs dieharder"]
fn no_repetition_of_a_test_reads_more_than_is_skipped() {
    const REPEATS: u64 = 2;
    for test in TESTS {
        let bytes = Arc::default();
        let stream = streams::of("4r-hashed", 1).expect("a stream");
        let counting = Box::new(Counting(stream, Arc::clone(&bytes)));
        dieharder::run(*test, REPEATS, counting).expect("dieharder");
        // This includes bytes that are still in the pipe.
        let each = bytes.load(Ordering::Relaxed) / test.repeats(REPEATS);
        assert!(each < battery::repetition(*test), "{test:?} reads {each}");
    }
}

#[test]
fn a_verdict_gives_the_probability_of_chance() {
    let result = |p, again| Tested { name: "test".to_owned(), p, again };
    let clean = battery::verdict("x", &vec![result(0.5, None); 100]);
    assert!(clean.contains("0 weak") && clean.contains("probability of 1.00"), "{clean}");
    let mut results = vec![result(0.5, None); 99];
    results.push(result(0.001, Some(0.4)));
    let weak = battery::verdict("x", &results);
    // 1 - 0.99^100
    assert!(
        weak.contains("probability of 0.63") && weak.contains("none is weak or failed"),
        "{weak}"
    );
    results[0] = result(1e-9, Some(1e-9));
    let failed = battery::verdict("x", &results);
    assert!(failed.contains("these are weak or failed: test"), "{failed}");
    // The table counts the same.
    assert!(failed.contains("1 weak, 1 failed") && failed.contains("and 2 or more"), "{failed}");
    let row = summed_up("x", &results);
    assert_eq!((row.here, &row.others[..]), (1.0, &[Some(1.0), Some(100.0)][..]));
}
