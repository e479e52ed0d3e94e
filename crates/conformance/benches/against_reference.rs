//! This crate's interpreter against the reference implementation's, in light mode on one thread.
//!
//! The two take turns, so that both see the same machine whatever else it does, and medians are
//! compared. Run it with `cargo bench -p randomx-conformance`; `BENCH_ROUNDS` sets the rounds.

use std::sync::Arc;
use std::time::Instant;

use randomx::{Cache, EngineChoice, Version, Vm, VmOptions};
use randomx_rs::{RandomXCache, RandomXFlag, RandomXVM};

/// Hashes in a measurement: a whole group of lanes.
const BATCH: usize = 8;
const KEY: &[u8] = b"against the reference";

fn main() {
    // `cargo test --benches` and the like pass arguments that this program has no use for.
    let rounds = std::env::var("BENCH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(7);
    let reference_flags = RandomXFlag::get_recommended_flags() - RandomXFlag::FLAG_JIT;
    println!("reference: {reference_flags:?}; {rounds} rounds of {BATCH} hashes, interleaved");

    let mut contestants = vec![Contestant::reference(reference_flags)];
    contestants.extend([1, 8].map(Contestant::ours));
    for round in 0..rounds {
        for contestant in &mut contestants {
            contestant.measure(round);
        }
    }

    let reference = contestants[0].median();
    println!("{:<34} {:>9} {:>7}", "RandomX v1, light, interpreter", "ms/hash", "ratio");
    for contestant in &mut contestants {
        let median = contestant.median();
        println!("{:<34} {median:>9.1} {:>6.2}x", contestant.name, reference / median);
    }
}

/// Hashes a batch of inputs.
type HashBatch = dyn FnMut(&[[u8; 8]]) -> Vec<Vec<u8>>;

struct Contestant {
    name: String,
    hash_batch: Box<HashBatch>,
    milliseconds: Vec<f64>,
}

impl Contestant {
    fn reference(flags: RandomXFlag) -> Contestant {
        let cache = RandomXCache::new(flags, KEY).expect("a reference cache");
        let vm = RandomXVM::new(flags, Some(cache), None).expect("a reference VM");
        Contestant {
            name: "reference implementation".to_owned(),
            hash_batch: Box::new(move |inputs| {
                inputs.iter().map(|input| vm.calculate_hash(input).expect("a hash")).collect()
            }),
            milliseconds: Vec::new(),
        }
    }

    fn ours(lanes: usize) -> Contestant {
        let cache = Arc::new(Cache::new(KEY).expect("a cache"));
        let options = VmOptions {
            lanes: Some(lanes),
            engine: EngineChoice::Interpreter,
            ..VmOptions::default()
        };
        let mut vm = Vm::with_options(cache, Version::V1, options).expect("a VM");
        Contestant {
            name: format!("randomx, lanes: {lanes}"),
            hash_batch: Box::new(move |inputs| {
                vm.hash_many(inputs).into_iter().map(|hash| hash.to_vec()).collect()
            }),
            milliseconds: Vec::new(),
        }
    }

    fn measure(&mut self, round: u64) {
        let inputs: Vec<[u8; 8]> =
            (0..BATCH as u64).map(|i| (round << 8 | i).to_le_bytes()).collect();
        let start = Instant::now();
        let hashes = (self.hash_batch)(&inputs);
        self.milliseconds.push(start.elapsed().as_secs_f64() * 1e3 / BATCH as f64);
        assert_eq!(hashes.len(), BATCH);
    }

    fn median(&mut self) -> f64 {
        self.milliseconds.sort_by(f64::total_cmp);
        self.milliseconds[self.milliseconds.len() / 2]
    }
}
