(module
  (type (;0;) (func (param i32 i32 i32)))
  (type (;1;) (func (param i32 i32)))
  (type (;2;) (func (param i32 i32) (result i64 i64 i64 i64 i64 i64 i64 i64)))
  (type (;3;) (func (param i32 i32 i32 i32)))
  (import "randomx" "memory" (memory (;0;) 1))
  (import "items" "start" (func (;0;) (type 0) (param i32 i32 i32)))
  (import "items" "compute" (func (;1;) (type 1) (param i32 i32)))
  (import "items" "item" (func (;2;) (type 2) (param i32 i32) (result i64 i64 i64 i64 i64 i64 i64 i64)))
  (export "items" (func 3))
  (func (;3;) (type 3) (param i32 i32 i32 i32)
    (local i32 i32 i64 i64 i64 i64 i64 i64 i64 i64)
    block ;; label = @1
      loop ;; label = @2
        local.get 3
        i32.eqz
        br_if 1 (;@1;)
        local.get 3
        i32.const 24
        local.get 3
        i32.const 24
        i32.lt_u
        select
        local.set 4
        i32.const 0
        local.set 5
        loop ;; label = @3
          local.get 0
          local.get 5
          local.get 1
          i32.load
          call 0
          local.get 1
          i32.const 4
          i32.add
          local.set 1
          local.get 5
          i32.const 1
          i32.add
          local.tee 5
          local.get 4
          i32.lt_u
          br_if 0 (;@3;)
        end
        local.get 0
        local.get 4
        call 1
        i32.const 0
        local.set 5
        loop ;; label = @3
          local.get 0
          local.get 5
          call 2
          local.set 13
          local.set 12
          local.set 11
          local.set 10
          local.set 9
          local.set 8
          local.set 7
          local.set 6
          local.get 2
          local.get 6
          i64.store
          local.get 2
          local.get 7
          i64.store offset=8
          local.get 2
          local.get 8
          i64.store offset=16
          local.get 2
          local.get 9
          i64.store offset=24
          local.get 2
          local.get 10
          i64.store offset=32
          local.get 2
          local.get 11
          i64.store offset=40
          local.get 2
          local.get 12
          i64.store offset=48
          local.get 2
          local.get 13
          i64.store offset=56
          local.get 2
          i32.const 64
          i32.add
          local.set 2
          local.get 5
          i32.const 1
          i32.add
          local.tee 5
          local.get 4
          i32.lt_u
          br_if 0 (;@3;)
        end
        local.get 3
        local.get 4
        i32.sub
        local.set 3
        br 0 (;@2;)
      end
    end
  )
)
