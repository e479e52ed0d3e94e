//! Instructions of AVX2 and AVX-512.

use super::super::{Broadcast, Gpr::*, Mask, Mem, Scale, Xmm, Ymm, Zmm};
use super::assert_listing;

#[test]
fn the_avx2_encoding_is_used_where_possible() {
    assert_listing(
        |a| {
            a.vpaddq(Xmm(0), Xmm(9), Xmm(15));
            a.vpaddq(Ymm(15), Ymm(1), Mem::new(R9, 32));
            a.vpaddq(Ymm(1), Ymm(16), Ymm(2));
            a.vpaddq(Zmm(31), Zmm(7), Zmm(24));
            a.vpxorq(Ymm(1), Ymm(2), Ymm(3));
            a.vpxorq(Zmm(1), Zmm(2), Zmm(3));
            a.vpandq(Ymm(8), Ymm(2), Ymm(13));
            a.vporq(Ymm(8), Ymm(2), Ymm(13));
            a.vpsubq(Ymm(8), Ymm(2), Ymm(13));
            a.vpmuludq(Ymm(8), Ymm(2), Ymm(13));
            a.vpaddd(Ymm(8), Ymm(2), Ymm(13));
            a.vpaddd(Zmm(8), Zmm(20), Zmm(13));
            a.vpmulld(Ymm(8), Ymm(2), Ymm(13));
            a.vpmulld(Ymm(8), Ymm(2), Mem::new(Rax, 32));
            a.vpmulld(Zmm(8), Zmm(20), Zmm(13));
            a.vpunpcklqdq(Ymm(8), Ymm(2), Ymm(13));
            a.vpunpckhqdq(Zmm(8), Zmm(20), Zmm(13));
            a.vpsrlq(Ymm(8), Ymm(12), 32);
            a.vpsllq(Zmm(17), Zmm(2), 3);
            a.vpshufd(Ymm(3), Ymm(14), 0xf5);
            a.vpshufd(Zmm(3), Zmm(14), 0xf5);
            a.vmovdqu64(Ymm(3), Mem::new(Rsi, 0));
            a.vmovdqu64(Zmm(3), Mem::new(Rsi, 64));
            a.store_vmovdqu64(Mem::new(R13, 0), Ymm(9));
            a.store_vmovdqu64(Mem::indexed(R13, R14, Scale::Eight, 128), Zmm(25));
            a.vpblendd(Ymm(8), Ymm(2), Ymm(13), 0xaa);
            a.vblendvpd(Ymm(8), Ymm(2), Ymm(13), Ymm(9));
            a.vpshufb(Ymm(8), Ymm(12), Mem::new(Rax, 32));
            a.vinserti128(Ymm(8), Ymm(2), Mem::new(R13, 16), 1);
            a.vpmovzxdq(Ymm(8), Mem::new(R9, 16));
            a.vperm2i128(Ymm(1), Ymm(9), Ymm(10), 0x31);
            a.vzeroupper();
        },
        "vpaddq xmm0, xmm9, xmm15
         vpaddq ymm15, ymm1, [r9+20h]
         vpaddq ymm1, ymm16, ymm2
         vpaddq zmm31, zmm7, zmm24
         vpxor ymm1, ymm2, ymm3
         vpxorq zmm1, zmm2, zmm3
         vpand ymm8, ymm2, ymm13
         vpor ymm8, ymm2, ymm13
         vpsubq ymm8, ymm2, ymm13
         vpmuludq ymm8, ymm2, ymm13
         vpaddd ymm8, ymm2, ymm13
         vpaddd zmm8, zmm20, zmm13
         vpmulld ymm8, ymm2, ymm13
         vpmulld ymm8, ymm2, [rax+20h]
         vpmulld zmm8, zmm20, zmm13
         vpunpcklqdq ymm8, ymm2, ymm13
         vpunpckhqdq zmm8, zmm20, zmm13
         vpsrlq ymm8, ymm12, 20h
         vpsllq zmm17, zmm2, 3
         vpshufd ymm3, ymm14, 0F5h
         vpshufd zmm3, zmm14, 0F5h
         vmovdqu ymm3, [rsi]
         vmovdqu64 zmm3, [rsi+40h]
         vmovdqu [r13], ymm9
         vmovdqu64 [r13+r14*8+80h], zmm25
         vpblendd ymm8, ymm2, ymm13, 0AAh
         vblendvpd ymm8, ymm2, ymm13, ymm9
         vpshufb ymm8, ymm12, [rax+20h]
         vinserti128 ymm8, ymm2, [r13+10h], 1
         vpmovzxdq ymm8, [r9+10h]
         vperm2i128 ymm1, ymm9, ymm10, 31h
         vzeroupper",
    );
}

#[test]
fn avx512() {
    assert_listing(
        |a| {
            a.vpmullq(Xmm(1), Xmm(2), Xmm(3));
            a.vpmullq(Zmm(16), Zmm(31), Zmm(8));
            a.vpmullq(Zmm(1), Zmm(2), Broadcast(Mem::new(Rax, 8)));
            a.vpaddq(Ymm(1), Ymm(2), Broadcast(Mem::new(R12, 1024)));
            a.vpaddq(Ymm(1), Ymm(2), Broadcast(Mem::new(R12, 4)));
            a.vpmuludq(Zmm(1), Zmm(2), Broadcast(Mem::new(R12, -1024)));
            a.vprorq(Zmm(9), Zmm(10), 63);
            a.vpternlogq(Xmm(1), Xmm(2), Xmm(3), 0x96);
            a.vpternlogq(Zmm(21), Zmm(12), Mem::new(Rsi, 64), 0xd8);
            a.vshufi64x2(Zmm(1), Zmm(2), Zmm(30), 0x88);
            a.vpmadd52luq(Zmm(4), Zmm(5), Zmm(6));
            a.vpmadd52huq(Ymm(4), Ymm(5), Ymm(26));
            a.vpsubq_masked(Zmm(1), Mask(2), Zmm(17), Zmm(3));
            a.vpmovq2m(Mask(3), Zmm(19));
            a.vinserti64x4(Zmm(30), Zmm(14), Mem::new(R9, 32), 1);
            a.vpmovzxdq(Zmm(18), Mem::new(R9, 64));
        },
        "vpmullq xmm1, xmm2, xmm3
         vpmullq zmm16, zmm31, zmm8
         vpmullq zmm1, zmm2, [rax+8]{1to8}
         vpaddq ymm1, ymm2, [r12+400h]{1to4}
         vpaddq ymm1, ymm2, [r12+4]{1to4}
         vpmuludq zmm1, zmm2, [r12-400h]{1to8}
         vprorq zmm9, zmm10, 3Fh
         vpternlogq xmm1, xmm2, xmm3, 96h
         vpternlogq zmm21, zmm12, [rsi+40h], 0D8h
         vshufi64x2 zmm1, zmm2, zmm30, 88h
         vpmadd52luq zmm4, zmm5, zmm6
         vpmadd52huq ymm4, ymm5, ymm26
         vpsubq zmm1{k2}, zmm17, zmm3
         vpmovq2m k3, zmm19
         vinserti64x4 zmm30, zmm14, [r9+20h], 1
         vpmovzxdq zmm18, [r9+40h]",
    );
}
