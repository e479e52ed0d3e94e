//! The public API: options, progress, and hashes that depend on inputs, keys and versions alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use randomx::cpu::Cpu;
use randomx::items::ItemSource;
use randomx::{
    Cache, CacheBuilder, Item, KeyMemory, MAX_LANES, Observer, Phase, Version, Vm, VmError,
    VmOptions,
};

fn with_lanes(cache: &Arc<Cache>, lanes: usize) -> Result<Vm, VmError> {
    let options = VmOptions { lanes: Some(lanes), ..VmOptions::default() };
    Vm::with_options(cache.clone(), Version::V1, options)
}

#[test]
fn lanes_do_not_change_hashes() {
    let first = Arc::new(Cache::new(b"first").expect("a cache"));
    let second = Arc::new(Cache::new(b"second").expect("a cache"));
    let inputs: Vec<Vec<u8>> = (0..11).map(|length| vec![length; usize::from(length)]).collect();

    let mut vm = with_lanes(&first, 1).expect("a VM");
    let expected: Vec<[u8; 32]> = inputs.iter().map(|input| vm.hash(input)).collect();
    for lanes in 1..=MAX_LANES {
        let mut vm = with_lanes(&first, lanes).expect("a VM");
        assert_eq!(vm.hash_many(&inputs), expected, "{lanes} lanes");
        assert!(vm.hash_many::<&[u8]>(&[]).is_empty());
    }

    vm.set_key(second);
    let other = vm.hash(&inputs[0]);
    assert_ne!(other, expected[0]);
    vm.set_version(Version::V2);
    assert_ne!(vm.hash(&inputs[0]), other);
    vm.set_version(Version::V1);
    vm.set_key(first);
    assert_eq!(vm.hash(&inputs[0]), expected[0]);
}

#[test]
fn hashes_can_be_chained() {
    let cache = Arc::new(Cache::new(b"chain").expect("a cache"));
    let mut vm = Vm::new(cache, Version::V1).expect("a VM");
    let inputs = [b"".as_slice(), b"one", b"one", &[7; 300]];
    let expected = vm.hash_many(&inputs);

    assert_eq!((vm.hash_next(b"no hash has begun"), vm.hash_last()), (None, None));
    vm.hash_first(b"discarded");
    vm.hash_first(inputs[0]);
    for (next, expected) in inputs[1..].iter().zip(&expected) {
        assert_eq!(vm.hash_next(next).as_ref(), Some(expected));
    }
    assert_eq!(vm.hash_last(), Some(expected[3]));
    assert_eq!(vm.hash_last(), None);
    vm.hash_first(inputs[0]);
    assert_eq!(vm.hash(inputs[1]), expected[1]);
    assert_eq!(vm.hash_last(), None);
    vm.hash_first(inputs[0]);
    assert!(vm.hash_many::<&[u8]>(&[]).is_empty());
    assert_eq!(vm.hash_last(), Some(expected[0]));
}

/// The phases that began. `None` stands for the end of the last one.
#[derive(Default)]
struct Seen(Vec<Option<Phase>>);

impl Observer for Seen {
    fn enter(&mut self, phase: Phase) {
        self.0.push(Some(phase));
    }

    fn leave(&mut self) {
        self.0.push(None);
    }
}

/// Also where a measurement of lanes hashes all inputs of a call.
#[test]
fn an_observer_sees_no_phase_without_inputs() {
    let source: Arc<dyn ItemSource> =
        Arc::new(PanicsOnce { calls_before: AtomicU32::new(u32::MAX) });
    let mut vm = Vm::with_options(KeyMemory::Items(source), Version::V1, VmOptions::default())
        .expect("a VM");
    let mut seen = Seen::default();
    vm.hash_many_observed::<&[u8]>(&[], &mut seen);
    assert_eq!(seen.0, []);
    vm.hash_many_observed(&[b"input"; MAX_LANES], &mut seen);
    assert!(!seen.0.is_empty());
    for pair in seen.0.windows(2) {
        assert_ne!(pair, [Some(Phase::Fill), None]);
    }
}

/// A source whose first calls succeed. Then one panics.
#[derive(Debug)]
struct PanicsOnce {
    calls_before: AtomicU32,
}

impl ItemSource for PanicsOnce {
    fn compute(&self, numbers: &[u32], items: &mut [Item]) {
        let before = self.calls_before.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(before, 0, "the call that panics");
        for (number, item) in numbers.iter().zip(items) {
            *item = [u64::from(*number); 8];
        }
    }
}

#[test]
fn a_hash_that_panics_is_dropped() {
    for next in [Some(b"two"), None] {
        let source = Arc::new(PanicsOnce { calls_before: AtomicU32::new(3000) });
        let mut vm = Vm::with_options(KeyMemory::Items(source), Version::V1, VmOptions::default())
            .expect("a VM");
        vm.hash_first(b"one");
        let finished = catch_unwind(AssertUnwindSafe(|| match next {
            Some(next) => vm.hash_next(next),
            None => vm.hash_last(),
        }));
        finished.expect_err("a panic of the source");
        assert_eq!((vm.hash_next(b"three"), vm.hash_last()), (None, None));

        let expected = vm.hash(b"one");
        vm.hash_first(b"one");
        assert_eq!(vm.hash_last(), Some(expected));
    }
}

#[test]
fn a_cache_can_reuse_the_memory_of_another() {
    let mut memory = Cache::new(b"before").expect("a cache").into_memory();
    let address = memory.as_mut_ptr();
    let cache = CacheBuilder::in_memory(memory, b"after", Cpu::detect()).finish();
    assert_eq!(cache.words().as_ptr().cast(), address.cast_const());
    assert!(cache.words() == Cache::new(b"after").expect("a cache").words());
}

#[test]
fn lane_counts_out_of_range_are_refused() {
    let cache = Arc::new(Cache::new(b"").expect("a cache"));
    for lanes in [0, MAX_LANES + 1, usize::MAX] {
        let error = with_lanes(&cache, lanes).expect_err("a bad number of lanes");
        assert_eq!(error, VmError::Lanes { requested: lanes });
        assert!(error.to_string().starts_with("lanes: expected 1 to 8"), "{error}");
    }
}

#[test]
fn a_cache_can_be_filled_in_pieces() {
    let key = b"pieces";
    let mut builder = CacheBuilder::new(key, Cpu::detect()).expect("memory for a cache");
    assert_eq!(builder.filled(), 0);
    // The first two blocks come from the key alone, and a pass is 262,144 blocks.
    for (blocks, filled) in [(0, 0), (1, 1), (1, 2), (1, 3), (262_142, 262_145), (300_000, 562_145)]
    {
        assert!(!builder.fill(blocks));
        assert_eq!(builder.filled(), filled);
    }
    assert!(builder.fill(usize::MAX));
    assert!(builder.fill(1));
    assert_eq!(builder.filled(), CacheBuilder::BLOCKS);
    let whole = Cache::new(key).expect("a cache");
    assert!(builder.finish().words() == whole.words());
}
