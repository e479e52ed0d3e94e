//! Labels, jumps, memory operands and errors.

use super::super::{Assembler, AssemblerError, Condition, Gpr::*, Mem, Scale};
use super::{assert_listing, listing};

#[test]
fn memory_operands_of_every_form_are_encoded() {
    assert_listing(
        |a| {
            a.mov(Rax, Mem::new(Rcx, 0));
            a.mov(Rax, Mem::new(Rbp, 0));
            a.mov(Rax, Mem::new(R13, 0));
            a.mov(R9, Mem::new(Rsp, 0));
            a.mov(R9, Mem::new(R12, 8));
            a.mov(R15, Mem::new(Rsi, 127));
            a.mov(R15, Mem::new(Rsi, 128));
            a.mov(R15, Mem::new(R14, -128));
            a.mov(R15, Mem::new(R14, -129));
            a.mov(Rdx, Mem::indexed(Rsi, Rax, Scale::One, 0));
            a.mov(Rdx, Mem::indexed(Rbp, R12, Scale::Two, 0));
            a.mov(Rdx, Mem::indexed(R13, Rcx, Scale::Four, -64));
            a.mov(R8, Mem::indexed(Rsp, R15, Scale::Eight, 0x12345));
        },
        "mov rax, [rcx]
         mov rax, [rbp]
         mov rax, [r13]
         mov r9, [rsp]
         mov r9, [r12+8]
         mov r15, [rsi+7Fh]
         mov r15, [rsi+80h]
         mov r15, [r14-80h]
         mov r15, [r14-81h]
         mov rdx, [rsi+rax]
         mov rdx, [rbp+r12*2]
         mov rdx, [r13+rcx*4-40h]
         mov r8, [rsp+r15*8+12345h]",
    );
}

#[test]
fn jumps_reach_labels_in_both_directions() {
    assert_listing(
        |a| {
            let (start, end) = (a.label(), a.label());
            a.bind(start);
            let position = a.position();
            a.jmp(end);
            a.jcc(Condition::NotZero, end);
            a.jcc(Condition::Zero, start);
            a.jcc_back(Condition::Above, position);
            a.jmp(start);
            a.bind(end);
            a.align(8);
            for _ in 0..13 {
                a.mov_immediate(R9, 0);
            }
            a.jcc(Condition::Less, start);
            a.jcc_back(Condition::Zero, position);
            a.jmp(start);
            a.call(Rax);
            a.call(R12);
            a.ret();
        },
        &format!(
            "jmp 0000000000000011h
             jne 0000000000000011h
             je short 0
             ja short 0
             jmp short 0
             {}{}jl 0
             je 0
             jmp 0
             call rax
             call r12
             ret",
            "nop\n".repeat(7),
            "mov r9, 0\n".repeat(13),
        ),
    );
}

#[test]
fn labels_address_constants() {
    let lines = listing(|a| {
        let pool = a.label();
        a.mov(Rax, Mem::label(pool, 8));
        a.imul_immediate(R8, Mem::label(pool, 0), 77);
        a.ret();
        a.align(16);
        a.bind(pool);
        a.data(0x9090_9090_9090_9090);
        a.data(0x9090_9090_9090_9090);
    });
    assert_eq!(lines[..3], ["mov rax, [rip+21h]", "imul r8, [rip+0Eh], 4Dh", "ret"]);
}

#[test]
fn code_that_does_not_fit_is_an_error() {
    let mut assembler = Assembler::new(40);
    for _ in 0..4 {
        assembler.mov_immediate(Rax, 1);
    }
    assert_eq!(assembler.finish().map(<[u8]>::len), Ok(40));
    assembler.ret();
    assert_eq!(assembler.finish().err(), Some(AssemblerError::Full));
    let mut assembler = Assembler::new(40);
    let label = assembler.label();
    assembler.jmp(label);
    assert_eq!(assembler.finish().err(), Some(AssemblerError::Unbound));
}

/// Code before a mark stays when later code is replaced.
#[test]
fn code_after_a_mark_is_replaced() {
    let mut assembler = Assembler::new(64);
    assembler.ret();
    let mark = assembler.mark();
    let label = assembler.label();
    assembler.jmp(label);
    assembler.rewind(mark);
    assembler.push(Rax);
    assert_eq!(assembler.finish(), Ok(&[0xc3, 0x50][..]));
}
