use std::{
    iter,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use randomx::{CacheError, DatasetError, Version};

use super::*;
use crate::{progress::KeyBar, queue::Limits};

/// A key whose expansion ends only when it is stopped.
const ENDLESS: &[u8] = b"endless";

/// Makes readable "hashes" and records how it was used.
#[derive(Default)]
struct Recorder {
    max_keys: usize,
    expanded: Mutex<Vec<Vec<u8>>>,
    alive: Arc<()>,
    vms: Mutex<Vec<usize>>,
    vm_created: Condvar,
    /// A key for which there is no memory.
    fail_key: Option<&'static [u8]>,
    /// Keys that can be alive at once before memory is short.
    room: Option<usize>,
    /// The number of a VM for which there is no memory.
    fail_vm: Option<usize>,
    /// Keys that can be alive while a VM is created.
    room_beside_vm: Option<usize>,
    /// A key, and the number of VMs that its hashes wait for.
    vms_awaited: Option<(&'static [u8], usize)>,
}

impl Recorder {
    /// Waits until as many VMs were created as hashes of a key demand.
    fn wait_for_vms(&self, key: &[u8]) {
        const LIMIT: Duration = Duration::from_secs(60);
        let Some((_, awaited)) = self.vms_awaited.filter(|(awaiting, _)| *awaiting == key) else {
            return;
        };
        let are_few = |vms: &mut Vec<usize>| vms.len() < awaited;
        let vms = self.vms.lock().expect("no panic");
        let (_vms, wait) =
            self.vm_created.wait_timeout_while(vms, LIMIT, are_few).expect("no panic");
        assert!(!wait.timed_out(), "expected {awaited} VMs within a minute");
    }
}

struct RecorderKey {
    key: Vec<u8>,
    _alive: Arc<()>,
}

struct RecorderVm<'a> {
    recorder: &'a Recorder,
    key: Arc<RecorderKey>,
    lanes: usize,
}

impl<'a> Backend for &'a Recorder {
    type Key = Arc<RecorderKey>;
    type Vm = RecorderVm<'a>;

    fn max_keys(&self) -> usize {
        self.max_keys.max(1)
    }

    fn expand(
        &self,
        key: &[u8],
        _: &KeyBar,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Arc<RecorderKey>, Error> {
        if key == ENDLESS {
            self.expanded.lock().expect("no panic").push(key.to_vec());
            while !is_stopped() {
                thread::sleep(Duration::from_millis(1));
            }
            return Err(DatasetError::Cancelled.into());
        }
        let alive = Arc::strong_count(&self.alive) - 1;
        assert!(alive < self.max_keys(), "{alive} keys are alive");
        if self.fail_key == Some(key) || self.room.is_some_and(|room| alive >= room) {
            return Err(CacheError::OutOfMemory { bytes: 256 << 20 }.into());
        }
        self.expanded.lock().expect("no panic").push(key.to_vec());
        let alive = Arc::clone(&self.alive);
        Ok(Arc::new(RecorderKey { key: key.to_vec(), _alive: alive }))
    }

    fn vm(&self, key: &Arc<RecorderKey>, lanes: usize) -> Result<RecorderVm<'a>, VmError> {
        let mut vms = self.vms.lock().expect("no panic");
        let alive = Arc::strong_count(&self.alive) - 1;
        if self.fail_vm == Some(vms.len()) || self.room_beside_vm.is_some_and(|room| alive > room) {
            return Err(VmError::OutOfMemory { bytes: lanes << 21 });
        }
        vms.push(lanes);
        self.vm_created.notify_all();
        Ok(RecorderVm { recorder: self, key: Arc::clone(key), lanes })
    }

    fn set_key(vm: &mut RecorderVm<'a>, key: Arc<RecorderKey>) {
        vm.key = key;
    }

    fn hash(vm: &mut RecorderVm<'a>, version: Version, inputs: &[&[u8]]) -> Vec<Hash> {
        assert!(!inputs.is_empty() && inputs.len() <= vm.lanes.max(16));
        vm.recorder.wait_for_vms(&vm.key.key);
        // Lets the other threads take pieces too, and finish them out of order.
        thread::sleep(Duration::from_micros(u64::from(inputs[0][0]) * 7 % 50));
        inputs.iter().map(|input| hash_of(&vm.key.key, version, input)).collect()
    }
}

fn hash_of(key: &[u8], version: Version, input: &[u8]) -> Hash {
    let mut hash = [0; 32];
    let bytes = iter::once(version as u8).chain(key.iter().chain(input).copied());
    hash.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
    hash
}

const KEYS: [&[u8]; 3] = [b"first key", b"", b"third"];

fn job(number: usize) -> Job<()> {
    let version = Version::ALL[number / 2 % 2];
    let key = KEYS[number * number % 3 % 2 + number % 2].to_vec();
    Job { key, version, input: (number as u32).to_le_bytes().to_vec(), tag: () }
}

fn expected(number: usize) -> Hash {
    let Job { key, version, input, .. } = job(number);
    hash_of(&key, version, &input)
}

fn hash_all(
    recorder: &Recorder,
    jobs: usize,
    threads: usize,
    lanes: usize,
) -> Result<Vec<Hash>, Error> {
    let progress = Progress::hidden();
    let mut hasher = Hasher::new(recorder, Spread { threads, lanes }, &progress);
    hasher.hash_all((0..jobs).map(job))
}

#[test]
fn hashes_come_in_the_order_of_the_jobs() {
    for (jobs, threads, lanes) in [(1, 1, 1), (1, 4, 8), (100, 3, 8), (301, 8, 5), (64, 1, 8)] {
        for max_keys in [1, 2] {
            let recorder = Recorder { max_keys, ..Recorder::default() };
            let hashes = hash_all(&recorder, jobs, threads, lanes).expect("nothing fails");
            assert_eq!(hashes, (0..jobs).map(expected).collect::<Vec<_>>());
        }
    }
}

#[test]
fn alternating_keys_at_hand_are_expanded_once_each() {
    let recorder = Recorder::default();
    hash_all(&recorder, 300, 4, 8).expect("nothing fails");
    let mut expanded = recorder.expanded.into_inner().expect("no panic");
    expanded.sort_unstable();
    assert_eq!(expanded, [KEYS[1], KEYS[0], KEYS[2]]);
    assert!(recorder.vms.into_inner().expect("no panic").len() <= 3 * 4);
}

#[test]
fn a_queue_that_is_closed_stops_the_expansion_of_a_key() {
    let recorder = Recorder::default();
    let progress = Progress::hidden();
    let mut hasher = Hasher::new(&recorder, Spread { threads: 1, lanes: 1 }, &progress);
    let job = Job { key: ENDLESS.into(), version: Version::V1, input: vec![0], tag: () };
    let queue = Queue::of([job]);
    thread::scope(|scope| {
        let run = scope.spawn(|| hasher.run(&queue, |_| panic!("no hash is expected")));
        while recorder.expanded.lock().expect("no panic").is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        queue.close();
        run.join().expect("no panic").expect("no error");
    });
}

#[test]
fn the_last_keys_are_held_between_runs() {
    let recorder = Recorder { max_keys: 2, ..Recorder::default() };
    let progress = Progress::hidden();
    let mut hasher = Hasher::new(&recorder, Spread { threads: 2, lanes: 8 }, &progress);
    let mut hash = |key: &str| {
        let job = |byte| Job { key: key.into(), version: Version::V1, input: vec![byte], tag: () };
        let hashes = hasher.hash_all((0..20).map(job)).expect("nothing fails");
        let expected = (0..20).map(|byte| hash_of(key.as_bytes(), Version::V1, &[byte]));
        assert_eq!(hashes, expected.collect::<Vec<_>>());
    };
    for key in ["a", "b", "a", "b", "c", "b", "a"] {
        hash(key);
    }
    let expanded = recorder.expanded.into_inner().expect("no panic");
    assert_eq!(expanded, [b"a", b"b", b"c", b"a"]);
}

#[test]
fn a_short_memory_holds_one_key() {
    let recorder = Recorder { max_keys: 2, room: Some(1), ..Recorder::default() };
    let hashes = hash_all(&recorder, 100, 3, 8).expect("room for one");
    assert_eq!(hashes, (0..100).map(expected).collect::<Vec<_>>());
}

#[test]
fn one_job_needs_one_vm() {
    let recorder = Recorder::default();
    hash_all(&recorder, 1, 64, 8).expect("nothing fails");
    assert_eq!(recorder.vms.into_inner().expect("no panic").len(), 1);
}

#[test]
fn nothing_to_hash_needs_no_cache() {
    let recorder = Recorder { room: Some(0), ..Recorder::default() };
    assert_eq!(hash_all(&recorder, 0, 2, 8).expect("nothing fails"), [[0; 32]; 0]);
}

#[test]
fn no_memory_for_a_later_key_is_an_error() {
    let recorder = Recorder { fail_key: Some(KEYS[2]), ..Recorder::default() };
    let error = hash_all(&recorder, 100, 2, 8);
    assert!(matches!(error, Err(Error::Cache(CacheError::OutOfMemory { .. }))));
}

#[test]
fn no_memory_for_a_vm_is_an_error() {
    let recorder = Recorder { fail_vm: Some(1), ..Recorder::default() };
    let error = hash_all(&recorder, 300, 3, 8).expect_err("the second VM fails").to_string();
    assert!(error.contains("MiB needed for each of 3 threads"), "{error}");
}

#[test]
fn a_key_without_jobs_is_dropped_for_a_vm() {
    let recorder = Recorder {
        max_keys: 2,
        room_beside_vm: Some(1),
        vms_awaited: Some((b"b", 2)),
        ..Recorder::default()
    };
    let progress = Progress::hidden();
    let mut hasher = Hasher::new(&recorder, Spread { threads: 2, lanes: 8 }, &progress);
    let mut hash = |key: &str, jobs: u32| {
        let job = |number: u32| Job {
            key: key.into(),
            version: Version::V1,
            input: number.to_le_bytes().to_vec(),
            tag: (),
        };
        hasher.hash_all((0..jobs).map(job)).expect("memory for one key and two VMs");
    };
    // The first key needs one VM, and the second key another.
    hash("a", 1);
    hash("b", 100);
    hash("a", 1);
    assert_eq!(recorder.vms.lock().expect("no panic").len(), 2);
    let expanded = recorder.expanded.into_inner().expect("no panic");
    assert_eq!(expanded, [b"a", b"b", b"a"]);
}

#[test]
fn any_number_of_jobs_goes_through_a_bounded_window() {
    const JOBS: u64 = 200_000;
    const WINDOW: u64 = 1000;
    let recorder = Recorder { max_keys: 2, ..Recorder::default() };
    let progress = Progress::hidden();
    let mut hasher = Hasher::new(&recorder, Spread { threads: 3, lanes: 8 }, &progress);
    let queue = Queue::new(Limits { jobs: WINDOW, bytes: 1 << 20 });
    let (pushed, most) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut answered = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..JOBS {
                let Job { key, version, input, .. } = job(number as usize);
                // Half of the keys alternate, the others come in rows.
                let key = if number % 5000 < 2500 { key } else { b"row".to_vec() };
                pushed.store(number + 1, Ordering::SeqCst);
                queue.push(Job { key, version, input, tag: number });
            }
            queue.end(None);
        });
        let outcome = hasher.run(&queue, |answers| {
            for (number, hash) in answers {
                assert_eq!(*number, answered);
                assert_eq!(hash[0], Version::ALL[*number as usize / 2 % 2] as u8);
                answered += 1;
            }
            most.fetch_max(pushed.load(Ordering::SeqCst) - answered, Ordering::SeqCst);
            Ok(())
        });
        outcome.expect("nothing fails");
    });
    assert_eq!(answered, JOBS);
    let most = most.into_inner();
    assert!(most <= WINDOW + 64, "{most} jobs were pushed and not answered");
}

#[test]
fn an_error_of_an_answer_ends_the_run_and_frees_the_reader() {
    let recorder = Recorder::default();
    let progress = Progress::hidden();
    let mut hasher = Hasher::new(&recorder, Spread { threads: 3, lanes: 8 }, &progress);
    let queue = Queue::new(Limits { jobs: 100, bytes: 1 << 20 });
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| (0..10_000).for_each(|number| queue.push(job(number))));
        let outcome = hasher.run(&queue, |answers| {
            let before = answered.fetch_add(answers.len(), Ordering::SeqCst);
            if before > 500 { Err(Error::NoStart) } else { Ok(()) }
        });
        assert!(matches!(outcome, Err(Error::NoStart)));
    });
    assert!(answered.into_inner() < 1000);
}
