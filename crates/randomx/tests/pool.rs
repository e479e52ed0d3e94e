//! Pools: threads do not change hashes, and bad options are refused.

#![allow(unsafe_code, reason = "limits the memory of a process")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use randomx::{Cache, MAX_THREADS, PoolError, Version, Vm, VmError, VmOptions, VmPool};

fn inputs(count: u32) -> Vec<[u8; 4]> {
    (0..count).map(u32::to_le_bytes).collect()
}

#[test]
fn threads_do_not_change_hashes() {
    let first = Arc::new(Cache::new(b"first").expect("a cache"));
    let second = Arc::new(Cache::new(b"second").expect("a cache"));
    let inputs = inputs(11);
    let options = VmOptions { lanes: Some(3), ..VmOptions::default() };
    for threads in [1, 2, 5] {
        let mut vm = Vm::new(first.clone(), Version::V1).expect("a VM");
        let mut pool = VmPool::new(first.clone(), Version::V1, options, threads).expect("a pool");
        assert_eq!(pool.threads(), threads);
        assert_eq!(pool.hash_many(&inputs), vm.hash_many(&inputs), "{threads} threads");

        vm.set_version(Version::V2);
        vm.set_key(second.clone());
        pool.set_version(Version::V2);
        pool.set_key(second.clone());
        let reported = AtomicUsize::new(0);
        let hashes = pool.try_hash_many(&inputs, |hashed| {
            reported.fetch_add(hashed, Ordering::Relaxed);
            Ok::<_, ()>(())
        });
        assert_eq!(hashes, Ok(vm.hash_many(&inputs)), "{threads} threads, the other key");
        assert_eq!(reported.into_inner(), inputs.len());
        assert!(pool.hash_many::<&[u8]>(&[]).is_empty());
    }
}

#[test]
fn an_error_ends_the_hashing_soon() {
    let cache = Arc::new(Cache::new(b"first").expect("a cache"));
    for threads in [1, 2] {
        let mut pool =
            VmPool::new(cache.clone(), Version::V1, VmOptions::default(), threads).expect("a pool");
        let reported = AtomicUsize::new(0);
        let ended = pool.try_hash_many(&inputs(1000), |hashed| {
            reported.fetch_add(hashed, Ordering::Relaxed);
            Err("enough")
        });
        assert_eq!(ended, Err("enough"));
        let reported = reported.into_inner();
        assert!((1..=16 * threads).contains(&reported), "{reported} hashes");
        assert_eq!(pool.hash_many(&inputs(3)).len(), 3);
    }
}

#[test]
fn bad_thread_and_lane_counts_are_refused() {
    let cache = Arc::new(Cache::new(b"").expect("a cache"));
    for threads in [0, MAX_THREADS + 1, 10_000, usize::MAX] {
        let error = VmPool::new(cache.clone(), Version::V1, VmOptions::default(), threads)
            .expect_err("a bad number of threads");
        assert_eq!(error, PoolError::Threads { requested: threads });
        assert_eq!(error.to_string(), format!("threads: expected 1 to 1024, got {threads}"));
    }
    let options = VmOptions { lanes: Some(9), ..VmOptions::default() };
    let error = VmPool::new(cache, Version::V1, options, 2).expect_err("a bad number of lanes");
    assert_eq!(error, PoolError::Vm(VmError::Lanes { requested: 9 }));
}

/// The limit on the address space applies to a whole process, so the pool is made in a child process.
#[cfg(target_os = "linux")]
#[test]
fn without_memory_for_the_scratchpads_all_of_them_are_reported() {
    use randomx::params::SCRATCHPAD_L3;
    use randomx::{Item, ItemSource, KeyMemory, MAX_LANES};

    /// A source that no hash asks.
    #[derive(Debug)]
    struct NoItems;

    impl ItemSource for NoItems {
        fn compute(&self, _: &[u32], _: &mut [Item]) {}
    }

    let name = "without_memory_for_the_scratchpads_all_of_them_are_reported";
    if !randomx_testing::is_alone(name) {
        return;
    }

    let present = randomx_testing::memory("VmSize") as u64;
    // First there is no room for a VM, which takes 16 MiB, and then for some of them.
    for (left, threads) in [(8, 1), (8, 4), (100, 64)] {
        let bytes = present + (left << 20);
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the pointer is to a live structure of the type that the call reads.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        let key = KeyMemory::Items(Arc::new(NoItems));
        let error = VmPool::new(key, Version::V1, VmOptions::default(), threads)
            .expect_err("no memory for a pool");
        let bytes = threads * MAX_LANES * SCRATCHPAD_L3;
        assert_eq!(error, PoolError::OutOfMemory { bytes }, "{left} MiB");
    }
}
