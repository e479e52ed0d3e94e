//! The instructions that serialise, for programs without privileges (Intel SDM, volume 3, "Serializing Instructions"; AMD64
//! APM, volume 2, "Serializing Instructions").

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, __get_cpuid_max};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::once::once;
use crate::turns::fastest;

/// An instruction that serialises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serializing {
    /// SERIALIZE, the fastest. Few processors have it.
    Serialize,
    /// CPUID. Every processor has it, but in most virtual machines it exits to the host, which takes
    /// microseconds.
    Cpuid,
    /// IRET to the next instruction. It faults in a thread with a shadow stack, and Valgrind does not
    /// implement it.
    Iret,
}

/// Turns of CPUID and IRET that [`Serializing::fastest`] measures.
const ROUNDS: usize = 9;

impl Serializing {
    /// Returns the fastest instruction. It is chosen once in a process, in some tens of microseconds.
    pub(super) fn fastest() -> Serializing {
        static FASTEST: OnceLock<Serializing> = OnceLock::new();
        *once(&FASTEST, || {
            if has_serialize() {
                Serializing::Serialize
            } else if in_virtual_machine() && !has_shadow_stack() {
                Serializing::faster_of_two(|instruction| {
                    let start = Instant::now();
                    instruction.execute();
                    start.elapsed()
                })
            } else {
                Serializing::Cpuid
            }
        })
    }

    /// Returns CPUID or IRET, whichever has the shorter of the shortest times.
    fn faster_of_two(mut time: impl FnMut(Serializing) -> Duration) -> Serializing {
        let two = [Serializing::Cpuid, Serializing::Iret];
        two[fastest(two.len(), ROUNDS, |index| time(two[index]))]
    }

    /// Executes the instruction. For SERIALIZE the processor must have it.
    #[inline]
    pub(super) fn execute(self) {
        match self {
            Serializing::Serialize => serialize(),
            // The thread that chose may have had no shadow stack, while this one has one.
            Serializing::Iret if !has_shadow_stack() => iret(),
            Serializing::Iret | Serializing::Cpuid => {
                std::hint::black_box(cpuid(0));
            }
        }
    }
}

fn serialize() {
    // SAFETY: `Serializing::Serialize` is chosen on processors that have SERIALIZE, which changes no
    // register and no memory.
    unsafe { asm!(".byte 0x0f, 0x01, 0xe8", options(nostack, preserves_flags)) };
}

// CPUID's functions became safe ones after the oldest compiler that this crate supports.
#[allow(unused_unsafe)]
fn cpuid(leaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 processor has CPUID.
    unsafe { __cpuid(leaf) }
}

/// Returns to the next instruction by IRET, with the same segments, stack pointer and flags.
fn iret() {
    // SAFETY: IRET pops the five values that are pushed here, and so changes nothing but the
    // instruction pointer, which becomes the address of the label. The block may push, because it
    // does not have the option `nostack`. Segments of a program without privileges may be loaded
    // again. No shadow stack is in use, which IRET would compare with.
    unsafe {
        asm!(
            "mov {stack}, rsp",
            "mov {value:e}, ss",
            "push {value}",
            "push {stack}",
            "pushfq",
            "mov {value:e}, cs",
            "push {value}",
            "lea {value}, [rip + 2f]",
            "push {value}",
            "iretq",
            "2:",
            stack = out(reg) _,
            value = out(reg) _,
            options(preserves_flags),
        );
    }
}

/// Returns whether this thread has a shadow stack: RDSSPQ reads its pointer. Without one, as on
/// processors that have none, the instruction does nothing.
#[inline]
fn has_shadow_stack() -> bool {
    let pointer: u64;
    // SAFETY: `rdsspq rax` changes only RAX. Older processors execute the encoding as NOP.
    unsafe {
        asm!(
            ".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8",
            inout("rax") 0_u64 => pointer,
            options(nomem, nostack, preserves_flags),
        );
    }
    pointer != 0
}

#[allow(unused_unsafe)]
fn has_serialize() -> bool {
    const LEAF: u32 = 7;
    const SERIALIZE: u32 = 1 << 14;
    // SAFETY: every x86-64 processor has CPUID.
    let (edx, leaves) = unsafe { (__cpuid_count(LEAF, 0).edx, __get_cpuid_max(0).0) };
    leaves >= LEAF && edx & SERIALIZE != 0
}

/// Returns whether a hypervisor says that it runs this processor. Valgrind does not say so. QEMU's
/// user emulation does, and implements IRET.
fn in_virtual_machine() -> bool {
    const HYPERVISOR: u32 = 1 << 31;
    cpuid(1).ecx & HYPERVISOR != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_two_is_chosen_if_it_is_faster() {
        for fast in [Serializing::Cpuid, Serializing::Iret] {
            let mut turns = 0;
            // The first turns are interrupted.
            let time = |instruction| {
                turns += 1;
                Duration::from_nanos(if instruction == fast && turns > 2 { 5 } else { 7 })
            };
            assert_eq!(Serializing::faster_of_two(time), fast);
        }
    }

    #[test]
    fn a_tie_is_decided_for_cpuid() {
        let tie = Serializing::faster_of_two(|_| Duration::from_nanos(5));
        assert_eq!(tie, Serializing::Cpuid);
    }

    #[test]
    fn execution_goes_on_behind_each_instruction() {
        let mut sum = 0_u64;
        for turn in 0..1000 {
            Serializing::Cpuid.execute();
            if in_virtual_machine() {
                Serializing::Iret.execute();
            }
            Serializing::fastest().execute();
            sum += std::hint::black_box(turn);
        }
        assert_eq!(sum, 499_500);
    }

    #[test]
    fn only_a_processor_with_serialize_is_given_it() {
        let chosen = Serializing::fastest();
        assert_eq!(chosen == Serializing::Serialize, has_serialize());
        assert_eq!(chosen, Serializing::fastest());
    }
}
