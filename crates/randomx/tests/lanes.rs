//! `Vm::lanes` is the number of lanes that run, whatever the key and the version change to.

#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "limits the address space"))]

use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::items::ItemSource;
use randomx::{
    Dataset, DatasetError, EngineChoice, Item, KeyMemory, MAX_LANES, Observer, Phase, Version, Vm,
    VmOptions,
};

/// The items of an empty dataset.
#[derive(Debug)]
struct Zeros;

impl ItemSource for Zeros {
    fn compute(&self, _: &[u32], items: &mut [Item]) {
        items.fill([0; 8]);
    }
}

fn light() -> KeyMemory {
    KeyMemory::Items(Arc::new(Zeros))
}

/// An empty dataset, whose pages no read allocates. `None` if this machine has too little memory.
fn fast() -> Option<KeyMemory> {
    match Dataset::zeroed() {
        Err(error @ DatasetError::OutOfMemory { .. }) => {
            randomx_testing::say(format_args!("SKIPPED: {error}"));
            None
        }
        dataset => Some(Arc::new(dataset.expect("a dataset")).into()),
    }
}

/// Counts the programs that are compiled before the first one runs: one in each lane.
#[derive(Default)]
struct CountLanes {
    compiled: usize,
    running: bool,
}

impl Observer for CountLanes {
    fn enter(&mut self, phase: Phase) {
        self.running |= phase == Phase::Execute;
        self.compiled += usize::from(phase == Phase::Compile && !self.running);
    }

    fn leave(&mut self) {}
}

#[track_caller]
fn assert_measured_lanes(vm: &mut Vm, candidates: &[usize]) {
    let lanes = vm.measure_lanes();
    assert!(candidates.contains(&lanes), "{lanes} lanes");
    assert_lanes(vm, lanes);
}

#[track_caller]
fn assert_lanes(vm: &mut Vm, expected: usize) {
    let mut running = CountLanes::default();
    let inputs: Vec<[u8; 1]> = (0..MAX_LANES as u8).map(|input| [input]).collect();
    let hashes = vm.hash_many_observed(&inputs, &mut running);
    assert_eq!((vm.lanes(), running.compiled), (expected, expected), "reported and running lanes");
    assert_eq!(vm.hash(&inputs[7]), hashes[7]);
}

/// Options of a VM whose lanes are a default and are not measured.
fn interpreted() -> VmOptions {
    VmOptions { engine: EngineChoice::Interpreter, ..VmOptions::default() }
}

#[test]
fn default_lanes_follow_the_key_and_the_version() {
    let Some(fast) = fast() else { return };
    let mut vm = Vm::with_options(fast.clone(), Version::V2, interpreted()).expect("a VM");
    assert_lanes(&mut vm, Version::V2.fast_lanes());
    vm.set_version(Version::V1);
    assert_lanes(&mut vm, Version::V1.fast_lanes());
    vm.set_key(light());
    assert_lanes(&mut vm, MAX_LANES);
    vm.set_version(Version::V2);
    assert_lanes(&mut vm, MAX_LANES);
    vm.set_key(fast);
    assert_lanes(&mut vm, Version::V2.fast_lanes());
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn machine_code_runs_in_measured_lanes() {
    let Some(fast) = fast() else { return };
    let mut vm = Vm::with_options(fast.clone(), Version::V2, VmOptions::default()).expect("a VM");
    assert_eq!(vm.lanes(), Version::V2.fast_lanes(), "before any hash");
    assert_measured_lanes(&mut vm, &[1, 2, 4]);
    let measured = vm.lanes();
    vm.set_version(Version::V1);
    assert_measured_lanes(&mut vm, &[1, 2, 4, 8]);
    vm.set_key(light());
    assert_measured_lanes(&mut vm, &[4, 8]);
    vm.set_version(Version::V2);
    assert_measured_lanes(&mut vm, &[4, 8]);
    vm.set_key(fast.clone());
    assert_eq!(vm.lanes(), measured, "measured once");
    assert_lanes(&mut vm, measured);
    drop(vm);
    let mut other =
        Vm::with_options(fast.clone(), Version::V2, VmOptions::default()).expect("a VM");
    assert_lanes(&mut other, measured);

    // Two VMs may be fastest with other lanes than one alone.
    let mut beside = Vm::with_options(fast, Version::V2, VmOptions::default()).expect("a VM");
    assert_measured_lanes(&mut beside, &[1, 2, 4]);
    let measured_of_two = beside.lanes();
    assert_lanes(&mut other, measured_of_two);
    drop(beside);
    assert_lanes(&mut other, measured);
}

#[test]
fn hashes_are_the_same_while_lanes_are_measured() {
    let inputs: Vec<[u8; 1]> = (0..100).map(|input| [input]).collect();
    // No other test measures under these conditions.
    let options = VmOptions { cpu: Cpu::baseline(), ..VmOptions::default() };
    for version in Version::ALL {
        let mut vm = Vm::with_options(light(), version, options).expect("a VM");
        let hashes = vm.hash_many(&inputs);
        let alone = VmOptions { lanes: Some(1), ..options };
        let mut alone = Vm::with_options(light(), version, alone).expect("a VM");
        assert!(hashes == alone.hash_many(&inputs), "{version}");
    }
}

#[test]
fn requested_lanes_stay() {
    let Some(fast) = fast() else { return };
    let options = VmOptions { lanes: Some(3), ..VmOptions::default() };
    let mut vm = Vm::with_options(fast, Version::V2, options).expect("a VM");
    assert_lanes(&mut vm, 3);
    vm.set_version(Version::V1);
    assert_lanes(&mut vm, 3);
    vm.set_key(light());
    assert_lanes(&mut vm, 3);
}

#[test]
fn a_hash_that_has_begun_survives_new_lanes() {
    let Some(fast) = fast() else { return };
    let mut vm = Vm::with_options(fast, Version::V2, interpreted()).expect("a VM");
    let expected = vm.hash(b"an input");
    vm.hash_first(b"an input");
    vm.set_key(light());
    assert_eq!(vm.lanes(), MAX_LANES);
    assert_eq!(vm.hash_last(), Some(expected));
}

/// The limit on the address space cannot be undone, so the VM runs in a child process.
#[cfg(target_os = "linux")]
#[test]
fn without_memory_for_more_lanes_the_vm_keeps_those_it_has() {
    let name = "without_memory_for_more_lanes_the_vm_keeps_those_it_has";
    if !randomx_testing::is_alone(name) {
        return;
    }

    let Some(fast) = fast() else { return };
    let lanes = Version::V2.fast_lanes();
    let mut vm = Vm::with_options(fast.clone(), Version::V2, interpreted()).expect("a VM");
    vm.hash(b"allocates what a hash needs");
    // Room for small allocations, but not for the 16 MiB of eight lanes.
    let bytes = randomx_testing::memory("VmSize") as u64 + (8 << 20);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the pointer is to a live structure of the type that the call reads.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    vm.set_key(light());
    assert_lanes(&mut vm, lanes);
    vm.set_version(Version::V1);
    assert_lanes(&mut vm, lanes);
    // Until here the dataset keeps its part of the address space.
    drop(fast);
}
