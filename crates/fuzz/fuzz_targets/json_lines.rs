//! The target `json_lines` with libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (randomx_fuzz::Target::named("json_lines").run)(data);
});
