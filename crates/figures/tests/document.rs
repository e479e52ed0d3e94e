//! Reproduces the figures of the design document from the trace.

use std::sync::Arc;
use std::time::Instant;

use randomx::blake_generator::BlakeGenerator;
use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::superscalar::generate_traced;
use randomx::trace;
use randomx::{Cache, KeyMemory, Phase, Version, Vm, VmOptions};
use randomx_figures::{
    HashFigures, ProgramLog, Runtime, Schedule, SuperscalarStatistics, WriteMap, listing,
};

fn key() -> (Arc<Cache>, KeyMemory) {
    let cache = Arc::new(Cache::new(b"figures").expect("a cache"));
    let items = Items::new(Arc::clone(&cache), Cpu::detect());
    (cache, KeyMemory::Items(Arc::new(items)))
}

/// Fails unless a number is within a relative `tolerance` of the published one.
#[track_caller]
fn assert_near(actual: f64, published: f64, tolerance: f64) {
    let difference = (actual / published - 1.0).abs();
    assert!(difference <= tolerance, "{actual} is not within {tolerance} of {published}");
}

#[test]
fn chapter_2() {
    let (_, key) = key();
    let mut figures = HashFigures::default();
    let mut map = WriteMap::default();
    for input in 0..32u8 {
        map = WriteMap::default();
        trace::hash(key.clone(), Version::V1, &[input], &mut (&mut figures, &mut map))
            .expect("a hash");
    }

    // 2.8.3, for the listed instructions; branches repeat a few of them.
    let accesses = figures.accesses.summary();
    assert_eq!(accesses.iterations, 32 * 8 * 2048);
    assert_near(accesses.listed_reads, 39.0, 0.04);
    assert_near(accesses.listed_writes, 16.0, 0.06);
    assert_near(accesses.bytes_read, 504.0, 0.03);
    assert_near(accesses.bytes_written, 256.0, 0.03);
    assert!(accesses.reads > accesses.listed_reads && accesses.reads < 1.1 * accesses.listed_reads);
    // 2.8.1: 3 to 1. 2.8.2: 2 of 16 stores go to L3.
    let [l1, l2, _] = accesses.reads_by_level;
    assert_near(l1 / l2, 3.0, 0.15);
    assert_near(accesses.writes_by_level[2], 2.0, 0.2);

    // 2.8.2
    let written = map.summary();
    assert!(written.l1 > 0.999 && written.l2 > 0.95, "{written:?}");
    assert_near(written.rest, 0.66, 0.04);
    let points = (0..WriteMap::LEN).filter(|&point| map.is_written(point)).count();
    assert_near(points as f64 / WriteMap::LEN as f64, written.whole, 1e-9);

    // 2.6.2
    let branches = figures.branches.summary();
    assert_near(branches.taken_share, 1.0 / 256.0, 0.02);
    assert_eq!(branches.longest_run, 2);
    assert_near(branches.listed, 25.0, 0.05);

    // 2.5.1
    let floats = figures.floats.summary();
    // "Around 3.0e14": FSCAL_R turns values of 33 bits into 2^48 and up to twice as much.
    assert!(floats.f_range > 2.9e14 && floats.f_range < 5.7e14, "{}", floats.f_range);
    assert!(floats.e_least > 1.6e-77, "{}", floats.e_least);
    assert!(floats.infinite_share > 0.002 && floats.infinite_share < 0.06, "{floats:?}");
    assert_eq!(floats.f.total(), 32 * 8 * 2048 * 8);
    assert_eq!(floats.e.total(), floats.f.total());

    // Table 5.1.1 of the specification.
    let instructions = figures.instructions.summary();
    assert_eq!(instructions.len(), 29);
    assert_eq!(instructions.iter().map(|count| count.listed).sum::<u64>(), 32 * 8 * 256);
    for count in &instructions {
        let spread = (count.nominal / (32.0 * 8.0 * 256.0)).sqrt();
        assert!((count.listed_share - count.nominal).abs() < 5.0 * spread, "{count:?}");
        assert!((count.executed_share - count.listed_share).abs() < 0.01, "{count:?}");
    }
}

#[test]
fn chapter_3_4() {
    let mut statistics = SuperscalarStatistics::default();
    for key in 0..100u32 {
        let mut random = BlakeGenerator::new(&key.to_le_bytes());
        for _ in 0..8 {
            let mut schedule = Schedule::default();
            let program = generate_traced(&mut random, &mut schedule);
            let parts = schedule.macro_ops().iter().filter_map(|op| op.instruction);
            assert_eq!(parts.max(), Some(program.instructions.len() - 1));
            statistics.add(&program, &schedule);
        }
    }
    let means = statistics.summary();
    assert_near(means.instructions, 450.0, 0.03);
    assert_near(means.multiplications, 155.0, 0.03);
    assert_near(means.chain, 95.0, 0.03);
    assert_near(means.latency, 170.0, 0.03);
    assert_near(means.kinds.iter().map(|(_, share)| share).sum(), 1.0, 1e-9);
}

#[test]
fn appendix_c() {
    let (cache, _) = key();
    let options = VmOptions { lanes: Some(1), ..VmOptions::default() };
    let mut vm = Vm::with_options(cache, Version::V2, options).expect("a VM");
    let begin = Instant::now();
    let mut runtime = Runtime::new(move || begin.elapsed().as_secs_f64() * 1e3);
    for input in 0..4u8 {
        vm.hash_many_observed(&[[input]], &mut runtime);
    }
    let summary = runtime.summary();
    let (programs, hashes) = (summary.programs.expect("programs"), summary.hashes.expect("hashes"));
    assert_eq!((programs.count, hashes.count), (32, 4));
    let parts: f64 = summary.phases.iter().map(|(_, time)| time).sum();
    assert_near(parts, hashes.mean, 0.01);
    let items = summary.phases.iter().find(|(phase, _)| *phase == Phase::Items).expect("items").1;
    // Programs and items are most of a hash, and are not counted twice.
    let both = items + 8.0 * programs.mean;
    assert!(both < hashes.mean && both > 0.5 * hashes.mean, "{both} of {}", hashes.mean);
}

#[test]
fn a_program_log_keeps_the_program_and_its_registers() {
    let (_, key) = key();
    let (mut log, mut first) = (ProgramLog::new(3, 10), ProgramLog::new(8, 10));
    trace::hash(key, Version::V2, b"listing", &mut (&mut log, &mut first)).expect("a hash");
    assert!(first.program().is_none() && first.rows().is_empty());
    assert_eq!(log.rows().len(), 10);
    assert_ne!(log.rows()[0], log.rows()[9]);
    // Branches repeat instructions and skip none.
    assert!(log.runs().iter().all(|runs| (2048..2400).contains(runs)), "{:?}", log.runs());
    assert_eq!(log.runs().last(), Some(&2048));
    let lines = listing(log.program().expect("the program"));
    assert_eq!(lines.len(), 384);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line.target.is_some(), line.text.starts_with("CBRANCH r"), "{line:?}");
        assert!(line.target.is_none_or(|target| target <= index));
    }
}
