//! A caller's floating point environment neither changes a hash nor is changed by one.

#![expect(unsafe_code, reason = "changes the floating point environment")]
#![cfg(target_arch = "x86_64")]

use std::arch::asm;
use std::sync::Arc;

use randomx::items::ItemSource;
use randomx::{EngineChoice, Item, KeyMemory, Version, Vm, VmOptions, trace};

static DEFAULT: u32 = 0x1f80;

/// Rounding down, up and to zero; denormals flushed in results and operands; no exception masked.
const CHANGED: [u32; 5] = [0x3f80, 0x5f80, 0x7f80, 0x9fc0, 0x0000];

/// Items with every kind of word.
#[derive(Debug)]
struct Mixed;

impl ItemSource for Mixed {
    fn compute(&self, numbers: &[u32], items: &mut [Item]) {
        for (number, item) in numbers.iter().zip(items) {
            *item = std::array::from_fn(|word| {
                (u64::from(*number) + word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            });
        }
    }
}

/// Runs `function` with MXCSR changed, and returns its result and MXCSR after it.
fn with_mxcsr<T>(mxcsr: u32, function: impl FnOnce() -> T) -> (T, u32) {
    let mut after = 0_u32;
    // SAFETY: the values have no reserved bit set. No floating point arithmetic runs before the
    // default is back but that of `function`, which is the test's subject.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack));
        let result = function();
        asm!("stmxcsr [{}]", in(reg) &raw mut after, options(nostack));
        asm!("ldmxcsr [{}]", in(reg) &raw const DEFAULT, options(nostack));
        (result, after)
    }
}

#[test]
fn hashes_are_the_same_in_any_environment() {
    let key = KeyMemory::Items(Arc::new(Mixed));
    let inputs = ["one", "two", "three"];
    for engine in [EngineChoice::Interpreter, EngineChoice::Auto] {
        for version in Version::ALL {
            let options = VmOptions { engine, lanes: Some(2), ..VmOptions::default() };
            let mut vm = Vm::with_options(key.clone(), version, options).expect("a VM");
            let expected = vm.hash_many(&inputs);
            for mxcsr in CHANGED {
                let at = format!("{engine:?}, {version}, MXCSR {mxcsr:#06x}");
                let many = with_mxcsr(mxcsr, || vm.hash_many(&inputs));
                assert_eq!(many, (expected.clone(), mxcsr), "{at}");
                let one_by_one = with_mxcsr(mxcsr, || {
                    vm.hash_first(inputs[0].as_bytes());
                    [vm.hash_next(inputs[1].as_bytes()), vm.hash_last()]
                });
                assert_eq!(one_by_one, ([0, 1].map(|i| Some(expected[i])), mxcsr), "{at}");
            }
        }
    }
}

#[test]
fn traced_hashes_are_the_same_in_any_environment() {
    let hash = || {
        let key = KeyMemory::Items(Arc::new(Mixed));
        trace::hash(key, Version::V1, b"traced", &mut ()).expect("memory for a scratchpad")
    };
    let expected = hash();
    for mxcsr in CHANGED {
        assert_eq!(with_mxcsr(mxcsr, hash), (expected, mxcsr), "MXCSR {mxcsr:#06x}");
    }
}
