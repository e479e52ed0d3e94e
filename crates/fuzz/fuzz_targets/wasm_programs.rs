//! The target `wasm_programs` with libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (randomx_fuzz::Target::named("wasm_programs").run)(data);
});
