//! Random keys and inputs against the reference implementation (v1), in all numbers of lanes.

use std::sync::Arc;

use randomx::blake_generator::BlakeGenerator;
use randomx::{Cache, MAX_LANES, Version, Vm, VmOptions};
use randomx_rs::{RandomXCache, RandomXFlag, RandomXVM};

const KEYS: usize = 7;
const INPUTS_PER_KEY: usize = 45;

#[test]
fn random_hashes_are_those_of_the_reference() {
    // The generator serves as a source of random numbers: the same in every run.
    let mut random = BlakeGenerator::new(b"random hashes are those of the reference");
    let mut compared = 0;
    for round in 0..KEYS {
        // Around the 60 bytes that the SuperscalarHash generator takes, and of any length.
        let any = 1 + random.word() as usize % 100;
        let key_length = [60, 61, 32].get(round).copied().unwrap_or(any);
        let key = bytes(&mut random, key_length);
        let inputs: Vec<Vec<u8>> = (0..INPUTS_PER_KEY)
            .map(|index| {
                let any = 1 + random.word() as usize % 300;
                let length = if index == 0 { 1 << 20 } else { any };
                bytes(&mut random, length)
            })
            .collect();
        let expected = reference(&key, &inputs);

        let cache = Arc::new(Cache::new(&key).expect("a cache"));
        let mut rest = expected.as_slice();
        let mut done = 0;
        for lanes in [1, 2, 4, MAX_LANES] {
            let options = VmOptions { lanes: Some(lanes), ..VmOptions::default() };
            let mut vm = Vm::with_options(cache.clone(), Version::V1, options).expect("a VM");
            // Each number of lanes takes its share; a share is no multiple of the lanes.
            let share = if lanes == MAX_LANES { inputs.len() - done } else { 9 };
            let hashes = vm.hash_many(&inputs[done..done + share]);
            let (expected, others) = rest.split_at(share);
            for (index, (hash, expected)) in hashes.iter().zip(expected).enumerate() {
                assert_eq!(
                    hash.as_slice(),
                    expected,
                    "{lanes} lanes, key {}, input {}",
                    hex::encode(&key),
                    hex::encode(&inputs[done + index])
                );
                compared += 1;
            }
            (rest, done) = (others, done + share);
        }
    }
    println!("{compared} hashes agree");
    assert!(compared >= 300);
}

fn reference(key: &[u8], inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let flags = RandomXFlag::get_recommended_flags();
    // The wrapper refuses empty keys and inputs, which the reference takes: see the vectors.
    let cache = RandomXCache::new(flags, key).expect("a reference cache");
    let vm = RandomXVM::new(flags, Some(cache), None).expect("a reference VM");
    inputs.iter().map(|input| vm.calculate_hash(input).expect("a reference hash")).collect()
}

fn bytes(random: &mut BlakeGenerator, length: usize) -> Vec<u8> {
    (0..length).map(|_| random.byte()).collect()
}
