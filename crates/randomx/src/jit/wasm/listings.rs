//! Listings of modules, against which tests hold what is generated now.

use std::{env, fs, path::Path};

use wasmparser::{Validator, WasmFeatures};

/// Compares a valid module with `<name>.wat` in this folder; `RANDOMX_WRITE_LISTINGS` makes that anew.
pub(super) fn assert_listing(name: &str, module: &[u8]) {
    assert_functions(name, module, |_| true);
}

/// The same with those functions only that `is_listed` wants.
pub(super) fn assert_functions(name: &str, module: &[u8], is_listed: impl Fn(usize) -> bool) {
    Validator::new_with_features(WasmFeatures::all()).validate_all(module).expect("a valid module");
    let text = wasmprinter::print_bytes(module).expect("a module");
    // Up to the first function, and then one part for each.
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
    assert!(actual == expected, "{} is not what the module is now: line {line}", path.display());
}
