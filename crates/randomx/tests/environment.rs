//! A caller's floating point environment neither changes a hash nor is changed by one.

#![expect(unsafe_code, reason = "changes the floating point environment")]
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use std::arch::asm;
use std::sync::Arc;

use randomx::items::ItemSource;
use randomx::{EngineChoice, Item, KeyMemory, PhaseTimes, Version, Vm, VmOptions, trace};

/// Values of MXCSR: rounding down, up and to zero; denormals flushed in results and operands; no
/// exception masked.
#[cfg(target_arch = "x86_64")]
const CHANGED: [u32; 5] = [0x3f80, 0x5f80, 0x7f80, 0x9fc0, 0x0000];

/// Values of FPCR: rounding up, down and to zero; denormals flushed; no NaN propagated.
#[cfg(target_arch = "aarch64")]
const CHANGED: [u32; 5] = [1 << 22, 2 << 22, 3 << 22, 1 << 24, 1 << 25];

/// The last value, which masks no exception on x86-64: there, a result that is not exact ends the process.
const UNMASKED: u32 = CHANGED[4];

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

/// Runs `function` with the floating point control register changed and no exception's flag set, and returns its
/// result and the register after it. The flags are in that value too.
fn with_control<T>(control: u32, function: impl FnOnce() -> T) -> (T, u32) {
    // No floating point arithmetic runs before the default is back but that of `function`, which is
    // the test's subject.
    let default = exchange_control(control);
    let result = function();
    (result, exchange_control(default))
}

#[cfg(target_arch = "x86_64")]
fn exchange_control(new: u32) -> u32 {
    let mut old = 0_u32;
    // SAFETY: the instructions access live variables, and the value has no reserved bit set.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack));
        asm!("ldmxcsr [{}]", in(reg) &raw const new, options(nostack));
    }
    old
}

/// On AArch64, the flags are in a register of their own, FPSR, at bits that FPCR leaves free.
#[cfg(target_arch = "aarch64")]
fn exchange_control(new: u32) -> u32 {
    const FLAGS: u32 = 0x9f;
    let (old, old_flags): (u64, u64);
    // SAFETY: every privilege level may read and write both registers, and the values have no reserved bit set.
    unsafe {
        asm!(
            "mrs {old}, fpcr",
            "mrs {old_flags}, fpsr",
            "msr fpcr, {new:x}",
            "msr fpsr, {new_flags:x}",
            old = out(reg) old,
            old_flags = out(reg) old_flags,
            new = in(reg) u64::from(new & !FLAGS),
            new_flags = in(reg) u64::from(new & FLAGS),
        );
    }
    (old as u32 & !FLAGS) | (old_flags as u32 & FLAGS)
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
            for control in CHANGED {
                let at = format!("{engine:?}, {version}, control {control:#x}");
                let many = with_control(control, || vm.hash_many(&inputs));
                assert_eq!(many, (expected.clone(), control), "{at}");
                let one_by_one = with_control(control, || {
                    vm.hash_first(inputs[0].as_bytes());
                    [vm.hash_next(inputs[1].as_bytes()), vm.hash_last()]
                });
                assert_eq!(one_by_one, ([0, 1].map(|i| Some(expected[i])), control), "{at}");
            }
        }
    }
}

/// The VMs of a process share their trials, so each version has one environment. It is the one that permits least.
#[test]
fn lanes_are_chosen_in_any_environment() {
    let key = KeyMemory::Items(Arc::new(Mixed));
    // The trials of light mode end after 112 hashes.
    let inputs: Vec<[u8; 1]> = (0..120).map(|input| [input]).collect();
    for version in Version::ALL {
        let mut vm = Vm::with_options(key.clone(), version, VmOptions::default()).expect("a VM");
        let hashes = with_control(UNMASKED, || vm.hash_many(&inputs));
        let fixed = VmOptions { lanes: Some(8), ..VmOptions::default() };
        let mut fixed = Vm::with_options(key.clone(), version, fixed).expect("a VM");
        assert_eq!(hashes, (fixed.hash_many(&inputs), UNMASKED), "{version}");
    }
}

#[test]
fn phases_are_timed_in_any_environment() {
    let options = VmOptions { lanes: Some(2), ..VmOptions::default() };
    let key = KeyMemory::Items(Arc::new(Mixed));
    let mut vm = Vm::with_options(key, Version::V2, options).expect("a VM");
    let mut times = || {
        let mut now = 0.0;
        // Neither the sums nor their differences are exact.
        let mut times = PhaseTimes::new(|| {
            now += 0.1;
            now
        });
        vm.hash_many_observed(&["one", "two", "three"], &mut times);
        times.times()
    };
    let expected = times();
    for control in CHANGED {
        assert_eq!(with_control(control, &mut times), (expected, control), "control {control:#x}");
    }
}

#[test]
fn traced_hashes_are_the_same_in_any_environment() {
    let hash = || {
        let key = KeyMemory::Items(Arc::new(Mixed));
        trace::hash(key, Version::V1, b"traced", &mut ()).expect("memory for a scratchpad")
    };
    let expected = hash();
    for control in CHANGED {
        assert_eq!(with_control(control, hash), (expected, control), "control {control:#x}");
    }
}
