//! Every vector of a whole hash, natively, in both modes, by every engine, in several numbers of
//! lanes, on this machine and on poorer ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::{fmt, slice, thread};

use randomx::cpu::{Cpu, Extension};
use randomx::items::Items;
use randomx::{
    Cache, Dataset, DatasetError, EngineChoice, KeyMemory, MAX_LANES, Version, Vm, VmOptions,
};
use randomx_conformance::{HashVector, Report, check_hashes, hash_vectors};
use randomx_testing::{amount, is_full, say};

use crate::{ENGINES, levels, vectors_of};

/// The vectors, by key.
type Vectors = BTreeMap<Vec<u8>, Vec<HashVector>>;

/// Keys are tested one after the other, because a dataset takes 2080 MiB.
///
/// The quick tests compute a dataset for one key, which has vectors of both versions. Other tests
/// compare items. A key changes the items, not how programs run, so only a few keys are used in unusual ways.
#[test]
fn every_hash_in_every_way() {
    let by_key = vectors_by_key();
    let (mut datasets, mut refused) = (amount(1, by_key.len()), 0);
    let mut tally = Tally::new();
    let (mut light_keys, mut fast_keys) = (amount(2, 4), amount(1, 4));
    for (key, vectors) in &by_key {
        let cache = Arc::new(Cache::new(key).expect("a cache"));
        let light = ways_for_key(Mode::Light, &mut light_keys);
        check_everywhere(light, &cache.clone().into(), vectors, &mut tally);
        if datasets == 0 || (!is_full() && !has_both(vectors)) {
            continue;
        }
        match Dataset::new(&Items::new(cache, Cpu::detect()), threads()) {
            Ok(dataset) => {
                datasets -= 1;
                let fast = ways_for_key(Mode::Fast, &mut fast_keys);
                check_everywhere(fast, &Arc::new(dataset).into(), vectors, &mut tally);
            }
            Err(error @ DatasetError::OutOfMemory { .. }) => {
                refused += 1;
                say(format_args!("SKIPPED fast mode: {error}"));
            }
            Err(error) => panic!("{error}"),
        }
    }
    if is_full() {
        assert_eq!(datasets, refused, "every key has a dataset, unless memory is missing");
    }
    for (way, checked) in &tally {
        say(format_args!("{way}: {checked:?} hashes"));
    }
}

/// Two hashes of each version, for processors whose emulators take minutes for more.
#[test]
fn one_key_interpreted() {
    let by_key = vectors_by_key();
    let found = by_key.iter().find(|(_, vectors)| has_both(vectors));
    let (key, vectors) = found.expect("a key with vectors of both versions");
    let cache = Arc::new(Cache::new(key).expect("a cache"));
    let engine = EngineChoice::Interpreter;
    let way = Way { mode: Mode::Light, engine, lanes: 1, cpu: Cpu::detect() };
    let checked = check(&way, &cache.into(), &way.vectors(vectors));
    say(format_args!("{way}: {checked} hashes of one key"));
}

/// Whether there are vectors of both versions.
fn has_both(vectors: &[HashVector]) -> bool {
    let has = |version| vectors.iter().any(|vector| vector.version == version);
    Version::ALL.into_iter().all(has)
}

fn vectors_by_key() -> Vectors {
    let mut by_key = Vectors::new();
    for suite in randomx_conformance::suites() {
        let vectors = hash_vectors(suite, &vectors_of(suite))
            .unwrap_or_else(|error| panic!("{suite}: {error}"));
        for vector in vectors {
            by_key.entry(vector.key.clone()).or_default().push(vector);
        }
    }
    by_key
}

/// The number of correct hashes, by way and by number of lanes.
type Tally = BTreeMap<String, BTreeMap<usize, usize>>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Light,
    Fast,
}

impl Mode {
    /// The extensions that change how an engine computes a hash in this mode.
    #[cfg(target_arch = "x86_64")]
    fn used_extensions(self, engine: EngineChoice) -> &'static [Extension] {
        use Extension::{Aes, Avx2, Avx512, Bmi2, Ifma};
        match (self, engine) {
            (_, EngineChoice::Interpreter) => &[Aes, Avx2, Avx512],
            (Mode::Light, _) => &[Aes, Avx2, Avx512, Ifma, Bmi2],
            (Mode::Fast, _) => &[Aes, Avx2, Avx512, Bmi2],
        }
    }

    /// The extensions that change how an engine computes a hash.
    #[cfg(not(target_arch = "x86_64"))]
    fn used_extensions(self, _: EngineChoice) -> &'static [Extension] {
        &Extension::ALL
    }
}

/// A way to compute hashes.
struct Way {
    mode: Mode,
    engine: EngineChoice,
    lanes: usize,
    cpu: Cpu,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Way { mode, engine, cpu, .. } = self;
        write!(f, "{mode:?}, {engine:?}, {cpu}, by lanes")
    }
}

impl Way {
    fn is_usual(&self) -> bool {
        self.lanes == MAX_LANES && self.cpu == Cpu::detect()
    }

    /// Whether at most one of lanes and processor differs from the usual.
    fn is_nearly_usual(&self) -> bool {
        self.lanes == MAX_LANES || self.cpu == Cpu::detect()
    }

    /// Returns the vectors of one key to compute in this way.
    ///
    /// The usual way computes all, in both tiers. For other ways the quick tier takes the first of
    /// each version: for machine code as many as there are lanes, for the interpreter two. The full
    /// tier takes 32, or all if machine code runs in a nearly usual way; only one key has more than
    /// 32, because of its 200 shares.
    fn vectors(&self, vectors: &[HashVector]) -> Vec<HashVector> {
        let interprets = self.engine == EngineChoice::Interpreter;
        if self.is_usual() || (is_full() && !interprets && self.is_nearly_usual()) {
            return vectors.to_vec();
        }
        if is_full() {
            return vectors.iter().take(32).cloned().collect();
        }
        let most = if interprets { 2 } else { MAX_LANES };
        let first = |version| {
            vectors.iter().filter(move |vector| vector.version == version).take(most).cloned()
        };
        Version::ALL.into_iter().flat_map(first).collect()
    }
}

/// Returns the ways to compute hashes in a mode. The interpreter is slow, so it runs in every number
/// of lanes and on every processor, but not in all combinations.
fn ways(mode: Mode) -> Vec<Way> {
    const LANES: [usize; 4] = [1, 2, 4, MAX_LANES];
    let mut ways = Vec::new();
    for &engine in ENGINES {
        for cpu in levels(mode.used_extensions(engine)) {
            ways.extend(LANES.map(|lanes| Way { mode, engine, lanes, cpu }));
        }
    }
    ways.retain(|way| way.engine != EngineChoice::Interpreter || way.is_nearly_usual());
    ways
}

/// Returns all ways for as many keys as `left` says, and then the usual ones.
fn ways_for_key(mode: Mode, left: &mut usize) -> Vec<Way> {
    if *left == 0 {
        return usual(mode);
    }
    *left -= 1;
    ways(mode)
}

/// Returns the usual way of each engine.
fn usual(mode: Mode) -> Vec<Way> {
    let mut ways = ways(mode);
    ways.retain(Way::is_usual);
    ways
}

/// Computes one key's vectors in each of some ways.
fn check_everywhere(ways: Vec<Way>, key: &KeyMemory, vectors: &[HashVector], tally: &mut Tally) {
    let (left, tally) = (Mutex::new(ways), Mutex::new(tally));
    thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                while let Some(way) = { left.lock().expect("no thread has panicked").pop() } {
                    let checked = check(&way, key, &way.vectors(vectors));
                    let mut tally = tally.lock().expect("no thread has panicked");
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
        // One by one in the files' order, so that the version changes again and again.
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
