//! The engine that computes items, also where the system refuses executable memory.

#![allow(unsafe_code, reason = "asks the kernel to refuse executable memory")]
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::engine::EngineKind;
use randomx::items::{Items, ItemsOptions};
use randomx::{Cache, CodePages, EngineChoice, JitError};

fn items(cache: &Arc<Cache>, engine: EngineChoice) -> Result<Items, JitError> {
    let options = ItemsOptions { engine, cpu: Cpu::detect(), code_pages: CodePages::Flipped };
    Items::with_options(Arc::clone(cache), options)
}

/// A process cannot undo the refusal, so it happens in a child.
#[test]
fn refused_execution_is_an_error_or_the_interpreter() {
    const CHILD: &str = "RANDOMX_TEST_REFUSE_EXECUTION";
    if std::env::var_os(CHILD).is_none() {
        let mut child = randomx_testing::this_program();
        let name = "refused_execution_is_an_error_or_the_interpreter";
        let output = child.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output();
        let output = output.expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
        if text.contains("skipped") {
            println!("skipped: this kernel has no PR_SET_MDWE");
        }
        return;
    }

    let cache = Arc::new(Cache::new(b"refused execution").expect("memory for a cache"));
    let jit = items(&cache, EngineChoice::Jit).expect("machine code before the refusal");
    assert_eq!(jit.engine(), EngineKind::Jit);

    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    // SAFETY: the call takes five numbers and only restricts future mappings of this process.
    if unsafe { libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0u64, 0u64, 0u64) } != 0 {
        println!("skipped");
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
