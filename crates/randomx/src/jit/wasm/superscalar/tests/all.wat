(module
  (type (;0;) (func (param i32 i32)))
  (type (;1;) (func (param i32 i32)))
  (type (;2;) (func (param i32 i32)))
  (type (;3;) (func (param i32 i32)))
  (type (;4;) (func (param i32 i32)))
  (type (;5;) (func (param i32 i32)))
  (type (;6;) (func (param i32 i32)))
  (type (;7;) (func (param i32 i32)))
  (type (;8;) (func (param i32 i32)))
  (type (;9;) (func (param i32 i32 i32)))
  (type (;10;) (func (param i32 i32) (result i64 i64 i64 i64 i64 i64 i64 i64)))
  (import "randomx" "cache" (memory (;0;) 4097 4097 shared))
  (export "start" (func 9))
  (export "compute" (func 8))
  (export "item" (func 10))
  (func (;0;) (type 0) (param i32 i32)
    (local i32 i32 i32 i64 i64 i64 i64 i64 i64 i64 i64 i32 i32)
    local.get 1
    i32.const 2
    i32.shl
    local.get 0
    i32.add
    local.set 2
    local.get 0
    local.set 13
    loop ;; label = @1
      local.get 13
      i32.load offset=1536
      i32.load
      local.get 14
      i32.add
      local.set 14
      local.get 13
      i32.const 4
      i32.add
      local.tee 13
      local.get 2
      i32.lt_u
      br_if 0 (;@1;)
    end
    local.get 0
    local.get 14
    i32.store offset=1632
    local.get 0
    local.set 3
    loop ;; label = @1
      local.get 0
      i64.load
      local.set 5
      local.get 0
      i64.load offset=8
      local.set 6
      local.get 0
      i64.load offset=16
      local.set 7
      local.get 0
      i64.load offset=24
      local.set 8
      local.get 0
      i64.load offset=32
      local.set 9
      local.get 0
      i64.load offset=40
      local.set 10
      local.get 0
      i64.load offset=48
      local.set 11
      local.get 0
      i64.load offset=56
      local.set 12
      local.get 5
      local.get 10
      i64.sub
      local.set 5
      local.get 5
      local.get 10
      i64.xor
      local.set 5
      local.get 5
      local.get 10
      i64.const 2
      i64.shl
      i64.add
      local.set 5
      local.get 5
      local.get 10
      i64.mul
      local.set 5
      local.get 5
      i64.const 13
      i64.rotr
      local.set 5
      local.get 5
      i64.const -2147483648
      i64.add
      local.set 5
      local.get 5
      i64.const 77
      i64.xor
      local.set 5
      local.get 5
      local.get 10
      i64.mul_wide_u
      local.set 5
      drop
      local.get 5
      local.get 10
      i64.mul_wide_s
      local.set 5
      drop
      local.get 5
      i64.const -6148914691236517206
      i64.mul
      local.set 5
      local.get 3
      i32.load offset=1536
      local.set 4
      local.get 0
      local.get 4
      i64.load
      local.get 5
      i64.xor
      local.tee 5
      i64.store
      local.get 0
      local.get 4
      i64.load offset=8
      local.get 6
      i64.xor
      local.tee 6
      i64.store offset=8
      local.get 0
      local.get 4
      i64.load offset=16
      local.get 7
      i64.xor
      local.tee 7
      i64.store offset=16
      local.get 0
      local.get 4
      i64.load offset=24
      local.get 8
      i64.xor
      local.tee 8
      i64.store offset=24
      local.get 0
      local.get 4
      i64.load offset=32
      local.get 9
      i64.xor
      local.tee 9
      i64.store offset=32
      local.get 0
      local.get 4
      i64.load offset=40
      local.get 10
      i64.xor
      local.tee 10
      i64.store offset=40
      local.get 0
      local.get 4
      i64.load offset=48
      local.get 11
      i64.xor
      local.tee 11
      i64.store offset=48
      local.get 0
      local.get 4
      i64.load offset=56
      local.get 12
      i64.xor
      local.tee 12
      i64.store offset=56
      local.get 3
      local.get 11
      i32.wrap_i64
      i32.const 4194303
      i32.and
      i32.const 6
      i32.shl
      i32.store offset=1536
      local.get 0
      i32.const 64
      i32.add
      local.set 0
      local.get 3
      i32.const 4
      i32.add
      local.tee 3
      local.get 2
      i32.lt_u
      br_if 0 (;@1;)
    end
  )
  (func (;8;) (type 8) (param i32 i32)
    local.get 0
    local.get 1
    call 0
    local.get 0
    local.get 1
    call 1
    local.get 0
    local.get 1
    call 2
    local.get 0
    local.get 1
    call 3
    local.get 0
    local.get 1
    call 4
    local.get 0
    local.get 1
    call 5
    local.get 0
    local.get 1
    call 6
    local.get 0
    local.get 1
    call 7
  )
  (func (;9;) (type 9) (param i32 i32 i32)
    (local i64)
    local.get 0
    local.get 1
    i32.const 2
    i32.shl
    i32.add
    local.get 2
    i32.const 4194303
    i32.and
    i32.const 6
    i32.shl
    i32.store offset=1536
    local.get 0
    local.get 1
    i32.const 6
    i32.shl
    i32.add
    local.set 0
    local.get 2
    i64.extend_i32_u
    i64.const 1
    i64.add
    i64.const 6364136223846793005
    i64.mul
    local.set 3
    local.get 0
    local.get 3
    i64.store
    local.get 0
    local.get 3
    i64.const -9148333072579190276
    i64.xor
    i64.store offset=8
    local.get 0
    local.get 3
    i64.const -6381431487974942650
    i64.xor
    i64.store offset=16
    local.get 0
    local.get 3
    i64.const -9140414860584924836
    i64.xor
    i64.store offset=24
    local.get 0
    local.get 3
    i64.const 5281919268842080866
    i64.xor
    i64.store offset=32
    local.get 0
    local.get 3
    i64.const -7910590639137690612
    i64.xor
    i64.store offset=40
    local.get 0
    local.get 3
    i64.const 3398623926847679864
    i64.xor
    i64.store offset=48
    local.get 0
    local.get 3
    i64.const -8897639553701190322
    i64.xor
    i64.store offset=56
  )
  (func (;10;) (type 10) (param i32 i32) (result i64 i64 i64 i64 i64 i64 i64 i64)
    local.get 0
    local.get 1
    i32.const 6
    i32.shl
    i32.add
    local.set 0
    local.get 0
    i64.load
    local.get 0
    i64.load offset=8
    local.get 0
    i64.load offset=16
    local.get 0
    i64.load offset=24
    local.get 0
    i64.load offset=32
    local.get 0
    i64.load offset=40
    local.get 0
    i64.load offset=48
    local.get 0
    i64.load offset=56
  )
)
