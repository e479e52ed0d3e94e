//! Every vector of a whole hash, natively, in every mode, by every engine, in lanes of several
//! numbers, on this machine and on poorer ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::{fmt, slice, thread};

use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::{
    Cache, Dataset, DatasetError, EngineChoice, KeyMemory, MAX_LANES, Version, Vm, VmOptions,
};
use randomx_conformance::{HashVector, Report, check_hashes, hash_vectors};

use crate::{ENGINES, say, vectors_of};

/// Keys one after the other, because a dataset is large.
#[test]
fn every_hash_in_every_way() {
    let mut by_key: BTreeMap<Vec<u8>, Vec<HashVector>> = BTreeMap::new();
    for suite in randomx_conformance::suites() {
        let vectors = hash_vectors(suite, &vectors_of(suite))
            .unwrap_or_else(|error| panic!("{suite}: {error}"));
        for vector in vectors {
            by_key.entry(vector.key.clone()).or_default().push(vector);
        }
    }

    let mut tally = Tally::new();
    for (key, vectors) in &by_key {
        let cache = Arc::new(Cache::new(key).expect("a cache"));
        check_everywhere("light", &cache.clone().into(), vectors, &mut tally);
        match Dataset::new(&Items::new(cache, Cpu::detect()), threads()) {
            Ok(dataset) => {
                check_everywhere("fast", &Arc::new(dataset).into(), vectors, &mut tally);
            }
            Err(error @ DatasetError::OutOfMemory { .. }) => say(&format!("SKIPPED fast: {error}")),
            Err(error) => panic!("{error}"),
        }
    }
    for (way, checked) in &tally {
        say(&format!("{way}: {checked:?} hashes"));
    }
}

/// How many hashes were right, by how and by the number of lanes.
type Tally = BTreeMap<String, BTreeMap<usize, usize>>;

/// How hashes are computed.
struct Way {
    mode: &'static str,
    engine: EngineChoice,
    lanes: usize,
    cpu: Cpu,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Way { mode, engine, cpu, .. } = self;
        write!(f, "{mode}, {engine:?}, {cpu}, by lanes")
    }
}

impl Way {
    fn is_usual(&self) -> bool {
        self.lanes == MAX_LANES && self.cpu == Cpu::detect()
    }

    /// Whether at most one thing is different from the usual.
    fn is_nearly_usual(&self) -> bool {
        self.lanes == MAX_LANES || self.cpu == Cpu::detect()
    }

    /// The vectors that are computed in this way: all, or else as many as leave out nothing of any
    /// key but the most of two hundred shares.
    fn vectors<'a>(&self, vectors: &'a [HashVector]) -> &'a [HashVector] {
        let all = match self.engine {
            EngineChoice::Interpreter => self.is_usual(),
            _ => self.is_nearly_usual(),
        };
        &vectors[..if all { vectors.len() } else { vectors.len().min(32) }]
    }
}

/// The ways to compute hashes in a mode. The interpreter, which takes long, meets every number of
/// lanes and every machine, but not each with each.
fn ways(mode: &'static str) -> Vec<Way> {
    const LANES: [usize; 4] = [1, 2, 4, MAX_LANES];
    let mut ways = Vec::new();
    for &engine in ENGINES {
        for cpu in Cpu::detect().levels() {
            ways.extend(LANES.map(|lanes| Way { mode, engine, lanes, cpu }));
        }
    }
    ways.retain(|way| way.engine != EngineChoice::Interpreter || way.is_nearly_usual());
    ways
}

fn check_everywhere(
    mode: &'static str,
    key: &KeyMemory,
    vectors: &[HashVector],
    tally: &mut Tally,
) {
    let (left, tally) = (Mutex::new(ways(mode)), Mutex::new(tally));
    thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                while let Some(way) = { left.lock().expect("no thread has died").pop() } {
                    let checked = check(&way, key, way.vectors(vectors));
                    let mut tally = tally.lock().expect("no thread has died");
                    let by_lanes = tally.entry(way.to_string()).or_default();
                    *by_lanes.entry(way.lanes).or_default() += checked;
                }
            });
        }
    });
}

fn check(way: &Way, key: &KeyMemory, vectors: &[HashVector]) -> usize {
    let options = VmOptions {
        lanes: Some(way.lanes),
        engine: way.engine,
        cpu: way.cpu,
        ..VmOptions::default()
    };
    let mut vm = Vm::with_options(key.clone(), Version::V1, options)
        .unwrap_or_else(|error| panic!("{way} {}: {error}", way.lanes));
    let mut report = Report::default();
    if way.lanes == 1 {
        // One by one in the files' order, which changes the version again and again.
        for vector in vectors {
            check_hashes(&mut vm, slice::from_ref(vector), &mut report);
        }
    } else {
        check_hashes(&mut vm, vectors, &mut report);
    }
    assert!(report.failures.is_empty(), "{way} {}:\n{}", way.lanes, report.failures.join("\n"));
    assert_eq!(report.checked, vectors.len());
    report.checked
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}
