//! Random keys and inputs against the reference implementation (v1, compiled programs), by the fastest
//! engine, in several numbers of lanes.
//!
//! The inputs are the same in every run, and the reference takes most of the time. So it hashes those of one key, and of
//! every group whose hashes differ from the kept ones. The file of kept ones has the Blake2b hash of each group's outputs.

use std::cell::LazyCell;
use std::sync::{Arc, Mutex};
use std::thread;

use randomx::blake_generator::BlakeGenerator;
use randomx::blake2b::hash256;
use randomx::{Cache, EngineChoice, Version, Vm, VmOptions};
use randomx_rs::{RandomXCache, RandomXFlag, RandomXVM};
use randomx_testing::say;

const KEYS: usize = 8;

/// A line for each key and number of lanes: both, and the Blake2b hash of the reference's outputs one after the other.
const KEPT: &str = include_str!("reference/kept.txt");

/// The key whose inputs the reference hashes in every run.
const LIVE: usize = 0;

/// Numbers of lanes, each with the number of inputs of each key. With several lanes, the last group is
/// not full.
const INPUTS: [(usize, usize); 4] = [(1, 60), (2, 61), (4, 62), (8, 68)];

/// The fastest engine, chosen by name, so that there is no fallback to another.
const ENGINE: EngineChoice = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
    EngineChoice::Jit
} else {
    EngineChoice::Interpreter
};

/// Lengths around the 60 bytes that the SuperscalarHash generator reads, and that of a hash.
const KEY_LENGTHS: [usize; 3] = [60, 61, 32];

#[test]
fn two_thousand_hashes_are_those_of_the_reference() {
    let left = Mutex::new(0..KEYS);
    let compared = Mutex::new((0, Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some(key) = { left.lock().expect("no thread has panicked").next() } {
                    let (hashes, lines) = compare_hashes_of_key(key);
                    let mut compared = compared.lock().expect("no thread has panicked");
                    compared.0 += hashes;
                    compared.1.extend(lines);
                }
            });
        }
    });
    let (compared, mut lines) = compared.into_inner().expect("no thread has panicked");
    lines.sort_unstable();
    assert!(lines.is_empty(), "tests/reference/kept.txt lacks these lines:\n{}", lines.join("\n"));
    say(format_args!("light, {ENGINE:?}, against the reference: {compared} hashes of {KEYS} keys"));
    assert!(compared >= 2_000);
}

/// Returns the number of hashes, and the lines of groups that are right and not kept.
fn compare_hashes_of_key(number: usize) -> (usize, Vec<String>) {
    // The generator is a source of random numbers that are the same in every run.
    let mut random = BlakeGenerator::new(&[b"against the reference", &[number as u8][..]].concat());
    let any = 1 + random.word() as usize % 100;
    let key = bytes(&mut random, KEY_LENGTHS.get(number).copied().unwrap_or(any));
    let reference = LazyCell::new(|| Reference::new(&key));
    let cache = Arc::new(Cache::new(&key).expect("a cache"));

    let (mut compared, mut unkept) = (0, Vec::new());
    for (lanes, count) in INPUTS {
        let inputs: Vec<Vec<u8>> = (0..count)
            .map(|index| {
                let any = 1 + random.word() as usize % 300;
                bytes(&mut random, if index == 0 { 1 << 18 } else { any })
            })
            .collect();
        let options = VmOptions { lanes: Some(lanes), engine: ENGINE, ..VmOptions::default() };
        let mut vm = Vm::with_options(cache.clone(), Version::V1, options).expect("a VM");
        let hashes = vm.hash_many(&inputs);
        let line = format!("{number} {lanes} {}", hex::encode(hash256(&[hashes.as_flattened()])));
        let is_kept = KEPT.lines().any(|kept| kept == line);
        if number == LIVE || !is_kept {
            for (hash, input) in hashes.iter().zip(&inputs) {
                assert_eq!(
                    hash.as_slice(),
                    reference.hash(input),
                    "{lanes} lanes, key {}, input {}",
                    hex::encode(&key),
                    hex::encode(input)
                );
            }
        }
        compared += hashes.len();
        unkept.extend((!is_kept).then_some(line));
    }
    (compared, unkept)
}

/// The reference implementation. This wrapper of it refuses empty keys and inputs; the vectors have
/// some.
struct Reference(RandomXVM);

impl Reference {
    fn new(key: &[u8]) -> Reference {
        let flags = RandomXFlag::get_recommended_flags();
        let cache = RandomXCache::new(flags, key).expect("a reference cache");
        Reference(RandomXVM::new(flags, Some(cache), None).expect("a reference VM"))
    }

    fn hash(&self, input: &[u8]) -> Vec<u8> {
        self.0.calculate_hash(input).expect("a reference hash")
    }
}

fn bytes(random: &mut BlakeGenerator, length: usize) -> Vec<u8> {
    (0..length).map(|_| random.byte()).collect()
}
