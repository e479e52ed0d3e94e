rorx rax, r12, 1Ah
and eax, 6000h
or eax, 9FC0h
mov [rdi+12Ch], eax
shl rax, 32h
jb 0000000000000040h
js 0000000000000034h
ldmxcsr [rip-3Fh]
jmp 0000000000000059h
ldmxcsr [rip-47h]
jmp 0000000000000059h
js 0000000000000052h
ldmxcsr [rip-55h]
jmp 0000000000000059h
ldmxcsr [rip-5Dh]
