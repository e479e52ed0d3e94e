//! The target `miner_transactions` with libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (randomx_fuzz::Target::named("miner_transactions").run)(data);
});
