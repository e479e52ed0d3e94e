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
mov rax, r13
mul r12
mov r13, rdx
lea eax, [r12-7EDCBA99h]
and eax, 3FF8h
mov rax, [rsi+rax]
mul r13
mov r13, rdx
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
andps xmm12, xmm13
orps xmm12, xmm14
divpd xmm5, xmm12
sqrtpd xmm5, xmm5
add r13, 0FFFFFFFF81234567h
test r13d, 0FF00h
je short 00000000000000BDh
mov rax, r12
ror rax, 1Ah
test eax, 78000h
jne 0000000000000168h
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
mov rax, r13
mul r13
mov r13, rdx
mov rax, [rsi+34560h]
mul r13
mov r13, rdx
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
ror r13, 27h
ror r13, 19h
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
andps xmm12, xmm13
orps xmm12, xmm14
divpd xmm5, xmm12
sqrtpd xmm5, xmm5
add r13, 0FFFFFFFF81234567h
test r13d, 0FF00h
je short 00000000000001F8h
mov rax, r13
ror rax, 1Ah
test eax, 78000h
jne 00000000000002A0h
and eax, 6000h
or eax, 9FC0h
mov [rdi+12Ch], eax
ldmxcsr [rdi+12Ch]
lea eax, [r13-7EDCBA99h]
and eax, 3FF8h
mov [rsi+rax], r13
