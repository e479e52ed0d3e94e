use super::*;
use crate::jit::x86_64::assembler::{Assembler, Gpr};

const ALL: [CodePages; 2] = [CodePages::Aliased, CodePages::Flipped];

fn returning(value: u64) -> Vec<u8> {
    let mut assembler = Assembler::new(32);
    assembler.mov_immediate(Gpr::Rax, value);
    assembler.ret();
    assembler.finish().expect("a short function").to_vec()
}

fn call(code: &CodeMemory) -> u64 {
    let entry = code.entry().expect("code that was written");
    // SAFETY: all code in these tests is a function of this type, alive while `code` is.
    let function: extern "sysv64" fn() -> u64 = unsafe { std::mem::transmute(entry) };
    function()
}

/// What runs is what was written last, many times in the same place.
#[test]
fn code_is_replaced() {
    for pages in ALL {
        let mut code = CodeMemory::new(4096, pages).expect("executable memory");
        for value in 0..1000 {
            code.write(&returning(value)).expect("a short function");
            assert_eq!(call(&code), value, "{:?}", code.pages());
        }
    }
}

#[test]
fn long_code_is_refused() {
    for pages in ALL {
        let mut code = CodeMemory::new(16, pages).expect("executable memory");
        assert_eq!(code.write(&[0; 17]), Err(JitError::TooLong));
        code.write(&returning(7)).expect("a short function");
        assert_eq!(call(&code), 7);
    }
}

/// Both ways keep every mapping of the process either writable or executable.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_writable_and_executable() {
    for pages in ALL {
        let mut code = CodeMemory::new(4096, pages).expect("executable memory");
        code.write(&returning(1)).expect("a short function");
        let entry = code.entry().expect("code that was written") as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux's list of mappings");
        assert!(!maps.lines().any(|line| line.contains("rwx")), "{maps}");
        let own = maps.lines().find(|line| line.starts_with(&format!("{entry:x}-")));
        let permissions = own.and_then(|line| line.split(' ').nth(1)).expect("the code's mapping");
        assert!(permissions.starts_with("r-x"), "{permissions}");
    }
}

/// A system that lets nothing become executable gives an error, not a crash. The process that
/// asks the kernel for that cannot take it back, so it is another one.
#[cfg(target_os = "linux")]
#[test]
fn refusal_is_an_error() {
    const NAME: &str = "jit::x86_64::code_memory::tests::refusal_is_an_error";
    const CHILD: &str = "RANDOMX_TEST_REFUSE_EXECUTION";
    if std::env::var_os(CHILD).is_none() {
        let this = std::env::current_exe().expect("the path of this test");
        let mut child = std::process::Command::new(this);
        let output = child.args(["--exact", NAME, "--nocapture"]).env(CHILD, "1").output();
        let output = output.expect("this test once more");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
        if text.contains("skipped") {
            println!("skipped: this kernel has no PR_SET_MDWE");
        }
        return;
    }
    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    // SAFETY: the call takes five numbers and only changes what this process may map.
    if unsafe { libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0u64, 0u64, 0u64) } != 0 {
        println!("skipped");
        return;
    }
    let refused = CodeMemory::new(4096, CodePages::Flipped);
    assert!(matches!(refused, Err(JitError::Memory(_))), "{refused:?}");
    // Pages that are never both need no gain.
    let mut code = CodeMemory::new(4096, CodePages::Aliased).expect("two views of one file");
    code.write(&returning(3)).expect("a short function");
    assert_eq!(call(&code), 3);
}
