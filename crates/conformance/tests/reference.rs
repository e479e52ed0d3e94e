//! Random keys and inputs against the reference implementation (v1, compiled programs), by the fastest
//! engine, in several numbers of lanes.

use std::sync::{Arc, Mutex};
use std::thread;

use randomx::blake_generator::BlakeGenerator;
use randomx::{Cache, EngineChoice, Version, Vm, VmOptions};
use randomx_rs::{RandomXCache, RandomXFlag, RandomXVM};
use randomx_testing::say;

const KEYS: usize = 8;

/// Numbers of lanes, each with the number of inputs of each key. With several lanes, the last group is
/// not full.
const INPUTS: [(usize, usize); 4] = [(1, 60), (2, 61), (4, 62), (8, 68)];

/// The fastest engine, chosen by name, so that there is no fallback to another.
const ENGINE: EngineChoice =
    if cfg!(target_arch = "x86_64") { EngineChoice::Jit } else { EngineChoice::Interpreter };

/// Lengths around the 60 bytes that the SuperscalarHash generator reads, and that of a hash.
const KEY_LENGTHS: [usize; 3] = [60, 61, 32];

#[test]
fn two_thousand_hashes_are_those_of_the_reference() {
    let left = Mutex::new(0..KEYS);
    let compared = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some(key) = { left.lock().expect("no thread has panicked").next() } {
                    let hashes = compare_hashes_of_key(key);
                    *compared.lock().expect("no thread has panicked") += hashes;
                }
            });
        }
    });
    let compared = compared.into_inner().expect("no thread has panicked");
    say(format_args!("light, {ENGINE:?}, against the reference: {compared} hashes of {KEYS} keys"));
    assert!(compared >= 2_000);
}

fn compare_hashes_of_key(number: usize) -> usize {
    // The generator is a source of random numbers that are the same in every run.
    let mut random = BlakeGenerator::new(&[b"against the reference", &[number as u8][..]].concat());
    let any = 1 + random.word() as usize % 100;
    let key = bytes(&mut random, KEY_LENGTHS.get(number).copied().unwrap_or(any));
    let reference = Reference::new(&key);
    let cache = Arc::new(Cache::new(&key).expect("a cache"));

    let mut compared = 0;
    for (lanes, count) in INPUTS {
        let inputs: Vec<Vec<u8>> = (0..count)
            .map(|index| {
                let any = 1 + random.word() as usize % 300;
                bytes(&mut random, if index == 0 { 1 << 18 } else { any })
            })
            .collect();
        let options = VmOptions { lanes: Some(lanes), engine: ENGINE, ..VmOptions::default() };
        let mut vm = Vm::with_options(cache.clone(), Version::V1, options).expect("a VM");
        for (hash, input) in vm.hash_many(&inputs).into_iter().zip(&inputs) {
            assert_eq!(
                hash.as_slice(),
                reference.hash(input),
                "{lanes} lanes, key {}, input {}",
                hex::encode(&key),
                hex::encode(input)
            );
            compared += 1;
        }
    }
    compared
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
