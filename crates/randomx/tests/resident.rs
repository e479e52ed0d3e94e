//! The memory of each mode: its definition, within 5%, and none after it is dropped. After a measurement of the number
//! of lanes, a VM has the memory of the chosen ones. Each mode runs in a process of its own, whose memory is measured.

#![cfg(target_os = "linux")]

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::params::{CACHE_SIZE, DATASET_SIZE, SCRATCHPAD_L3};
use randomx::{Cache, Dataset, DatasetError, KeyMemory, Version, Vm, VmOptions};
use randomx_testing::is_full;

/// Names the mode that a child process of this test measures.
const MODE: &str = "RANDOMX_TEST_MODE";

#[test]
fn modes_use_the_memory_of_their_definition() {
    // Other tests compute a dataset, too; only its size in memory is left to the full tests.
    let modes: &[&str] =
        if is_full() { &["light", "measured", "fast"] } else { &["light", "measured"] };
    for mode in modes.iter().copied() {
        let test = std::env::current_exe().expect("this program");
        let output = Command::new(test)
            .args(["--exact", "one_mode", "--nocapture"])
            .env(MODE, mode)
            .output()
            .expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mode}: {text}{errors}");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(mode)).collect();
        assert!(!lines.is_empty(), "{mode}: nothing was measured: {text}");
        // Written directly, since the harness would capture the measurement of a passing test.
        let _ = writeln!(std::io::stdout(), "{}", lines.join("\n"));
    }
}

/// The part of the test above that runs in a child process.
#[test]
fn one_mode() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    if mode == "measured" {
        return measured_lanes();
    }
    let before = memory("VmRSS");
    let cache = Arc::new(Cache::new(b"resident").expect("memory for a cache"));
    let (key, size): (KeyMemory, usize) = if mode == "light" {
        (cache.into(), CACHE_SIZE)
    } else {
        let items = Items::new(cache.clone(), Cpu::detect());
        let dataset = match Dataset::new(&items, 2) {
            Err(error @ DatasetError::OutOfMemory { .. }) => {
                randomx_testing::say(format_args!("{mode}: SKIPPED: {error}"));
                return;
            }
            dataset => dataset.expect("a dataset"),
        };
        check_items(&dataset, &items);
        // While it is computed there is a cache too.
        assert_within("peak", memory("VmHWM"), DATASET_SIZE + CACHE_SIZE);
        drop((items, cache));
        (Arc::new(dataset).into(), DATASET_SIZE)
    };
    for lanes in [1, 8] {
        let options = VmOptions { lanes: Some(lanes), ..VmOptions::default() };
        let mut vm = Vm::with_options(key.clone(), Version::V2, options).expect("a VM");
        vm.hash_many(&[[0; 76]; 8]);
        let name = format!("{mode}, lanes: {lanes}");
        assert_within(&name, memory("VmRSS"), size + lanes * SCRATCHPAD_L3);
    }
    drop(key);
    let left = memory("VmRSS");
    assert!(left < before + (8 << 20), "{left} bytes after, {before} before");
}

/// A VM with a choice of 1 to 8 lanes, and a dataset whose pages no read allocates.
fn measured_lanes() {
    let dataset = match Dataset::zeroed() {
        Err(error @ DatasetError::OutOfMemory { .. }) => {
            randomx_testing::say(format_args!("measured: SKIPPED: {error}"));
            return;
        }
        dataset => Arc::new(dataset.expect("a dataset")),
    };
    let create = |lanes| {
        let options = VmOptions { lanes, ..VmOptions::default() };
        Vm::with_options(dataset.clone(), Version::V1, options).expect("a VM")
    };
    // The first hash of a process allocates more than its lanes.
    create(Some(1)).hash_many(&[[0; 76]; 8]);
    let before = memory("VmRSS");
    // The first VM measures. The second finds the choice.
    let mut vms = [create(None), create(None)];
    for vm in &mut vms {
        vm.measure_lanes();
        vm.hash_many(&[[0; 76]; 8]);
    }
    let lanes: usize = vms.iter().map(Vm::lanes).sum();
    let (used, defined) = (memory("VmRSS").saturating_sub(before), lanes * SCRATCHPAD_L3);
    println!("measured, lanes: {lanes}: {} KiB of {} KiB", used >> 10, defined >> 10);
    assert!(used.abs_diff(defined) < SCRATCHPAD_L3, "{lanes} lanes: {used} bytes");
}

/// Compares items throughout the dataset, and at the borders of pages and threads, with the
/// cache's.
fn check_items(dataset: &Dataset, items: &Items) {
    let mut numbers: Vec<u32> = (0..1 << 12).map(|step| step * 8_319).collect();
    numbers.extend((0..1040).flat_map(|page: u32| [page * 32_768, page * 32_768 + 32_767]));
    numbers.retain(|&number| number < 34_078_719);
    numbers.push(34_078_718);
    let mut expected = vec![[0; 8]; numbers.len()];
    items.compute(&numbers, &mut expected);
    for (&number, expected) in numbers.iter().zip(&expected) {
        assert_eq!(&dataset.items()[number as usize], expected, "item {number}");
    }
}

fn assert_within(name: &str, used: usize, defined: usize) {
    let ratio = used as f64 / defined as f64;
    println!("{name}: {} MiB of {} MiB, {ratio:.3}", used >> 20, defined.div_ceil(1 << 20));
    assert!((0.95..=1.05).contains(&ratio), "{name}: expected {defined} bytes, got {used}");
}

/// Returns a size from this process's status, in bytes, with reserved huge pages, which Linux
/// counts separately.
fn memory(name: &str) -> usize {
    randomx_testing::memory(name) + randomx_testing::memory("HugetlbPages")
}
