//! Every operation, read back by a disassembler.

use super::*;
use crate::jit::wasm::module::{Memory, Module};

/// Returns the listing of the operations that `write` writes.
fn listing(write: impl FnOnce(&mut Body)) -> Vec<String> {
    let mut body = Body::new(1);
    body.locals::<2>(Type::V128);
    write(&mut body);
    let mut module = Module::new();
    let memory = Memory { minimum: 1, maximum: Some(300), shared: true };
    module.import_memory("host", "memory", memory);
    module.import_function("host", "call", &[Type::I64], &[Type::V128, Type::I64]);
    let function = module.function(&[Type::I32], &[], &body);
    module.export("run", function);
    let text = wasmprinter::print_bytes(module.finish()).expect("a module");
    let mut lines = text.lines().map(|line| line.trim().trim_end_matches(')').to_owned());
    lines.by_ref().find(|line| line.starts_with("(local ")).expect("locals");
    lines.take_while(|line| !line.is_empty()).collect()
}

/// Returns the specification's name for a method's operation.
fn name(method: &str) -> String {
    let typed = ["i32", "i64", "f64", "v128", "i8x", "local"];
    let method = method.trim_end_matches('_');
    match typed.iter().any(|of| method.starts_with(of)) {
        true => method.replacen('_', ".", 1),
        false => method.to_owned(),
    }
}

#[test]
fn methods_write_the_operations_of_their_names() {
    for (method, write) in PLAIN {
        if ["end", "else_"].contains(method) {
            continue; // These need an open block: see below.
        }
        assert_eq!(listing(write)[0], name(method));
    }
    for (method, write) in MEMORY {
        assert_eq!(listing(|body| write(body, 0))[0], name(method));
        assert_eq!(listing(|body| write(body, 4096))[0], format!("{} offset=4096", name(method)));
    }
}

#[test]
fn immediates_are_encoded() {
    let text = |write: fn(&mut Body)| listing(write)[0].clone();
    assert_eq!(text(|b| b.local_get(Local(0))), "local.get 0");
    assert_eq!(text(|b| b.local_set(Local(1))), "local.set 1");
    assert_eq!(text(|b| b.local_tee(Local(300))), "local.tee 300");
    assert_eq!(text(|b| b.call(Function(0))), "call 0");
    for value in [0, 1, -1, 63, 64, -64, -65, 8191, 8192, i32::MIN, i32::MAX] {
        assert_eq!(listing(|b| b.i32_const(value))[0], format!("i32.const {value}"));
        assert_eq!(listing(|b| b.i64_const(value.into()))[0], format!("i64.const {value}"));
    }
    for value in [i64::MIN, i64::MAX, 1 << 62, -1 << 62, (-1 << 62) - 1] {
        assert_eq!(listing(|b| b.i64_const(value))[0], format!("i64.const {value}"));
    }
    assert_eq!(
        text(|b| b.v128_const(0x0000_0004_0000_0003_0000_0002_0000_0001)),
        "v128.const i32x4 0x00000001 0x00000002 0x00000003 0x00000004"
    );
    assert_eq!(
        text(|b| b.i8x16_shuffle([31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])),
        "i8x16.shuffle 31 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14"
    );
    assert_eq!(text(|b| b.i64x2_extract_lane(1)), "i64x2.extract_lane 1");
}

#[test]
fn blocks_nest() {
    let lines = listing(|b| {
        b.block();
        b.loop_();
        b.br_if(0);
        b.br(1);
        b.end();
        b.if_();
        b.else_();
        b.end();
        b.end();
    });
    let words: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(words, ["block", "loop", "br_if", "br", "end", "if", "else", "end", "end"]);
}

#[test]
fn locals_follow_parameters() {
    let mut body = Body::new(2);
    assert_eq!(body.parameter(1), Local(1));
    assert_eq!(body.locals(Type::I64), [Local(2), Local(3), Local(4)]);
    assert_eq!(body.local(Type::V128), Local(5));
}

#[test]
fn a_module_lists_its_imports_and_exports() {
    let mut module = Module::new();
    module.import_memory("a", "b", Memory { minimum: 1, maximum: None, shared: false });
    let imported = module.import_function("c", "d", &[Type::I32], &[Type::I64, Type::I64]);
    let mut body = Body::new(1);
    body.local_get(body.parameter(0));
    body.call(imported);
    let own = module.function(&[Type::I32], &[Type::I64, Type::I64], &body);
    module.export("e", own);
    let bytes = module.finish();
    wasmparser::validate(&bytes).expect("a valid module");
    let text = wasmprinter::print_bytes(&bytes).expect("a module");
    for part in [
        r#"(import "a" "b" (memory (;0;) 1))"#,
        r#"(import "c" "d" (func (;0;) (type 0) (param i32) (result i64 i64)))"#,
        r#"(export "e" (func 1))"#,
        "(func (;1;) (type 1) (param i32) (result i64 i64)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
