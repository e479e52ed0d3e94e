//! The engine that computes items, also where the system refuses executable memory.

#![allow(unsafe_code, reason = "asks the kernel to refuse executable memory")]
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::engine::EngineKind;
use randomx::items::{Items, ItemsOptions};
use randomx::{Cache, CodePages, EngineChoice, JitError, Version, Vm, VmOptions};

fn items(cache: &Arc<Cache>, engine: EngineChoice) -> Result<Items, JitError> {
    let options = ItemsOptions { engine, cpu: Cpu::detect(), code_pages: CodePages::Flipped };
    Items::with_options(Arc::clone(cache), options)
}

/// Makes the kernel refuse executable memory to this process, and returns whether it can. Executable mappings of
/// files stay allowed.
fn refuse_execution() -> bool {
    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    // SAFETY: the call takes five numbers and only restricts future mappings of this process.
    let refused = unsafe { libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0u64, 0u64, 0u64) } == 0;
    if !refused {
        randomx_testing::say("skipped: this kernel has no PR_SET_MDWE");
    }
    refused
}

#[test]
fn refused_execution_is_an_error_or_the_interpreter() {
    if !randomx_testing::is_alone("refused_execution_is_an_error_or_the_interpreter") {
        return;
    }
    let cache = Arc::new(Cache::new(b"refused execution").expect("memory for a cache"));
    let jit = items(&cache, EngineChoice::Jit).expect("machine code before the refusal");
    assert_eq!(jit.engine(), EngineKind::Jit);
    if !refuse_execution() {
        return;
    }
    let refused = items(&cache, EngineChoice::Jit);
    assert!(matches!(refused, Err(JitError::Memory(_))), "{refused:?}");
    let automatic = items(&cache, EngineChoice::Auto).expect("the interpreter");
    assert_eq!(automatic.engine(), EngineKind::Interpreter);

    // Older code still runs.
    let numbers = [0, 1, 34_078_718];
    let (mut compiled, mut interpreted) = ([[0; 8]; 3], [[0; 8]; 3]);
    jit.compute(&numbers, &mut compiled);
    automatic.compute(&numbers, &mut interpreted);
    assert_eq!(compiled, interpreted);
}

/// Aliased pages are executable mappings of a file, which the kernel still allows.
#[test]
fn a_key_set_after_the_refusal_has_no_aliased_pages() {
    if !randomx_testing::is_alone("a_key_set_after_the_refusal_has_no_aliased_pages") {
        return;
    }
    let cache = Arc::new(Cache::new(b"refused execution").expect("memory for a cache"));
    let mut vms = [EngineChoice::Jit, EngineChoice::Auto].map(|engine| {
        let code_pages = CodePages::Flipped;
        let options = VmOptions { engine, code_pages, lanes: Some(1), ..VmOptions::default() };
        Vm::with_options(Arc::clone(&cache), Version::V1, options).expect("a VM")
    });
    let expected = vms.each_mut().map(|vm| vm.hash(b"an input"));
    if !refuse_execution() {
        return;
    }
    for (vm, expected) in vms.iter_mut().zip(expected) {
        vm.set_key(Arc::clone(&cache));
        let maps = std::fs::read_to_string("/proc/self/maps").expect("this process's mappings");
        let aliased: Vec<&str> =
            maps.lines().filter(|line| line.contains("randomx-code")).collect();
        assert!(aliased.is_empty(), "{:?}: {aliased:?}", vm.options().engine);
        assert_eq!(vm.hash(b"an input"), expected, "{:?}", vm.options().engine);
    }
}
