//! Small promises of the public API: messages, options that are passed on, reported pages.

#![expect(unsafe_code, reason = "writes an item through a pointer")]

use std::fs;
use std::sync::{Arc, LazyLock};

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};
use randomx::cpu::Cpu;
use randomx::items::{Items, ItemsOptions};
use randomx::{
    Cache, CacheBuilder, CacheError, CacheMemory, CodePages, Dataset, DatasetBuilder, DatasetError,
    EngineChoice, Implementations, JitError, Pages, Version, Vm, VmOptions, VmPool,
    calculate_commitment,
};

static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Arc::new(Cache::new(b"values").expect("memory for a cache")));

#[test]
fn messages_name_what_is_missing() {
    let error = CacheError::OutOfMemory { bytes: 256 << 20 };
    assert_eq!(error.to_string(), "no memory for the RandomX cache: 256 MiB needed");
    assert_eq!(JitError::Unsupported.to_string(), "no machine code for this processor");
    assert_eq!(Pages::Transparent.to_string(), "transparent huge pages");
    let implementations = Implementations::new(Cpu::baseline());
    let line = implementations.to_string();
    let (aes, superscalar) = (implementations.aes, implementations.superscalar);
    assert!(line.starts_with(&format!("aes {aes}, argon2d ")), "{line}");
    assert!(line.contains(&format!(", superscalar {superscalar}, machine code ")), "{line}");
}

#[test]
fn debug_output_names_the_type() {
    let options = VmOptions::default();
    let items = Items::new(Arc::clone(&CACHE), Cpu::detect());
    let vm = Vm::new(Arc::clone(&CACHE), Version::V1).expect("a VM");
    let pool = VmPool::new(Arc::clone(&CACHE), Version::V1, options, 1).expect("a pool");
    let memory = CacheMemory::new().expect("memory for a cache");
    assert!(format!("{memory:?}").starts_with("CacheMemory { pages: "));
    let builder = CacheBuilder::in_memory(memory, b"values", Cpu::detect());
    assert_eq!(format!("{builder:?}"), "CacheBuilder { filled: 0, .. }");
    assert_eq!(format!("{:?}", *CACHE), "Cache { .. }");
    assert!(format!("{items:?}").starts_with("Items { engine: "));
    assert!(format!("{vm:?}").starts_with("Vm { version: V1, lanes: "));
    assert!(format!("{pool:?}").starts_with("VmPool { vms: [Vm {"));
    assert_eq!(format!("{:?}", Cpu::baseline()), "Cpu(baseline)");
}

#[test]
fn a_vm_has_the_options_that_it_was_created_with() {
    let (engine, cpu) = (EngineChoice::Interpreter, Cpu::baseline());
    for code_pages in [CodePages::Aliased, CodePages::Flipped] {
        let options = VmOptions { lanes: Some(2), engine, cpu, code_pages };
        let vm = Vm::with_options(Arc::clone(&CACHE), Version::V2, options).expect("a VM");
        assert_eq!(vm.options(), options);
        assert_eq!(ItemsOptions::from(options), ItemsOptions { engine, cpu, code_pages });
    }
}

#[test]
fn a_commitment_is_the_blake2b_of_the_input_and_its_hash() {
    for input in [&b""[..], b"input", &[7; 300]] {
        let hash = [9; 32];
        let expected: [u8; 32] =
            Blake2b::<U32>::new().chain_update(input).chain_update(hash).finalize().into();
        assert_eq!(calculate_commitment(input, &hash), expected);
    }
}

#[test]
fn consecutive_items_are_those_of_their_numbers() {
    let items = Items::new(Arc::clone(&CACHE), Cpu::detect());
    // More than a batch has; the last numbers begin anew.
    for first in [0, 34_078_700, u32::MAX - 5] {
        let (mut filled, mut computed) = ([[0; 8]; 19], [[0; 8]; 19]);
        items.fill(first, &mut filled);
        let numbers: [u32; 19] = std::array::from_fn(|at| first.wrapping_add(at as u32));
        items.compute(&numbers, &mut computed);
        assert_eq!(filled, computed, "from {first} on");
    }
}

/// Compares a number of bytes on huge pages with the system's own report.
fn check_huge_bytes(pages: Pages, huge: impl Fn() -> Option<usize>, address: usize, bytes: usize) {
    match pages {
        Pages::HugeTlb => assert_eq!(huge(), Some(bytes)),
        Pages::Plain => assert_eq!((huge(), reported(address).unwrap_or(0)), (Some(0), 0)),
        // The system may change pages between two reports.
        Pages::Transparent => loop {
            let (before, found, after) = (reported(address), huge(), reported(address));
            if before == after {
                println!("{before:?} bytes on huge pages");
                assert_eq!(found, before);
                return;
            }
        },
    }
}

/// Returns the bytes on huge pages in the mapping that holds `address`, on Linux.
fn reported(address: usize) -> Option<usize> {
    let maps = fs::read_to_string("/proc/self/smaps").ok()?;
    let mut is_inside = false;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        match (words.next()?, words.next()) {
            ("AnonHugePages:", Some(kibibytes)) if is_inside => {
                return kibibytes.parse::<usize>().ok().map(|kibibytes| kibibytes * 1024);
            }
            (range, _) => {
                if let Some((start, end)) = range.split_once('-') {
                    let number = |hex| usize::from_str_radix(hex, 16).expect("an address");
                    is_inside = (number(start)..number(end)).contains(&address);
                }
            }
        }
    }
    None
}

#[test]
fn caches_report_their_huge_pages() {
    let address = CACHE.words().as_ptr().addr();
    check_huge_bytes(CACHE.pages(), || CACHE.huge_bytes(), address, 256 << 20);
}

#[test]
fn a_dataset_is_read_where_it_was_written() {
    let Some(builder) = unless_memory_is_missing(DatasetBuilder::new(1)) else { return };
    assert_eq!(format!("{builder:?}"), "DatasetBuilder { threads: 1, .. }");
    drop(builder);
    // Other tests may have taken the memory meanwhile.
    let Some(mut dataset) = unless_memory_is_missing(Dataset::zeroed()) else { return };
    // SAFETY: the pointer is that of the first item, and nothing borrows the dataset.
    unsafe { dataset.as_mut_ptr().write([7; 8]) };
    assert_eq!(dataset.items()[..2], [[7; 8], [0; 8]]);
    assert!(format!("{dataset:?}").starts_with("Dataset { pages: "));
    let (address, bytes) = (dataset.items().as_ptr().addr(), size_of_val(dataset.items()));
    check_huge_bytes(dataset.pages(), || dataset.huge_bytes(), address, bytes);
}

/// Returns what was allocated. Returns `None`, and says so, if the machine has no memory for it.
fn unless_memory_is_missing<T>(result: Result<T, DatasetError>) -> Option<T> {
    match result {
        Ok(allocated) => Some(allocated),
        Err(DatasetError::OutOfMemory { .. }) => {
            randomx_testing::say("skipped: the machine has no memory for a dataset");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
