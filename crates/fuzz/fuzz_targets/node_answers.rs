//! The target `node_answers` with libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (randomx_fuzz::Target::named("node_answers").run)(data);
});
