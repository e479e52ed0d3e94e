//! How much memory each mode takes: what its definition says, within 5%, and none once it is
//! dropped. Each mode has a process of its own, because a process's memory is what is measured.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::params::{CACHE_SIZE, DATASET_SIZE, SCRATCHPAD_L3};
use randomx::{Cache, Dataset, DatasetError, KeyMemory, Version, Vm, VmOptions};

/// Tells a process of this test which mode to measure.
const MODE: &str = "RANDOMX_TEST_MODE";

#[test]
fn modes_take_the_memory_of_their_definition() {
    for mode in ["light", "fast"] {
        let test = std::env::current_exe().expect("this program");
        let output = Command::new(test)
            .args(["--exact", "one_mode", "--nocapture"])
            .env(MODE, mode)
            .output()
            .expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mode}: {text}{told}");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(mode)).collect();
        assert!(!lines.is_empty(), "{mode}: nothing was measured: {text}");
        // Written past the capture of a test that passes: the measurement is the result.
        let _ = writeln!(std::io::stdout(), "{}", lines.join("\n"));
    }
}

/// The part of the test above that runs in a process of its own.
#[test]
fn one_mode() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    let before = memory("VmRSS");
    let cache = Arc::new(Cache::new(b"resident").expect("memory for a cache"));
    let (key, size): (KeyMemory, usize) = if mode == "light" {
        (cache.into(), CACHE_SIZE)
    } else {
        let items = Items::new(cache.clone(), Cpu::detect());
        let dataset = match Dataset::new(&items, 2) {
            Err(error @ DatasetError::OutOfMemory { .. }) => {
                println!("{mode}: SKIPPED: {error}");
                return;
            }
            dataset => dataset.expect("a dataset"),
        };
        check_items(&dataset, &items);
        // While it is computed there is a cache too, and nothing else of size.
        assert_within("the most so far", memory("VmHWM"), DATASET_SIZE + CACHE_SIZE);
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
    assert!(left < before + (8 << 20), "{left} bytes are left, and {before} were there before");
}

/// Items all over the dataset, and where threads and pages meet, are those of the cache.
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

fn assert_within(name: &str, taken: usize, defined: usize) {
    let ratio = taken as f64 / defined as f64;
    println!("{name}: {} MiB of {} MiB, {ratio:.3}", taken >> 20, defined.div_ceil(1 << 20));
    assert!((0.95..=1.05).contains(&ratio), "{name}: {taken} bytes, not {defined}");
}

/// A line of this process's status, in bytes; reserved huge pages, which Linux counts apart,
/// included.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let bytes = |name: &str| -> usize {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let amount = line.and_then(|line| line.split_whitespace().nth(1)).expect("an amount");
        amount.parse::<usize>().expect("a number") << 10
    };
    bytes(name) + bytes("HugetlbPages")
}
