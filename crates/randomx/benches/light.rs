//! Benchmarks of light mode: the cache, dataset items, and hashes in the interpreter.
//!
//! Run `cargo bench -p randomx-core`. A time is that of a batch; the throughput is per item or hash.
#![expect(missing_docs, reason = "criterion's macro defines an undocumented function")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use randomx::cpu::Cpu;
use randomx::items::Items;
use randomx::{Cache, EngineChoice, Version, Vm, VmOptions};

fn cache(c: &mut Criterion) {
    let mut group = c.benchmark_group("cache");
    group.sample_size(10);
    group.bench_function("init", |b| {
        b.iter(|| Cache::new(black_box(b"a key")).expect("memory for a cache"));
    });
}

fn items(c: &mut Criterion) {
    let cache = Cache::new(b"a key").expect("memory for a cache");
    let calculated = Items::new(Arc::new(cache), Cpu::detect());
    let mut group = c.benchmark_group("dataset items");
    for batch in [1, 2, 4, 8, 16] {
        group.throughput(Throughput::Elements(batch as u64));
        group.bench_with_input(BenchmarkId::from_parameter(batch), &batch, |b, &batch| {
            let mut numbers = vec![0u32; batch];
            let mut items = vec![[0; 8]; batch];
            let mut next = 1u32;
            b.iter(|| {
                for number in &mut numbers {
                    next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    *number = next >> 7;
                }
                calculated.compute(&numbers, &mut items);
                black_box(&items);
            });
        });
    }
}

fn hashes(c: &mut Criterion) {
    let cache = Arc::new(Cache::new(b"a key").expect("memory for a cache"));
    let mut group = c.benchmark_group("hashes");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    for version in Version::ALL {
        for lanes in [1, 8] {
            group.throughput(Throughput::Elements(lanes as u64));
            group.bench_function(format!("{version}, interpreter, lanes: {lanes}"), |b| {
                let options = VmOptions {
                    lanes: Some(lanes),
                    engine: EngineChoice::Interpreter,
                    ..VmOptions::default()
                };
                let mut vm = Vm::with_options(cache.clone(), version, options).expect("a VM");
                let mut next = 0u64;
                b.iter(|| {
                    next += 1;
                    let inputs: Vec<_> =
                        (0..lanes as u64).map(|lane| (next << 8 | lane).to_le_bytes()).collect();
                    vm.hash_many(&inputs)
                });
            });
        }
    }
}

criterion_group!(benches, cache, items, hashes);
criterion_main!(benches);
