//! Instructions on general purpose registers and of SSE.

use super::super::{Gpr::*, Mem, Xmm};
use super::assert_listing;

#[test]
fn arithmetic() {
    assert_listing(
        |a| {
            a.add(Rax, R15);
            a.add(R15, Rax);
            a.add(Rcx, 1);
            a.add(R9, -128);
            a.add(Rdx, 128);
            a.add(R12, Mem::new(R13, 0));
            a.add32(Rax, Rcx);
            a.add32(R8, 200);
            a.or(Rbx, Rsi);
            a.or32(R10, 1);
            a.and(Rdi, -8);
            a.and32(Rax, 0x3f_fff8);
            a.and32(R11, Mem::new(Rax, 4));
            a.sub(R8, R9);
            a.sub(R8, i32::MIN);
            a.sub32(Rcx, 1);
            a.xor(R8, Mem::new(Rsi, 0x100));
            a.xor(R14, i32::MAX);
            a.xor32(Rax, Rax);
            a.cmp(Rax, 5);
            a.cmp32(Rdx, R8);
        },
        "add rax, r15
         add r15, rax
         add rcx, 1
         add r9, 0FFFFFFFFFFFFFF80h
         add rdx, 80h
         add r12, [r13]
         add eax, ecx
         add r8d, 0C8h
         or rbx, rsi
         or r10d, 1
         and rdi, 0FFFFFFFFFFFFFFF8h
         and eax, 3FFFF8h
         and r11d, [rax+4]
         sub r8, r9
         sub r8, 0FFFFFFFF80000000h
         sub ecx, 1
         xor r8, [rsi+100h]
         xor r14, 7FFFFFFFh
         xor eax, eax
         cmp rax, 5
         cmp edx, r8d",
    );
}

#[test]
fn products_shifts_and_single_operands() {
    assert_listing(
        |a| {
            a.imul(Rax, R9);
            a.imul(R9, Mem::new(Rsi, 16));
            a.imul_immediate(R10, R11, -1000);
            a.mul(R8);
            a.mul(Mem::new(Rsi, 0));
            a.imul_wide(Rcx);
            a.imul_wide(Mem::new(R12, 8));
            a.mulx(Rax, R8, R9);
            a.mulx(R15, Rcx, Mem::new(Rsi, 64));
            a.rorx(R8, R15, 63);
            a.rorx(Rax, Mem::new(Rdi, 0), 1);
            a.neg(R15);
            a.dec(R12);
            a.ror(Rax, 13);
            a.rol(R13, 63);
            a.ror_cl(R8);
            a.rol_cl(Rdx);
            a.shl(Rax, 3);
            a.shr(R9, 32);
        },
        "imul rax, r9
         imul r9, [rsi+10h]
         imul r10, r11, 0FFFFFFFFFFFFFC18h
         mul r8
         mul qword ptr [rsi]
         imul rcx
         imul qword ptr [r12+8]
         mulx rax, r8, r9
         mulx r15, rcx, [rsi+40h]
         rorx r8, r15, 3Fh
         rorx rax, [rdi], 1
         neg r15
         dec r12
         ror rax, 0Dh
         rol r13, 3Fh
         ror r8, cl
         rol rdx, cl
         shl rax, 3
         shr r9, 20h",
    );
}

#[test]
fn moves_and_memory() {
    assert_listing(
        |a| {
            a.mov(Rax, R8);
            a.mov32(R8, Rax);
            a.mov32(Rcx, Mem::new(Rdi, 4));
            a.store(Mem::new(Rsp, 8), R15);
            a.store32(Mem::new(R9, 0), Rdx);
            a.mov_immediate(R9, 0x1234_5678_9abc_def0);
            a.lea(Rax, Mem::new(R8, -1));
            a.lea32(R8, Mem::new(Rax, 1));
            a.test_immediate(R9, 0xff00);
            a.test_immediate32(Rcx, 0xff00_0000);
            a.test(Rax, R8);
            a.xchg(R8, Rcx);
            a.push(Rbx);
            a.push(R12);
            a.pop(R13);
            a.pop(Rbp);
            a.prefetchnta(Mem::new(R8, 64));
            a.prefetcht0(Mem::new(Rax, 0));
            a.prefetchw(Mem::new(R13, 128));
            a.ret();
        },
        "mov rax, r8
         mov r8d, eax
         mov ecx, [rdi+4]
         mov [rsp+8], r15
         mov [r9], edx
         mov r9, 123456789ABCDEF0h
         lea rax, [r8-1]
         lea r8d, [rax+1]
         test r9, 0FF00h
         test ecx, 0FF000000h
         test rax, r8
         xchg r8, rcx
         push rbx
         push r12
         pop r13
         pop rbp
         prefetchnta [r8+40h]
         prefetcht0 [rax]
         prefetchw [r13+80h]
         ret",
    );
}

#[test]
fn sse() {
    assert_listing(
        |a| {
            a.addpd(Xmm(0), Xmm(15));
            a.mulpd(Xmm(8), Xmm(1));
            a.subpd(Xmm(3), Mem::new(Rsi, 16));
            a.divpd(Xmm(9), Xmm(10));
            a.sqrtpd(Xmm(4), Xmm(4));
            a.andps(Xmm(1), Xmm(14));
            a.orps(Xmm(12), Mem::new(R12, 0));
            a.xorps(Xmm(2), Xmm(3));
            a.movaps(Xmm(1), Xmm(8));
            a.aesenc(Xmm(0), Xmm(8));
            a.aesdec(Xmm(9), Xmm(7));
            a.cvtdq2pd(Xmm(12), Mem::new(Rax, 8));
            a.shufpd(Xmm(2), Xmm(10), 1);
            a.store_movaps(Mem::new(Rsp, 0), Xmm(13));
            a.ldmxcsr(Mem::new(Rsp, -4));
            a.stmxcsr(Mem::new(R14, 0));
        },
        "addpd xmm0, xmm15
         mulpd xmm8, xmm1
         subpd xmm3, [rsi+10h]
         divpd xmm9, xmm10
         sqrtpd xmm4, xmm4
         andps xmm1, xmm14
         orps xmm12, [r12]
         xorps xmm2, xmm3
         movaps xmm1, xmm8
         aesenc xmm0, xmm8
         aesdec xmm9, xmm7
         cvtdq2pd xmm12, [rax+8]
         shufpd xmm2, xmm10, 1
         movaps [rsp], xmm13
         ldmxcsr [rsp-4]
         stmxcsr [r14]",
    );
}
