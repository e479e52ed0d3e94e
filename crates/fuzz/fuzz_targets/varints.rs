//! The target `varints` with libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (randomx_fuzz::Target::named("varints").run)(data);
});
