//! Machine code without a fork, on both sides of one, and under limits that a process cannot take back.

#![expect(unsafe_code, reason = "forks and ends processes")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use randomx::cpu::Cpu;
use randomx::items::{Items, ItemsOptions};
use randomx::{
    Cache, CodePages, EngineChoice, EngineKind, KeyMemory, MAX_LANES, Observer, Phase, PoolError,
    Version, Vm, VmError, VmOptions, VmPool,
};
use randomx_testing::amount;

const KEY: &[u8] = b"test key 000";

const INPUTS: [&str; 3] = [
    "This is a test",
    "Lorem ipsum dolor sit amet",
    "sed do eiusmod tempor incididunt ut labore et dolore magna aliqua",
];

/// The hashes of [`INPUTS`], from `tests/vectors/specification-hashes.json`.
const V1: [&str; 3] = [
    "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f",
    "300a0adb47603dedb42228ccb2b211104f4da45af709cd7547cd049e9489c969",
    "c36d4ed4191e617309867ed66a443be4075014e2b061bcdaf9ce7b721d2b77a8",
];
const V2: [&str; 3] = [
    "22ec6b861b3eb23686b2efbad69513c967ecfce80983df66c9c5b4fbfb4cdb6f",
    "9e2c772c12fd48f93c14c97fdc89d556264d9100597023f44d9163e279012ecf",
    "4d6b063a1a603751d525f18a171336a4002f2f06df6c17e4b25fe17e17796e42",
];

/// The number of inputs of a call: a hash in each lane, and one more in the first.
const COUNT: usize = MAX_LANES + 1;

#[test]
fn parent_and_children_compute_the_same_hashes() {
    if !alone("parent_and_children_compute_the_same_hashes") {
        return;
    }
    let cache = cache();
    for pages in [CodePages::Aliased, CodePages::Flipped] {
        let items = items(&cache, pages);
        let mut vm = vm(&items, pages);
        let mut chained = self::vm(&items, pages);
        assert!(hashes_are_right(&mut vm), "before a fork, {pages:?}");
        for round in 0..amount(2, 6) {
            let input = round % INPUTS.len();
            chained.hash_first(INPUTS[input].as_bytes());
            let children = [(); 2].map(|()| {
                Child::start(|| {
                    let inherited = (0..2).all(|_| hashes_are_right(&mut vm));
                    let begun = last_is_right(&mut chained, input);
                    // New pages may be where the parent's code is.
                    let mut own = self::vm(&items, pages);
                    let grandchild = Child::start(|| hashes_are_right(&mut vm));
                    let after = hashes_are_right(&mut own);
                    let nested = grandchild.succeeded();
                    drop(own);
                    inherited && begun && after && nested && hashes_are_right(&mut vm)
                })
            });
            for _ in 0..3 {
                assert!(hashes_are_right(&mut vm), "the parent, {pages:?}");
            }
            assert!(last_is_right(&mut chained, input), "the parent's chain, {pages:?}");
            assert_eq!(children.map(Child::succeeded), [true; 2], "round {round}, {pages:?}");
        }
    }
}

/// A program that was loaded before the fork goes on in the child, whatever it has reached.
#[test]
fn a_child_forked_during_a_hash_finishes_it() {
    if !alone("a_child_forked_during_a_hash_finishes_it") {
        return;
    }
    let cache = cache();
    for pages in [CodePages::Aliased, CodePages::Flipped] {
        let items = items(&cache, pages);
        let mut vm = vm(&items, pages);
        for (phase, after) in [(Phase::Execute, 0), (Phase::Items, 700), (Phase::Execute, 901)] {
            let mut fork = ForkAt { phase, after, child: None };
            let hashes = vm.hash_many_observed(&INPUTS, &mut fork);
            let right = matches(&hashes, &V1);
            match fork.child.take().expect("the phase was entered") {
                Side::Child => exit(right && hashes_are_right(&mut vm)),
                Side::Parent(child) => {
                    assert!(right, "the parent, {phase:?} {after}, {pages:?}");
                    assert!(child.succeeded(), "the child, {phase:?} {after}, {pages:?}");
                }
            }
        }
    }
}

#[test]
fn forks_do_not_disturb_threads_that_hash() {
    if !alone("forks_do_not_disturb_threads_that_hash") {
        return;
    }
    let cache = cache();
    let pages = CodePages::Aliased;
    let items = items(&cache, pages);
    // Measurements of the number of lanes take locks of the process.
    let [mut vm, mut busy] = [(); 2].map(|()| vm_with_lanes(&items, pages, Some(MAX_LANES)));
    let measures = [&vm, &busy].map(|vm| vm.options().lanes.is_none());
    assert_eq!(measures, [false; 2], "a child could wait for ever");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) || rounds == 0 {
                assert!(hashes_are_right(&mut busy), "the other thread");
                rounds += 1;
            }
        });
        for _ in 0..amount(3, 10) {
            assert!(Child::start(|| hashes_are_right(&mut vm)).succeeded(), "the child");
            assert!(hashes_are_right(&mut vm), "the parent");
        }
        done.store(true, Ordering::Relaxed);
        thread.join().expect("right hashes");
    });
}

/// A sandboxed child must not be able to choose what its parent runs.
#[test]
fn a_child_cannot_change_what_its_parent_runs() {
    if !alone("a_child_cannot_change_what_its_parent_runs") {
        return;
    }
    let cache = cache();
    for pages in [CodePages::Aliased, CodePages::Flipped] {
        let mut vm = vm(&items(&cache, pages), pages);
        assert!(hashes_are_right(&mut vm));
        let child = Child::start(|| {
            let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
            let shared = maps.lines().any(|line| line.contains("randomx-code"));
            for (start, bytes) in maps.lines().filter_map(generated_code) {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                // SAFETY: no code in these pages runs in this process any more.
                unsafe {
                    if libc::mprotect(start as *mut libc::c_void, bytes, access) == 0 {
                        (start as *mut u8).write_bytes(0xcc, bytes);
                    }
                }
            }
            !shared
        });
        assert!(child.succeeded(), "{pages:?}");
        assert!(hashes_are_right(&mut vm), "{pages:?}");
    }
}

/// `cargo xtask test-emulated` runs this in an emulator, where aliased pages would run old code.
#[test]
fn whole_hashes_are_right_with_each_kind_of_pages() {
    let cache = cache();
    for pages in [CodePages::Aliased, CodePages::Flipped] {
        let mut vm = vm(&items(&cache, pages), pages);
        assert_eq!(vm.engine(), EngineKind::Jit);
        assert!(hashes_are_right(&mut vm), "{pages:?}");
    }
}

/// `ulimit -f 0`, systemd's `LimitFSIZE=0`: files that grow raise SIGXFSZ.
#[test]
fn a_limit_on_file_sizes_leaves_machine_code() {
    if !alone("a_limit_on_file_sizes_leaves_machine_code") {
        return;
    }
    let cache = cache();
    // QEMU writes a file when its program first looks for a clock.
    assert!(hashes_are_right(&mut vm(&items(&cache, CodePages::Flipped), CodePages::Flipped)));
    set_soft_limit(libc::RLIMIT_FSIZE, 0);
    let mut vm = vm(&items(&cache, CodePages::Aliased), CodePages::Aliased);
    assert_eq!(vm.engine(), EngineKind::Jit);
    assert!(hashes_are_right(&mut vm));
}

/// `RLIMIT_DATA` counts writable private pages: with little of it, flipped pages stay executable.
#[test]
fn programs_are_compiled_again_once_the_system_allows_it() {
    if !alone("programs_are_compiled_again_once_the_system_allows_it") {
        return;
    }
    let cache = cache();
    let mut vm = vm(&items(&cache, CodePages::Flipped), CodePages::Flipped);
    assert!(hashes_are_right(&mut vm), "before");
    // Free memory below a block in use stays with the process: calls need no new pages.
    let free: Vec<Vec<u8>> = (0..64).map(|_| vec![1; 40_000]).collect();
    let last = vec![1u8; 40_000];
    drop(free);
    let mut executable = Vec::new();
    for limit in [1 << 16, libc::RLIM_INFINITY] {
        set_soft_limit(libc::RLIMIT_DATA, limit);
        let right = hashes_are_right(&mut vm);
        set_soft_limit(libc::RLIMIT_DATA, libc::RLIM_INFINITY);
        assert!(right, "with a limit of {limit} bytes");
        let maps = fs::read_to_string("/proc/self/maps").expect("the list of mappings");
        let sizes = maps.lines().filter_map(generated_code).map(|(_, bytes)| bytes);
        executable.push(sizes.sum::<usize>());
    }
    assert!(executable[0] < executable[1], "{executable:?} bytes of code");
    drop(last);
}

/// Systemd's `MemoryDenyWriteExecute=` and a limit on the sizes of files leave machine code for programs only.
#[test]
fn demanded_machine_code_for_items_is_an_error_of_new_vms() {
    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    if !alone("demanded_machine_code_for_items_is_an_error_of_new_vms") {
        return;
    }
    let cache = cache();
    // SAFETY: the call takes five numbers and only changes what this process may map.
    if unsafe { libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0u64, 0u64, 0u64) } != 0 {
        randomx_testing::say("skipped: this kernel has no PR_SET_MDWE");
        return;
    }
    // More than the code of a program has, and less than that of items.
    set_soft_limit(libc::RLIMIT_FSIZE, 48 << 10);
    let options = |engine| VmOptions { engine, lanes: Some(1), ..VmOptions::default() };
    let [demanded, automatic] = [EngineChoice::Jit, EngineChoice::Auto].map(options);
    let refused = Vm::with_options(Arc::clone(&cache), Version::V1, demanded);
    assert!(matches!(refused, Err(VmError::Jit(_))), "{refused:?}");
    let refused = VmPool::new(Arc::clone(&cache), Version::V1, demanded, 1);
    assert!(matches!(refused, Err(PoolError::Vm(VmError::Jit(_)))), "{refused:?}");

    let interpreted = Arc::new(Items::interpreted(Arc::clone(&cache), Cpu::detect()));
    let interpreted = KeyMemory::Items(interpreted);
    let mut later = Vm::with_options(interpreted, Version::V1, demanded).expect("a VM");
    later.set_key(Arc::clone(&cache));
    let automatic = Vm::with_options(cache, Version::V1, automatic).expect("a VM");
    for mut vm in [later, automatic] {
        assert_eq!(vm.engine(), EngineKind::Jit, "for programs");
        assert!(matches(&[vm.hash(INPUTS[0].as_bytes())], &V1));
    }
}

/// Runs a test in a process of its own. Returns `true` in that process.
fn alone(name: &str) -> bool {
    randomx_testing::is_alone(&format!("fork::{name}"))
}

fn cache() -> Arc<Cache> {
    Arc::new(Cache::new(KEY).expect("a cache"))
}

fn items(cache: &Arc<Cache>, pages: CodePages) -> Arc<Items> {
    let engine = EngineChoice::Jit;
    let options = ItemsOptions { engine, cpu: Cpu::detect(), code_pages: pages };
    Arc::new(Items::with_options(Arc::clone(cache), options).expect("compiled items"))
}

fn vm(items: &Arc<Items>, pages: CodePages) -> Vm {
    vm_with_lanes(items, pages, None)
}

fn vm_with_lanes(items: &Arc<Items>, pages: CodePages, lanes: Option<usize>) -> Vm {
    let options =
        VmOptions { lanes, engine: EngineChoice::Jit, code_pages: pages, ..VmOptions::default() };
    let items = KeyMemory::Items(Arc::clone(items) as _);
    Vm::with_options(items, Version::V1, options).expect("a VM")
}

/// Hashes with both versions, and leaves the VM with v1.
fn hashes_are_right(vm: &mut Vm) -> bool {
    [(Version::V2, &V2), (Version::V1, &V1)].into_iter().all(|(version, expected)| {
        vm.set_version(version);
        let inputs: Vec<&str> = INPUTS.into_iter().cycle().take(COUNT).collect();
        matches(&vm.hash_many(&inputs), expected)
    })
}

fn last_is_right(vm: &mut Vm, input: usize) -> bool {
    vm.hash_last().is_some_and(|hash| matches(&[hash], &V1[input..]))
}

fn matches(hashes: &[[u8; 32]], expected: &[&str]) -> bool {
    let hex = |hash: &[u8; 32]| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    hashes.iter().zip(expected.iter().cycle()).all(|(hash, expected)| hex(hash) == *expected)
}

/// The start and the size of a mapping, if it is executable and of no file on disk.
fn generated_code(line: &str) -> Option<(usize, usize)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let name = fields.get(5).copied().unwrap_or_default();
    if !fields[1].contains('x') || !(name.is_empty() || name.contains("randomx-code")) {
        return None;
    }
    let (start, end) = fields[0].split_once('-')?;
    let number = |hex| usize::from_str_radix(hex, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    Some((start, end - start))
}

fn set_soft_limit(resource: libc::__rlimit_resource_t, limit: libc::rlim_t) {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the calls read and write `limits`, which outlives them.
    unsafe {
        assert_eq!(libc::getrlimit(resource, &raw mut limits), 0);
        limits.rlim_cur = limit.min(limits.rlim_max);
        assert_eq!(libc::setrlimit(resource, &raw const limits), 0);
    }
}

/// A child process.
struct Child(libc::pid_t);

enum Side {
    Parent(Child),
    Child,
}

impl Child {
    /// Forks a child that runs `work`, and succeeds if that returns `true`.
    fn start(work: impl FnOnce() -> bool) -> Child {
        match fork() {
            Side::Parent(child) => child,
            Side::Child => exit(catch_unwind(AssertUnwindSafe(work)).unwrap_or(false)),
        }
    }

    fn succeeded(self) -> bool {
        let mut status = -1;
        // SAFETY: the call writes `status`, which outlives it.
        let process = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        process == self.0 && status == 0
    }
}

fn fork() -> Side {
    // SAFETY: no other thread holds a lock that the child takes, but the allocator's, which the C
    // library releases in the child. Measuring lanes takes locks: where other threads hash, no VM measures.
    match unsafe { libc::fork() } {
        0 => Side::Child,
        process => {
            assert!(process > 0, "a child process");
            Side::Parent(Child(process))
        }
    }
}

fn exit(success: bool) -> ! {
    // SAFETY: ends a child without the parent's exit handlers.
    unsafe { libc::_exit(if success { 0 } else { 1 }) }
}

/// Forks when a phase has been entered `after` times.
struct ForkAt {
    phase: Phase,
    after: usize,
    child: Option<Side>,
}

impl Observer for ForkAt {
    fn enter(&mut self, phase: Phase) {
        if phase != self.phase || self.child.is_some() {
            return;
        }
        if self.after == 0 {
            self.child = Some(fork());
        } else {
            self.after -= 1;
        }
    }

    fn leave(&mut self) {}
}
