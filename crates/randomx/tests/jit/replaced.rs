//! Code that takes the place of other code at one address.

#![expect(unsafe_code, reason = "calls machine code")]

use randomx::jit::CodePages;
use randomx::jit::code_memory::CodeMemory;

/// Code of a function without arguments that returns `value`: `mov rax, value`, `ret`.
#[cfg(target_arch = "x86_64")]
fn returning(value: u16) -> Vec<u8> {
    let code: [&[u8]; 3] = [&[0x48, 0xb8], &u64::from(value).to_le_bytes(), &[0xc3]];
    code.concat()
}

/// Code of a function without arguments that returns `value`: `mov x0, #value`, `ret`.
#[cfg(target_arch = "aarch64")]
fn returning(value: u16) -> Vec<u8> {
    [0xd280_0000 | u32::from(value) << 5, 0xd65f_03c0].map(u32::to_le_bytes).concat()
}

fn result_of(code: &CodeMemory) -> u64 {
    let entry = code.entry().expect("code of this process");
    // SAFETY: the code is a function of this type, mapped in this process.
    let function: extern "C" fn() -> u64 = unsafe { std::mem::transmute(entry) };
    function()
}

/// In the full tests, an emulator runs this test too.
#[test]
fn replaced_code_runs() {
    for pages in [CodePages::Aliased, CodePages::Flipped] {
        let mut code = CodeMemory::new(&returning(0), 4096, pages).expect("executable memory");
        let pages = code.pages();
        assert_eq!(
            format!("{code:?}"),
            format!("CodeMemory {{ pages: {pages:?}, capacity: 4096, .. }}")
        );
        for value in 1..1000 {
            code = code.replace(&returning(value)).expect("a short function");
            assert_eq!(result_of(&code), u64::from(value), "{:?}", code.pages());
        }
    }
}
