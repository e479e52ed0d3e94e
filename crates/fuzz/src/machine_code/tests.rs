//! Code of programs, as it is and with changes that make it dangerous.

use iced_x86::{Instruction, Mnemonic, Register};
use randomx::Version;
use randomx::cpu::Cpu;
use randomx::jit::CodePages;
use randomx::jit::program::Whole;
use randomx::jit::x86_64::program::{Features, Jit, ModeLoads};
use randomx::program::Program;
use randomx::scratchpad::{L1_MASK, L2_MASK, L3_MASK, L3_MASK_64};

use super::{Helpers, LAST_ITEM, follow, verify};
use crate::programs::Case;

/// The masks of instructions.
const INSTRUCTIONS: [u64; 3] = [L1_MASK as u64, L2_MASK as u64, L3_MASK as u64];

/// Returns the code of a program with every kind of instruction, for each kind of processor.
fn codes() -> Vec<Whole> {
    let mut codes = Vec::new();
    for version in Version::ALL {
        let Program { configuration, instructions, .. } = Case::with_every_instruction().program;
        let program = Program { version, configuration, instructions };
        for cpu in Cpu::detect().levels() {
            for loads in ModeLoads::ALL {
                let jit = Jit::of(Features::new(cpu, loads), cpu, CodePages::Flipped);
                codes.push(jit.whole(&program).expect("a program"));
            }
        }
    }
    codes
}

/// Replaces each instruction for which `change` returns other bytes, one at a time. Returns whether
/// the code is refused.
fn refused(change: impl Fn(&Instruction, &[u8]) -> Option<Vec<u8>>) -> Vec<bool> {
    let mut refused = Vec::new();
    for whole in codes() {
        for instruction in follow(&whole).expect("good code").instructions.values() {
            let range = instruction.ip() as usize..instruction.next_ip() as usize;
            let Some(bytes) = change(instruction, &whole.code[range.clone()]) else { continue };
            let mut whole = whole.clone();
            whole.code[range].copy_from_slice(&bytes);
            refused.push(verify(&whole).is_err());
        }
    }
    assert!(refused.len() >= codes().len(), "only {} instructions changed", refused.len());
    refused
}

/// Asserts that every such change is refused.
fn all_refused(what: &str, change: impl Fn(&Instruction, &[u8]) -> Option<Vec<u8>>) {
    let refused = refused(change);
    let missed = refused.iter().filter(|refused| !**refused).count();
    assert_eq!(missed, 0, "of {} programs {what}", refused.len());
}

/// Returns the mask of an instruction that masks an address.
fn mask(instruction: &Instruction) -> Option<u64> {
    let masks = instruction.mnemonic() == Mnemonic::And && instruction.op0_register().is_gpr32();
    instruction.try_immediate(1).ok().filter(|_| masks)
}

fn nops(instruction: &Instruction) -> Vec<u8> {
    vec![0x90; instruction.len()]
}

#[test]
fn code_of_every_processor_is_accepted() {
    let codes = codes();
    assert!(codes.len() >= 8);
    for whole in codes {
        let helpers = verify(&whole).expect("good code");
        assert!(helpers.len() <= 1, "{helpers:x?}");
    }
}

#[test]
fn a_missing_mask_is_found() {
    all_refused("without a mask", |instruction, _| {
        let masked = mask(instruction).is_some_and(|mask| INSTRUCTIONS.contains(&mask));
        masked.then(|| nops(instruction))
    });
    // A third of the loop's masks are for prefetching, which any address allows.
    for (mask, needed) in [(L3_MASK_64.into(), 4), (LAST_ITEM, 1)] {
        let refused = refused(|instruction, _| {
            (self::mask(instruction) == Some(mask)).then(|| nops(instruction))
        });
        let found = refused.iter().filter(|refused| **refused).count();
        assert_eq!(found, needed * codes().len(), "{mask:#x}");
    }
}

#[test]
fn a_wide_mask_is_found() {
    all_refused("with a wide mask", |instruction, bytes| {
        let masked = mask(instruction).is_some_and(|mask| INSTRUCTIONS.contains(&mask));
        let (_, but_last) = bytes.split_last()?;
        masked.then(|| [but_last, &[1]].concat())
    });
}

#[test]
fn a_constant_address_outside_is_found() {
    all_refused("with a distant address", |instruction, bytes| {
        let constant = instruction.memory_base() == Register::RSI
            && instruction.memory_index() == Register::None
            && instruction.memory_displ_size() > 1;
        constant.then(|| {
            let mut bytes = bytes.to_vec();
            let at = bytes.len() - 2;
            bytes[at] |= 0x20;
            bytes
        })
    });
}

#[test]
fn a_branch_into_an_instruction_is_found() {
    all_refused("with another target", |instruction, bytes| {
        let target = instruction.near_branch_target();
        let inside = instruction.is_jcc_short_or_near() && target < instruction.ip();
        inside.then(|| {
            let mut bytes = bytes.to_vec();
            let at = if bytes.len() == 2 { 1 } else { bytes.len() - 4 };
            bytes[at] = bytes[at].wrapping_add(1);
            bytes
        })
    });
}

#[test]
fn an_unsaved_register_is_found() {
    all_refused("without a push", |instruction, _| {
        (instruction.mnemonic() == Mnemonic::Push).then(|| nops(instruction))
    });
    all_refused("without a pop", |instruction, _| {
        (instruction.mnemonic() == Mnemonic::Pop).then(|| nops(instruction))
    });
}

#[test]
fn a_value_with_reserved_bits_is_found() {
    let codes = codes();
    let mut refused = Vec::new();
    for whole in &codes {
        for instruction in follow(whole).expect("good code").instructions.values() {
            let loads = instruction.mnemonic() == Mnemonic::Ldmxcsr;
            if loads && instruction.is_ip_rel_memory_operand() {
                let mut whole = whole.clone();
                whole.code[instruction.ip_rel_memory_address() as usize + 2] = 1;
                refused.push(verify(&whole).is_err());
            }
        }
    }
    // Half of the codes load four constants, at the start of a turn and in each CFROUND.
    assert!(refused.len() >= codes.len() / 2 * 8, "{}", refused.len());
    assert!(refused.iter().all(|refused| *refused));
}

#[test]
fn a_changed_pointer_is_found() {
    all_refused("into the scratchpad's register", |instruction, bytes| {
        // mov rsi, [rcx+16] becomes mov rsi, [rcx+24]
        let loads = instruction.mnemonic() == Mnemonic::Mov
            && instruction.memory_base() == Register::RCX
            && instruction.op0_register() == Register::RSI;
        loads.then(|| [&bytes[..bytes.len() - 1], &[24]].concat())
    });
}

/// Verifies instructions that another lane's code jumps to, with the link in `rcx` and at `rsp + 8`,
/// and an endless loop after them.
fn verify_takeover(instructions: &[&[u8]]) -> Result<Helpers, String> {
    let code = [&[0xc3], instructions.concat().as_slice(), &[0xeb, 0xfe]].concat();
    verify(&Whole { code, takeover: 1 })
}

#[test]
fn a_write_to_a_part_of_a_word_is_found() {
    // mov rcx, [rsp+8]; mov rdi, [rcx+8]
    let uses: &[u8] = &[0x48, 0x8b, 0x4c, 0x24, 8, 0x48, 0x8b, 0x79, 8];
    let cases: [(&[u8], bool); 7] = [
        (&[], true),
        // movups [rsp], xmm0 and [rsp+16], xmm0
        (&[0x0f, 0x11, 0x04, 0x24], false),
        (&[0x0f, 0x11, 0x44, 0x24, 16], true),
        // mov [rsp+4], rax; mov [rsp+12], rax; mov [rsp+14], al
        (&[0x48, 0x89, 0x44, 0x24, 4], false),
        (&[0x48, 0x89, 0x44, 0x24, 12], false),
        (&[0x88, 0x44, 0x24, 14], false),
        // mov [rsp+4], eax
        (&[0x89, 0x44, 0x24, 4], true),
    ];
    for (write, accepted) in cases {
        let verified = verify_takeover(&[write, uses]);
        assert_eq!(verified.is_ok(), accepted, "{write:x?}: {verified:?}");
    }
}

#[test]
fn a_comparison_of_another_value_is_found() {
    // cmp rcx, [rsp+24]
    let compares: &[u8] = &[0x48, 0x3b, 0x4c, 0x24, 24];
    // je to the end; add rcx, 32; mov rdi, [rcx+8]
    let steps: &[u8] = &[0x74, 8, 0x48, 0x83, 0xc1, 32, 0x48, 0x8b, 0x79, 8];
    let cases: [(&[u8], bool); 7] = [
        (&[], true),
        // mov rcx, rax; mov ecx, eax; pop rcx
        (&[0x48, 0x89, 0xc1], false),
        (&[0x89, 0xc1], false),
        (&[0x59], false),
        // sub rsp, 8; add rsp, 8
        (&[0x48, 0x83, 0xec, 8], false),
        (&[0x48, 0x83, 0xc4, 8], false),
        // mov rdx, rax
        (&[0x48, 0x89, 0xc2], true),
    ];
    for (between, accepted) in cases {
        let verified = verify_takeover(&[compares, between, steps]);
        assert_eq!(verified.is_ok(), accepted, "{between:x?}: {verified:?}");
    }
}

#[test]
fn an_instruction_that_does_more_than_is_computed_is_found() {
    let cases: [(&str, &[u8]); 15] = [
        (
            "mov rbx, rsp; sub rsp, 64; mov [rbx+64], rax",
            b"\x48\x89\xe3\x48\x83\xec\x40\x48\x89\x43\x40",
        ),
        ("push rsp; pop rbx", b"\x54\x5b"),
        ("mov rsp, rcx; push rax", b"\x48\x89\xcc\x50"),
        ("sub esp, 64; push rax", b"\x83\xec\x40\x50"),
        ("mov rbp, [rcx+8]; leave; push rax", b"\x48\x8b\x69\x08\xc9\x50"),
        ("push [rax]", b"\xff\x30"),
        ("pop [rax]", b"\x8f\x00"),
        ("push ax", b"\x66\x50"),
        ("pop ax", b"\x66\x58"),
        ("loop; mov rdi, [rcx+8]", b"\xe2\x00\x48\x8b\x79\x08"),
        ("mov rdi, [rcx+8]; rep stosq", b"\x48\x8b\x79\x08\xf3\x48\xab"),
        ("mov rdi, gs:[rcx+8]", b"\x65\x48\x8b\x79\x08"),
        ("mov rdi, [ecx+8]", b"\x67\x48\x8b\x79\x08"),
        (
            "mov rsi, [rcx+16]; xsave [rsi+0x1fffc0]",
            b"\x48\x8b\x71\x10\x0f\xae\xa6\xc0\xff\x1f\x00",
        ),
        (
            "cmp rcx, [rsp+24]; je to the end; add ecx, 32; mov rdi, [rcx+8]",
            b"\x48\x3b\x4c\x24\x18\x74\x07\x83\xc1\x20\x48\x8b\x79\x08",
        ),
    ];
    let accepts = |(_, code): &&(&str, &[u8])| verify_takeover(&[code]).is_ok();
    let accepted: Vec<&str> = cases.iter().filter(accepts).map(|(text, _)| *text).collect();
    assert!(accepted.is_empty(), "{accepted:?}");
    // ret 8
    assert!(verify(&Whole { code: vec![0xc2, 8, 0, 0xeb, 0xfe], takeover: 3 }).is_err());
    assert!(verify(&Whole { code: vec![0xc3, 0xeb, 0xfe], takeover: 1 }).is_ok());
}
