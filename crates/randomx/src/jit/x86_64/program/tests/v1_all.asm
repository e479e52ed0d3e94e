lea r13, [r13+r12*2-7EDCBA99h]
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
add r13, [rsi+rax]
sub r13, r12
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
sub r13, [rsi+rax]
imul r13, r12
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
imul r13, [rsi+rax]
mov rdx, r13
mulx r13, rcx, r12
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
mov rdx, r13
mulx r13, rcx, [rsi+rax]
mov rax, r13
imul r12
mov r13, rdx
lea ecx, [r12-7EDCBA99h]
and ecx, 3FF8h
mov rax, r13
imul qword ptr [rsi+rcx]
mov r13, rdx
mov rax, 0FDBE971F818AE707h
imul r13, rax
neg r13
xor r13, r12
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
xor r13, [rsi+rax]
mov ecx, r12d
ror r13, cl
mov ecx, r12d
rol r13, cl
xchg r13, r12
shufpd xmm5, xmm5, 1
addpd xmm1, xmm8
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
cvtdq2pd xmm12, [rsi+rax]
addpd xmm1, xmm12
subpd xmm1, xmm8
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
cvtdq2pd xmm12, [rsi+rax]
subpd xmm1, xmm12
xorps xmm1, xmm15
mulpd xmm5, xmm8
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
cvtdq2pd xmm12, [rsi+rax]
vpternlogq xmm12, xmm13, xmm14, 0EAh
divpd xmm5, xmm12
sqrtpd xmm5, xmm5
add r13, 0FFFFFFFF81234567h
test r13d, 0FF00h
je short 00000000000000BBh
rorx rax, r12, 1Ah
and eax, 6000h
or eax, 9FC0h
mov [rdi+12Ch], eax
ldmxcsr [rdi+12Ch]
lea eax, [r13-7EDCBA99h]
and eax, 3FF8h
mov [rsi+rax], r12
lea r13, [r13+r13*2-7EDCBA99h]
add r13, [rsi+34560h]
sub r13, 0FFFFFFFF81234567h
sub r13, [rsi+34560h]
imul r13, 0FFFFFFFF81234567h
imul r13, [rsi+34560h]
mov rdx, r13
mulx r13, rcx, r13
mov rdx, r13
mulx r13, rcx, [rsi+34560h]
mov rax, r13
imul r13
mov r13, rdx
mov rax, r13
imul qword ptr [rsi+34560h]
mov r13, rdx
mov rax, 0FDBE971F818AE707h
imul r13, rax
neg r13
xor r13, 0FFFFFFFF81234567h
xor r13, [rsi+34560h]
rorx r13, r13, 27h
rorx r13, r13, 19h
shufpd xmm5, xmm5, 1
addpd xmm1, xmm9
lea eax, [r13-7EDCBA99h]
and eax, 3FF8h
cvtdq2pd xmm12, [rsi+rax]
addpd xmm1, xmm12
subpd xmm1, xmm9
lea eax, [r13-7EDCBA99h]
and eax, 3FF8h
cvtdq2pd xmm12, [rsi+rax]
subpd xmm1, xmm12
xorps xmm1, xmm15
mulpd xmm5, xmm9
lea eax, [r13-7EDCBA99h]
and eax, 3FF8h
cvtdq2pd xmm12, [rsi+rax]
vpternlogq xmm12, xmm13, xmm14, 0EAh
divpd xmm5, xmm12
sqrtpd xmm5, xmm5
add r13, 0FFFFFFFF81234567h
test r13d, 0FF00h
je short 00000000000001EAh
rorx rax, r13, 1Ah
and eax, 6000h
or eax, 9FC0h
mov [rdi+12Ch], eax
ldmxcsr [rdi+12Ch]
lea eax, [r13-7EDCBA99h]
and eax, 3FF8h
mov [rsi+rax], r13
