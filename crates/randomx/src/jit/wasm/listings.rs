//! Compares generated modules with listings in the tree.

use std::{env, fs, path::Path};

use wasmparser::{Validator, WasmFeatures};

/// Validates a module and compares it with `<name>.wat` in this folder. With the environment variable
/// `RANDOMX_WRITE_LISTINGS`, writes the listing first.
pub(super) fn assert_listing(name: &str, module: &[u8]) {
    assert_functions(name, module, |_| true);
}

/// As [`assert_listing`], with only those functions for whose index `is_listed` returns `true`.
pub(super) fn assert_functions(name: &str, module: &[u8], is_listed: impl Fn(usize) -> bool) {
    Validator::new_with_features(WasmFeatures::all()).validate_all(module).expect("a valid module");
    let text = wasmprinter::print_bytes(module).expect("a module");
    // Splits the text before each function.
    const NEXT: &str = "\n  (func (;";
    let index = |part: &str| part.split(';').next().and_then(|index| index.parse().ok());
    let listed = |part: &&str| index(part).is_none_or(&is_listed);
    let actual = text.split(NEXT).filter(listed).collect::<Vec<_>>().join(NEXT);

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/jit/wasm").join(name);
    let path = path.with_extension("wat");
    if env::var_os("RANDOMX_WRITE_LISTINGS").is_some() {
        fs::write(&path, &actual).expect("a listing to be written");
    }
    let expected = fs::read_to_string(&path).expect("a listing");
    let differing = expected.lines().zip(actual.lines()).position(|(was, is)| was != is);
    let line = differing.unwrap_or(expected.lines().count().min(actual.lines().count())) + 1;
    assert!(actual == expected, "{} differs from the module in line {line}", path.display());
}
