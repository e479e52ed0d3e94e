(module
  (type (;0;) (func))
  (func (;0;) (type 0)
    (local v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128)
    v128.const i32x4 0x06050403 0x02010007 0x0e0d0c0b 0x0a09080f
    local.set 12
    v128.const i32x4 0x05040302 0x01000706 0x0d0c0b0a 0x09080f0e
    local.set 13
    local.get 0
    local.get 1
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 10
    local.get 2
    local.get 3
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 11
    local.get 10
    local.get 11
    i64x2.extmul_low_i32x4_u
    local.set 8
    local.get 10
    local.get 11
    i64x2.extmul_high_i32x4_u
    local.set 9
    local.get 0
    local.get 2
    i64x2.add
    local.get 8
    local.get 8
    i64x2.add
    i64x2.add
    local.set 0
    local.get 1
    local.get 3
    i64x2.add
    local.get 9
    local.get 9
    i64x2.add
    i64x2.add
    local.set 1
    local.get 6
    local.get 0
    v128.xor
    local.tee 8
    local.get 8
    i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11
    local.set 6
    local.get 7
    local.get 1
    v128.xor
    local.tee 8
    local.get 8
    i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11
    local.set 7
    local.get 4
    local.get 5
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 10
    local.get 6
    local.get 7
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 11
    local.get 10
    local.get 11
    i64x2.extmul_low_i32x4_u
    local.set 8
    local.get 10
    local.get 11
    i64x2.extmul_high_i32x4_u
    local.set 9
    local.get 4
    local.get 6
    i64x2.add
    local.get 8
    local.get 8
    i64x2.add
    i64x2.add
    local.set 4
    local.get 5
    local.get 7
    i64x2.add
    local.get 9
    local.get 9
    i64x2.add
    i64x2.add
    local.set 5
    local.get 2
    local.get 4
    v128.xor
    local.get 12
    i8x16.swizzle
    local.set 2
    local.get 3
    local.get 5
    v128.xor
    local.get 12
    i8x16.swizzle
    local.set 3
    local.get 0
    local.get 1
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 10
    local.get 2
    local.get 3
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 11
    local.get 10
    local.get 11
    i64x2.extmul_low_i32x4_u
    local.set 8
    local.get 10
    local.get 11
    i64x2.extmul_high_i32x4_u
    local.set 9
    local.get 0
    local.get 2
    i64x2.add
    local.get 8
    local.get 8
    i64x2.add
    i64x2.add
    local.set 0
    local.get 1
    local.get 3
    i64x2.add
    local.get 9
    local.get 9
    i64x2.add
    i64x2.add
    local.set 1
    local.get 6
    local.get 0
    v128.xor
    local.get 13
    i8x16.swizzle
    local.set 6
    local.get 7
    local.get 1
    v128.xor
    local.get 13
    i8x16.swizzle
    local.set 7
    local.get 4
    local.get 5
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 10
    local.get 6
    local.get 7
    i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
    local.set 11
    local.get 10
    local.get 11
    i64x2.extmul_low_i32x4_u
    local.set 8
    local.get 10
    local.get 11
    i64x2.extmul_high_i32x4_u
    local.set 9
    local.get 4
    local.get 6
    i64x2.add
    local.get 8
    local.get 8
    i64x2.add
    i64x2.add
    local.set 4
    local.get 5
    local.get 7
    i64x2.add
    local.get 9
    local.get 9
    i64x2.add
    i64x2.add
    local.set 5
    local.get 2
    local.get 4
    v128.xor
    local.tee 8
    local.get 8
    i64x2.add
    local.get 8
    i32.const 63
    i64x2.shr_u
    v128.or
    local.set 2
    local.get 3
    local.get 5
    v128.xor
    local.tee 8
    local.get 8
    i64x2.add
    local.get 8
    i32.const 63
    i64x2.shr_u
    v128.or
    local.set 3
  )
)
