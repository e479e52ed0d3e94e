(module
  (type (;0;) (func (param i32 i32)))
  (type (;1;) (func (param i32 i32)))
  (type (;2;) (func (param i32 i32)))
  (type (;3;) (func (param i32 i32)))
  (type (;4;) (func (param i32 i32)))
  (import "randomx" "memory" (memory (;0;) 1))
  (global (;0;) (mut i32) i32.const -1)
  (global (;1;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;2;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;3;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;4;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;5;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;6;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;7;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;8;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;9;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (global (;10;) (mut v128) v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000)
  (export "run" (func 4))
  (func (;0;) (type 0) (param i32 i32)
    (local i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i32 i32 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128)
    local.get 0
    v128.load offset=192
    local.set 26
    local.get 0
    v128.load offset=208
    local.set 27
    local.get 0
    v128.load offset=224
    local.set 28
    local.get 0
    v128.load offset=240
    local.set 29
    local.get 0
    i32.load offset=272
    global.set 0
    global.get 0
    i32.const 0
    i32.eq
    i64.extend_i32_u
    i64.const 9218868437227405312
    i64.mul
    i64.const 0
    i64.add
    i64x2.splat
    local.set 35
    global.get 0
    i32.const 1
    i32.eq
    i64.extend_i32_u
    i64.const -9223372036854775808
    i64.mul
    i64.const 0
    i64.add
    i64x2.splat
    local.set 36
    global.get 0
    i32.const 2
    i32.eq
    i64.extend_i32_u
    i64.const -9223372036854775808
    i64.mul
    i64.const 0
    i64.add
    i64x2.splat
    local.set 37
    global.get 0
    i32.const 3
    i32.eq
    i64.extend_i32_u
    i64.const -9223372036854775808
    i64.mul
    i64.const 0
    i64.add
    i64x2.splat
    local.set 38
    global.get 0
    i32.const 3
    i32.eq
    i64.extend_i32_u
    i64.const -2
    i64.mul
    i64.const 1
    i64.add
    i64x2.splat
    local.set 39
    global.get 0
    i32.const 2
    i32.eq
    i64.extend_i32_u
    i64.const 2
    i64.mul
    i64.const -1
    i64.add
    i64x2.splat
    local.set 40
    local.get 26
    local.get 36
    v128.xor
    local.set 41
    local.get 27
    local.get 36
    v128.xor
    local.set 42
    local.get 28
    local.get 36
    v128.xor
    local.set 43
    local.get 29
    local.get 36
    v128.xor
    local.set 44
    local.get 35
    global.set 1
    local.get 36
    global.set 2
    local.get 37
    global.set 3
    local.get 38
    global.set 4
    local.get 39
    global.set 5
    local.get 40
    global.set 6
    local.get 41
    global.set 7
    local.get 42
    global.set 8
    local.get 43
    global.set 9
    local.get 44
    global.set 10
  )
  (func (;1;) (type 1) (param i32 i32)
    (local i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i32 i32 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128)
    local.get 0
    v128.load offset=192
    local.set 26
    local.get 0
    v128.load offset=208
    local.set 27
    local.get 0
    v128.load offset=224
    local.set 28
    local.get 0
    v128.load offset=240
    local.set 29
    local.get 0
    v128.load offset=256
    local.set 30
    v128.const i32x4 0xffffffff 0x00ffffff 0xffffffff 0x00ffffff
    local.set 31
    local.get 0
    i64.load
    local.get 0
    i64.load offset=24
    i64.xor
    local.set 10
    local.get 0
    local.get 0
    i32.load offset=276
    local.get 10
    i32.wrap_i64
    i32.xor
    local.tee 16
    i32.store offset=276
    local.get 16
    i32.const 2097088
    i32.and
    local.get 1
    i32.add
    local.set 16
    local.get 0
    local.get 0
    i32.load offset=280
    local.get 10
    i64.const 32
    i64.shr_u
    i32.wrap_i64
    i32.xor
    local.tee 17
    i32.store offset=280
    local.get 17
    i32.const 2097088
    i32.and
    local.get 1
    i32.add
    local.set 17
    local.get 0
    i64.load
    local.get 16
    i64.load
    i64.xor
    local.set 2
    local.get 0
    i64.load offset=8
    local.get 16
    i64.load offset=8
    i64.xor
    local.set 3
    local.get 0
    i64.load offset=16
    local.get 16
    i64.load offset=16
    i64.xor
    local.set 4
    local.get 0
    i64.load offset=24
    local.get 16
    i64.load offset=24
    i64.xor
    local.set 5
    local.get 0
    i64.load offset=32
    local.get 16
    i64.load offset=32
    i64.xor
    local.set 6
    local.get 0
    i64.load offset=40
    local.get 16
    i64.load offset=40
    i64.xor
    local.set 7
    local.get 0
    i64.load offset=48
    local.get 16
    i64.load offset=48
    i64.xor
    local.set 8
    local.get 0
    i64.load offset=56
    local.get 16
    i64.load offset=56
    i64.xor
    local.set 9
    local.get 17
    v128.load64_zero
    f64x2.convert_low_i32x4_s
    local.set 18
    local.get 17
    v128.load64_zero offset=32
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 22
    local.get 17
    v128.load64_zero offset=8
    f64x2.convert_low_i32x4_s
    local.set 19
    local.get 17
    v128.load64_zero offset=40
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 23
    local.get 17
    v128.load64_zero offset=16
    f64x2.convert_low_i32x4_s
    local.set 20
    local.get 17
    v128.load64_zero offset=48
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 24
    local.get 17
    v128.load64_zero offset=24
    f64x2.convert_low_i32x4_s
    local.set 21
    local.get 17
    v128.load64_zero offset=56
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 25
    global.get 1
    local.set 35
    global.get 2
    local.set 36
    global.get 3
    local.set 37
    global.get 4
    local.set 38
    global.get 5
    local.set 39
    global.get 6
    local.set 40
    global.get 7
    local.set 41
    global.get 8
    local.set 42
    global.get 9
    local.set 43
    global.get 10
    local.set 44
    local.get 18
    local.get 36
    v128.xor
    local.set 18
    local.get 19
    local.get 36
    v128.xor
    local.set 19
    local.get 20
    local.get 36
    v128.xor
    local.set 20
    local.get 21
    local.get 36
    v128.xor
    local.set 21
    local.get 22
    local.get 37
    v128.xor
    local.set 22
    local.get 23
    local.get 37
    v128.xor
    local.set 23
    local.get 24
    local.get 37
    v128.xor
    local.set 24
    local.get 25
    local.get 37
    v128.xor
    local.set 25
    local.get 7
    local.get 6
    i64.const 1
    i64.shl
    i64.add
    i64.const -2128394905
    i64.add
    local.set 7
    local.get 7
    local.get 7
    i64.const 1
    i64.shl
    i64.add
    i64.const -2128394905
    i64.add
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.add
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.add
    local.set 7
    local.get 7
    local.get 6
    i64.sub
    local.set 7
    local.get 7
    i64.const -2128394905
    i64.sub
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.sub
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.sub
    local.set 7
    local.get 7
    local.get 6
    i64.mul
    local.set 7
    local.get 7
    i64.const -2128394905
    i64.mul
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.mul
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.mul
    local.set 7
    local.get 7
    local.get 6
    i64.mul_wide_u
    local.set 7
    drop
    local.get 7
    local.get 7
    i64.mul_wide_u
    local.set 7
    drop
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_u
    local.set 7
    drop
    local.get 1
    i64.load offset=214368
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_u
    local.set 7
    drop
    local.get 7
    local.get 6
    i64.mul_wide_s
    local.set 7
    drop
    local.get 7
    local.get 7
    i64.mul_wide_s
    local.set 7
    drop
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_s
    local.set 7
    drop
    local.get 1
    i64.load offset=214368
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_s
    local.set 7
    drop
    local.get 7
    i64.const -162526374965614841
    i64.mul
    local.set 7
    local.get 7
    i64.const -162526374965614841
    i64.mul
    local.set 7
    i64.const 0
    local.get 7
    i64.sub
    local.set 7
    i64.const 0
    local.get 7
    i64.sub
    local.set 7
    local.get 7
    local.get 6
    i64.xor
    local.set 7
    local.get 7
    i64.const -2128394905
    i64.xor
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.xor
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.xor
    local.set 7
    local.get 7
    local.get 6
    i64.shr_u
    local.get 7
    i64.const 0
    local.get 6
    i64.sub
    i64.shl
    i64.or
    local.set 7
    local.get 7
    i64.const 39
    i64.shr_u
    local.get 7
    i64.const 25
    i64.shl
    i64.or
    local.set 7
    local.get 7
    local.get 6
    i64.shl
    local.get 7
    i64.const 0
    local.get 6
    i64.sub
    i64.shr_u
    i64.or
    local.set 7
    local.get 7
    i64.const 25
    i64.shr_u
    local.get 7
    i64.const 39
    i64.shl
    i64.or
    local.set 7
    local.get 7
    local.get 6
    local.set 7
    local.set 6
    loop ;; label = @1
      local.get 23
      local.get 23
      i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
      local.set 23
      local.get 23
      local.get 23
      i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
      local.set 23
      local.get 19
      local.get 41
      f64x2.add
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 41
      local.get 34
      f64x2.sub
      f64x2.add
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 19
      local.get 42
      f64x2.add
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 42
      local.get 34
      f64x2.sub
      f64x2.add
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 6
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 36
      v128.xor
      local.set 32
      local.get 19
      local.get 32
      f64x2.add
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 32
      local.get 34
      f64x2.sub
      f64x2.add
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 7
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 36
      v128.xor
      local.set 32
      local.get 19
      local.get 32
      f64x2.add
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 32
      local.get 34
      f64x2.sub
      f64x2.add
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 19
      local.get 41
      f64x2.sub
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 41
      local.get 34
      f64x2.add
      f64x2.sub
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 19
      local.get 42
      f64x2.sub
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 42
      local.get 34
      f64x2.add
      f64x2.sub
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 6
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 36
      v128.xor
      local.set 32
      local.get 19
      local.get 32
      f64x2.sub
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 32
      local.get 34
      f64x2.add
      f64x2.sub
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 7
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 36
      v128.xor
      local.set 32
      local.get 19
      local.get 32
      f64x2.sub
      local.tee 33
      local.get 19
      f64x2.sub
      local.set 34
      local.get 19
      local.get 33
      local.get 34
      f64x2.sub
      f64x2.sub
      local.get 32
      local.get 34
      f64x2.add
      f64x2.sub
      local.get 38
      local.get 33
      v128.andnot
      v128.xor
      local.get 35
      f64x2.gt
      local.get 33
      v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000
      i64x2.lt_s
      local.get 39
      v128.or
      v128.and
      local.get 33
      i64x2.add
      local.set 19
      local.get 19
      v128.const i32x4 0x00000000 0x80f00000 0x00000000 0x80f00000
      v128.xor
      local.set 19
      local.get 19
      v128.const i32x4 0x00000000 0x80f00000 0x00000000 0x80f00000
      v128.xor
      local.set 19
      local.get 23
      local.get 26
      f64x2.mul
      local.tee 33
      local.get 23
      local.get 26
      local.get 33
      f64x2.relaxed_nmadd
      local.get 35
      f64x2.gt
      local.get 40
      v128.and
      i64x2.add
      local.set 23
      local.get 23
      local.get 27
      f64x2.mul
      local.tee 33
      local.get 23
      local.get 27
      local.get 33
      f64x2.relaxed_nmadd
      local.get 35
      f64x2.gt
      local.get 40
      v128.and
      i64x2.add
      local.set 23
      local.get 6
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 31
      v128.and
      local.get 30
      v128.or
      local.set 32
      local.get 23
      local.get 32
      f64x2.div
      local.tee 33
      local.get 33
      local.get 32
      local.get 23
      f64x2.neg
      f64x2.relaxed_madd
      local.get 35
      f64x2.gt
      local.get 40
      v128.and
      i64x2.add
      local.set 23
      local.get 7
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 31
      v128.and
      local.get 30
      v128.or
      local.set 32
      local.get 23
      local.get 32
      f64x2.div
      local.tee 33
      local.get 33
      local.get 32
      local.get 23
      f64x2.neg
      f64x2.relaxed_madd
      local.get 35
      f64x2.gt
      local.get 40
      v128.and
      i64x2.add
      local.set 23
      local.get 23
      local.get 37
      v128.xor
      f64x2.sqrt
      local.tee 32
      local.get 37
      v128.xor
      local.tee 33
      local.get 33
      local.get 32
      local.get 23
      f64x2.neg
      f64x2.relaxed_madd
      local.get 35
      f64x2.gt
      local.get 40
      v128.and
      i64x2.add
      local.set 23
      local.get 23
      local.get 37
      v128.xor
      f64x2.sqrt
      local.tee 32
      local.get 37
      v128.xor
      local.tee 33
      local.get 33
      local.get 32
      local.get 23
      f64x2.neg
      f64x2.relaxed_madd
      local.get 35
      f64x2.gt
      local.get 40
      v128.and
      i64x2.add
      local.set 23
      local.get 7
      i64.const -2128394905
      i64.add
      local.tee 7
      i32.wrap_i64
      i32.const 65280
      i32.and
      i32.eqz
      br_if 0 (;@1;)
    end
    local.get 0
    local.get 2
    i64.store
    local.get 0
    local.get 3
    i64.store offset=8
    local.get 0
    local.get 4
    i64.store offset=16
    local.get 0
    local.get 5
    i64.store offset=24
    local.get 0
    local.get 6
    i64.store offset=32
    local.get 0
    local.get 7
    i64.store offset=40
    local.get 0
    local.get 8
    i64.store offset=48
    local.get 0
    local.get 9
    i64.store offset=56
    local.get 0
    local.get 18
    v128.store offset=64
    local.get 0
    local.get 22
    v128.store offset=128
    local.get 0
    local.get 19
    v128.store offset=80
    local.get 0
    local.get 23
    v128.store offset=144
    local.get 0
    local.get 20
    v128.store offset=96
    local.get 0
    local.get 24
    v128.store offset=160
    local.get 0
    local.get 21
    v128.store offset=112
    local.get 0
    local.get 25
    v128.store offset=176
  )
  (func (;2;) (type 2) (param i32 i32)
    (local i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i32 i32 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128)
    local.get 0
    v128.load offset=192
    local.set 26
    local.get 0
    v128.load offset=208
    local.set 27
    local.get 0
    v128.load offset=224
    local.set 28
    local.get 0
    v128.load offset=240
    local.set 29
    local.get 0
    v128.load offset=256
    local.set 30
    v128.const i32x4 0xffffffff 0x00ffffff 0xffffffff 0x00ffffff
    local.set 31
    local.get 0
    i64.load
    local.get 0
    i64.load offset=24
    i64.xor
    local.set 10
    local.get 0
    local.get 0
    i32.load offset=276
    local.get 10
    i32.wrap_i64
    i32.xor
    local.tee 16
    i32.store offset=276
    local.get 16
    i32.const 2097088
    i32.and
    local.get 1
    i32.add
    local.set 16
    local.get 0
    local.get 0
    i32.load offset=280
    local.get 10
    i64.const 32
    i64.shr_u
    i32.wrap_i64
    i32.xor
    local.tee 17
    i32.store offset=280
    local.get 17
    i32.const 2097088
    i32.and
    local.get 1
    i32.add
    local.set 17
    local.get 0
    i64.load
    local.get 16
    i64.load
    i64.xor
    local.set 2
    local.get 0
    i64.load offset=8
    local.get 16
    i64.load offset=8
    i64.xor
    local.set 3
    local.get 0
    i64.load offset=16
    local.get 16
    i64.load offset=16
    i64.xor
    local.set 4
    local.get 0
    i64.load offset=24
    local.get 16
    i64.load offset=24
    i64.xor
    local.set 5
    local.get 0
    i64.load offset=32
    local.get 16
    i64.load offset=32
    i64.xor
    local.set 6
    local.get 0
    i64.load offset=40
    local.get 16
    i64.load offset=40
    i64.xor
    local.set 7
    local.get 0
    i64.load offset=48
    local.get 16
    i64.load offset=48
    i64.xor
    local.set 8
    local.get 0
    i64.load offset=56
    local.get 16
    i64.load offset=56
    i64.xor
    local.set 9
    local.get 17
    v128.load64_zero
    f64x2.convert_low_i32x4_s
    local.set 18
    local.get 17
    v128.load64_zero offset=32
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 22
    local.get 17
    v128.load64_zero offset=8
    f64x2.convert_low_i32x4_s
    local.set 19
    local.get 17
    v128.load64_zero offset=40
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 23
    local.get 17
    v128.load64_zero offset=16
    f64x2.convert_low_i32x4_s
    local.set 20
    local.get 17
    v128.load64_zero offset=48
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 24
    local.get 17
    v128.load64_zero offset=24
    f64x2.convert_low_i32x4_s
    local.set 21
    local.get 17
    v128.load64_zero offset=56
    f64x2.convert_low_i32x4_s
    local.get 31
    v128.and
    local.get 30
    v128.or
    local.set 25
    local.get 7
    local.get 6
    i64.const 1
    i64.shl
    i64.add
    i64.const -2128394905
    i64.add
    local.set 7
    local.get 7
    local.get 7
    i64.const 1
    i64.shl
    i64.add
    i64.const -2128394905
    i64.add
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.add
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.add
    local.set 7
    local.get 7
    local.get 6
    i64.sub
    local.set 7
    local.get 7
    i64.const -2128394905
    i64.sub
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.sub
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.sub
    local.set 7
    local.get 7
    local.get 6
    i64.mul
    local.set 7
    local.get 7
    i64.const -2128394905
    i64.mul
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.mul
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.mul
    local.set 7
    local.get 7
    local.get 6
    i64.mul_wide_u
    local.set 7
    drop
    local.get 7
    local.get 7
    i64.mul_wide_u
    local.set 7
    drop
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_u
    local.set 7
    drop
    local.get 1
    i64.load offset=214368
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_u
    local.set 7
    drop
    local.get 7
    local.get 6
    i64.mul_wide_s
    local.set 7
    drop
    local.get 7
    local.get 7
    i64.mul_wide_s
    local.set 7
    drop
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_s
    local.set 7
    drop
    local.get 1
    i64.load offset=214368
    local.set 11
    local.get 7
    local.get 11
    i64.mul_wide_s
    local.set 7
    drop
    local.get 7
    i64.const -162526374965614841
    i64.mul
    local.set 7
    local.get 7
    i64.const -162526374965614841
    i64.mul
    local.set 7
    i64.const 0
    local.get 7
    i64.sub
    local.set 7
    i64.const 0
    local.get 7
    i64.sub
    local.set 7
    local.get 7
    local.get 6
    i64.xor
    local.set 7
    local.get 7
    i64.const -2128394905
    i64.xor
    local.set 7
    local.get 7
    local.get 6
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    i64.load
    i64.xor
    local.set 7
    local.get 7
    local.get 1
    i64.load offset=214368
    i64.xor
    local.set 7
    local.get 7
    local.get 6
    i64.shr_u
    local.get 7
    i64.const 0
    local.get 6
    i64.sub
    i64.shl
    i64.or
    local.set 7
    local.get 7
    i64.const 39
    i64.shr_u
    local.get 7
    i64.const 25
    i64.shl
    i64.or
    local.set 7
    local.get 7
    local.get 6
    i64.shl
    local.get 7
    i64.const 0
    local.get 6
    i64.sub
    i64.shr_u
    i64.or
    local.set 7
    local.get 7
    i64.const 25
    i64.shr_u
    local.get 7
    i64.const 39
    i64.shl
    i64.or
    local.set 7
    local.get 7
    local.get 6
    local.set 7
    local.set 6
    loop ;; label = @1
      local.get 23
      local.get 23
      i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
      local.set 23
      local.get 23
      local.get 23
      i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
      local.set 23
      local.get 19
      local.get 26
      f64x2.add
      local.set 19
      local.get 19
      local.get 27
      f64x2.add
      local.set 19
      local.get 6
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.set 32
      local.get 19
      local.get 32
      f64x2.add
      local.set 19
      local.get 7
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.set 32
      local.get 19
      local.get 32
      f64x2.add
      local.set 19
      local.get 19
      local.get 26
      f64x2.sub
      local.set 19
      local.get 19
      local.get 27
      f64x2.sub
      local.set 19
      local.get 6
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.set 32
      local.get 19
      local.get 32
      f64x2.sub
      local.set 19
      local.get 7
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.set 32
      local.get 19
      local.get 32
      f64x2.sub
      local.set 19
      local.get 19
      v128.const i32x4 0x00000000 0x80f00000 0x00000000 0x80f00000
      v128.xor
      local.set 19
      local.get 19
      v128.const i32x4 0x00000000 0x80f00000 0x00000000 0x80f00000
      v128.xor
      local.set 19
      local.get 23
      local.get 26
      f64x2.mul
      local.set 23
      local.get 23
      local.get 27
      f64x2.mul
      local.set 23
      local.get 6
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 31
      v128.and
      local.get 30
      v128.or
      local.set 32
      local.get 23
      local.get 32
      f64x2.div
      local.set 23
      local.get 7
      i32.wrap_i64
      i32.const 1383
      i32.add
      i32.const 16376
      i32.and
      local.get 1
      i32.add
      v128.load64_zero
      f64x2.convert_low_i32x4_s
      local.get 31
      v128.and
      local.get 30
      v128.or
      local.set 32
      local.get 23
      local.get 32
      f64x2.div
      local.set 23
      local.get 23
      f64x2.sqrt
      local.set 23
      local.get 23
      f64x2.sqrt
      local.set 23
      local.get 7
      i64.const -2128394905
      i64.add
      local.tee 7
      i32.wrap_i64
      i32.const 65280
      i32.and
      i32.eqz
      br_if 0 (;@1;)
    end
    local.get 0
    local.get 2
    i64.store
    local.get 0
    local.get 3
    i64.store offset=8
    local.get 0
    local.get 4
    i64.store offset=16
    local.get 0
    local.get 5
    i64.store offset=24
    local.get 0
    local.get 6
    i64.store offset=32
    local.get 0
    local.get 7
    i64.store offset=40
    local.get 0
    local.get 8
    i64.store offset=48
    local.get 0
    local.get 9
    i64.store offset=56
    local.get 0
    local.get 18
    v128.store offset=64
    local.get 0
    local.get 22
    v128.store offset=128
    local.get 0
    local.get 19
    v128.store offset=80
    local.get 0
    local.get 23
    v128.store offset=144
    local.get 0
    local.get 20
    v128.store offset=96
    local.get 0
    local.get 24
    v128.store offset=160
    local.get 0
    local.get 21
    v128.store offset=112
    local.get 0
    local.get 25
    v128.store offset=176
  )
  (func (;3;) (type 3) (param i32 i32)
    (local i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i32 i32 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128)
    local.get 0
    v128.load offset=192
    local.set 26
    local.get 0
    v128.load offset=208
    local.set 27
    local.get 0
    v128.load offset=224
    local.set 28
    local.get 0
    v128.load offset=240
    local.set 29
    local.get 0
    v128.load offset=256
    local.set 30
    v128.const i32x4 0xffffffff 0x00ffffff 0xffffffff 0x00ffffff
    local.set 31
    local.get 0
    i64.load
    local.set 2
    local.get 0
    i64.load offset=8
    local.set 3
    local.get 0
    i64.load offset=16
    local.set 4
    local.get 0
    i64.load offset=24
    local.set 5
    local.get 0
    i64.load offset=32
    local.set 6
    local.get 0
    i64.load offset=40
    local.set 7
    local.get 0
    i64.load offset=48
    local.set 8
    local.get 0
    i64.load offset=56
    local.set 9
    local.get 0
    v128.load offset=64
    local.set 18
    local.get 0
    v128.load offset=80
    local.set 19
    local.get 0
    v128.load offset=96
    local.set 20
    local.get 0
    v128.load offset=112
    local.set 21
    local.get 0
    v128.load offset=128
    local.set 22
    local.get 0
    v128.load offset=144
    local.set 23
    local.get 0
    v128.load offset=160
    local.set 24
    local.get 0
    v128.load offset=176
    local.set 25
    global.get 1
    local.set 35
    global.get 2
    local.set 36
    global.get 3
    local.set 37
    global.get 4
    local.set 38
    global.get 5
    local.set 39
    global.get 6
    local.set 40
    global.get 7
    local.set 41
    global.get 8
    local.set 42
    global.get 9
    local.set 43
    global.get 10
    local.set 44
    loop ;; label = @1
      local.get 7
      i64.const -2128394905
      i64.add
      local.tee 7
      i32.wrap_i64
      i32.const 65280
      i32.and
      i32.eqz
      br_if 0 (;@1;)
    end
    block ;; label = @1
      local.get 6
      i64.const 39
      i64.shr_u
      local.get 6
      i64.const 25
      i64.shl
      i64.or
      local.set 10
      local.get 10
      i32.wrap_i64
      i32.const 60
      i32.and
      br_if 0 (;@1;)
      local.get 0
      local.get 10
      i32.wrap_i64
      i32.const 3
      i32.and
      i32.store offset=272
      local.get 0
      i32.load offset=272
      global.get 0
      i32.eq
      br_if 0 (;@1;)
      local.get 18
      local.get 36
      v128.xor
      local.set 18
      local.get 19
      local.get 36
      v128.xor
      local.set 19
      local.get 20
      local.get 36
      v128.xor
      local.set 20
      local.get 21
      local.get 36
      v128.xor
      local.set 21
      local.get 22
      local.get 37
      v128.xor
      local.set 22
      local.get 23
      local.get 37
      v128.xor
      local.set 23
      local.get 24
      local.get 37
      v128.xor
      local.set 24
      local.get 25
      local.get 37
      v128.xor
      local.set 25
      local.get 0
      local.get 1
      call 0
      global.get 1
      local.set 35
      global.get 2
      local.set 36
      global.get 3
      local.set 37
      global.get 4
      local.set 38
      global.get 5
      local.set 39
      global.get 6
      local.set 40
      global.get 7
      local.set 41
      global.get 8
      local.set 42
      global.get 9
      local.set 43
      global.get 10
      local.set 44
      local.get 18
      local.get 36
      v128.xor
      local.set 18
      local.get 19
      local.get 36
      v128.xor
      local.set 19
      local.get 20
      local.get 36
      v128.xor
      local.set 20
      local.get 21
      local.get 36
      v128.xor
      local.set 21
      local.get 22
      local.get 37
      v128.xor
      local.set 22
      local.get 23
      local.get 37
      v128.xor
      local.set 23
      local.get 24
      local.get 37
      v128.xor
      local.set 24
      local.get 25
      local.get 37
      v128.xor
      local.set 25
    end
    block ;; label = @1
      local.get 7
      i64.const 39
      i64.shr_u
      local.get 7
      i64.const 25
      i64.shl
      i64.or
      local.set 10
      local.get 10
      i32.wrap_i64
      i32.const 60
      i32.and
      br_if 0 (;@1;)
      local.get 0
      local.get 10
      i32.wrap_i64
      i32.const 3
      i32.and
      i32.store offset=272
      local.get 0
      i32.load offset=272
      global.get 0
      i32.eq
      br_if 0 (;@1;)
      local.get 18
      local.get 36
      v128.xor
      local.set 18
      local.get 19
      local.get 36
      v128.xor
      local.set 19
      local.get 20
      local.get 36
      v128.xor
      local.set 20
      local.get 21
      local.get 36
      v128.xor
      local.set 21
      local.get 22
      local.get 37
      v128.xor
      local.set 22
      local.get 23
      local.get 37
      v128.xor
      local.set 23
      local.get 24
      local.get 37
      v128.xor
      local.set 24
      local.get 25
      local.get 37
      v128.xor
      local.set 25
      local.get 0
      local.get 1
      call 0
      global.get 1
      local.set 35
      global.get 2
      local.set 36
      global.get 3
      local.set 37
      global.get 4
      local.set 38
      global.get 5
      local.set 39
      global.get 6
      local.set 40
      global.get 7
      local.set 41
      global.get 8
      local.set 42
      global.get 9
      local.set 43
      global.get 10
      local.set 44
      local.get 18
      local.get 36
      v128.xor
      local.set 18
      local.get 19
      local.get 36
      v128.xor
      local.set 19
      local.get 20
      local.get 36
      v128.xor
      local.set 20
      local.get 21
      local.get 36
      v128.xor
      local.set 21
      local.get 22
      local.get 37
      v128.xor
      local.set 22
      local.get 23
      local.get 37
      v128.xor
      local.set 23
      local.get 24
      local.get 37
      v128.xor
      local.set 24
      local.get 25
      local.get 37
      v128.xor
      local.set 25
    end
    local.get 7
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    local.get 6
    i64.store
    local.get 7
    i32.wrap_i64
    i32.const 1383
    i32.add
    i32.const 16376
    i32.and
    local.get 1
    i32.add
    local.get 7
    i64.store
    local.get 18
    local.get 36
    v128.xor
    local.set 18
    local.get 19
    local.get 36
    v128.xor
    local.set 19
    local.get 20
    local.get 36
    v128.xor
    local.set 20
    local.get 21
    local.get 36
    v128.xor
    local.set 21
    local.get 22
    local.get 37
    v128.xor
    local.set 22
    local.get 23
    local.get 37
    v128.xor
    local.set 23
    local.get 24
    local.get 37
    v128.xor
    local.set 24
    local.get 25
    local.get 37
    v128.xor
    local.set 25
    local.get 0
    local.get 2
    i64.store
    local.get 0
    local.get 3
    i64.store offset=8
    local.get 0
    local.get 4
    i64.store offset=16
    local.get 0
    local.get 5
    i64.store offset=24
    local.get 0
    local.get 6
    i64.store offset=32
    local.get 0
    local.get 7
    i64.store offset=40
    local.get 0
    local.get 8
    i64.store offset=48
    local.get 0
    local.get 9
    i64.store offset=56
    local.get 0
    local.get 18
    v128.store offset=64
    local.get 0
    local.get 22
    v128.store offset=128
    local.get 0
    local.get 19
    v128.store offset=80
    local.get 0
    local.get 23
    v128.store offset=144
    local.get 0
    local.get 20
    v128.store offset=96
    local.get 0
    local.get 24
    v128.store offset=160
    local.get 0
    local.get 21
    v128.store offset=112
    local.get 0
    local.get 25
    v128.store offset=176
    local.get 0
    i32.load offset=284
    local.set 16
    local.get 0
    i32.load offset=288
    local.set 17
    local.get 0
    local.get 16
    i32.store offset=292
    local.get 16
    local.get 6
    local.get 9
    i64.xor
    i32.wrap_i64
    i32.xor
    local.set 16
    local.get 0
    local.get 16
    i32.store offset=288
    local.get 0
    local.get 17
    i32.store offset=284
  )
  (func (;4;) (type 4) (param i32 i32)
    local.get 0
    i32.load offset=272
    global.get 0
    i32.ne
    if ;; label = @1
      local.get 0
      local.get 1
      call 0
    end
    local.get 0
    i32.load offset=272
    if ;; label = @1
      local.get 0
      local.get 1
      call 1
    else
      local.get 0
      local.get 1
      call 2
    end
    local.get 0
    local.get 1
    call 3
  )
)
