#![expect(unsafe_code, reason = "calls machine code")]

use super::*;

const ALL: [CodePages; 2] = [CodePages::Aliased, CodePages::Flipped];

/// Code of a function without arguments that returns `value`: `mov rax, value`, `ret`.
#[cfg(target_arch = "x86_64")]
fn returning(value: u64) -> Vec<u8> {
    let code: [&[u8]; 3] = [&[0x48, 0xb8], &value.to_le_bytes(), &[0xc3]];
    code.concat()
}

/// Code of a function without arguments that returns `value`.
#[cfg(target_arch = "aarch64")]
fn returning(value: u64) -> Vec<u8> {
    super::aarch64::returning(u16::try_from(value).expect("a small value")).to_vec()
}

fn call(entry: *const u8) -> u64 {
    // SAFETY: all code in these tests is a function of this type, mapped in this process.
    let function: extern "C" fn() -> u64 = unsafe { std::mem::transmute(entry) };
    function()
}

fn result_of(code: &CodeMemory) -> u64 {
    call(code.entry().expect("code of this process"))
}

#[test]
fn fixed_code_runs() {
    for pages in ALL {
        let code = FixedCode::new(&returning(17), pages).expect("executable memory");
        assert_eq!(call(code.entry()), 17, "{pages:?}");
        assert_eq!(format!("{code:?}"), "FixedCode { .. }");
    }
}

#[test]
fn code_longer_than_its_memory_is_an_error() {
    for pages in ALL {
        let refused = CodeMemory::new(&[0; 17], 16, pages);
        assert!(matches!(refused, Err(JitError::TooLong)), "{refused:?}");
        let code = CodeMemory::new(&returning(7), 16, pages).expect("executable memory");
        assert_eq!(result_of(&code), 7);
        let mut longest = returning(8);
        longest.resize(16, 0);
        let code = code.replace(&longest).expect("as long as its memory");
        assert_eq!(result_of(&code), 8);
        let refused = code.replace(&[0; 17]);
        assert!(matches!(refused, Err(JitError::TooLong)), "{refused:?}");
    }
}

#[cfg(windows)]
#[test]
fn pages_are_executable_and_not_writable() {
    use windows_sys::Win32::System::Memory::{
        MEMORY_BASIC_INFORMATION, PAGE_EXECUTE_READ, PAGE_READWRITE, VirtualQuery,
    };
    for pages in ALL {
        let code = CodeMemory::new(&returning(0), 4096, pages).expect("executable memory");
        let code = code.replace(&returning(1)).expect("a short function");
        let fixed = FixedCode::new(&returning(2), pages).expect("executable memory");
        assert_eq!(code.pages(), CodePages::Flipped);
        for entry in [code.entry().expect("code of this process"), fixed.entry()] {
            let mut found = MEMORY_BASIC_INFORMATION::default();
            // SAFETY: the call writes as many bytes as `found` has.
            let length = unsafe { VirtualQuery(entry.cast(), &raw mut found, size_of_val(&found)) };
            assert_eq!(length, size_of_val(&found));
            assert_eq!(found.Protect, PAGE_EXECUTE_READ);
            // The pages never had more rights than when they were allocated and than now.
            assert_eq!(found.AllocationProtect, PAGE_READWRITE);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::panic::{self, AssertUnwindSafe};

    use super::*;

    /// Runs the test `name` in a process of its own, for what cannot be taken back. Returns `true`
    /// in that process.
    fn alone(name: &str) -> bool {
        randomx_testing::is_alone(&format!("jit::code_memory::tests::linux::{name}"))
    }

    fn set_limit(resource: libc::__rlimit_resource_t, limit: libc::rlim_t) {
        let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the calls read and write `limits`, which outlives them.
        unsafe {
            assert_eq!(libc::getrlimit(resource, &raw mut limits), 0);
            limits.rlim_cur = limit.min(limits.rlim_max);
            assert_eq!(libc::setrlimit(resource, &raw const limits), 0);
        }
    }

    #[test]
    fn no_mapping_is_writable_and_executable() {
        for pages in ALL {
            let code = CodeMemory::new(&returning(0), 4096, pages).expect("executable memory");
            let code = code.replace(&returning(1)).expect("a short function");
            let fixed = FixedCode::new(&returning(2), pages).expect("executable memory");
            let maps = std::fs::read_to_string("/proc/self/maps").expect("the list of mappings");
            assert!(!maps.lines().any(|line| line.contains("rwx")), "{maps}");
            for entry in [code.entry().expect("code of this process"), fixed.entry()] {
                let own = maps.lines().find(|line| holds(line, entry as usize));
                let permissions = own.and_then(|line| line.split(' ').nth(1)).expect("a mapping");
                assert!(permissions.starts_with("r-x"), "{permissions}");
            }
        }
    }

    #[test]
    fn dropped_code_is_unmapped() {
        const COUNT: usize = 300;
        for _ in 0..COUNT {
            let code = CodeMemory::new(&returning(1), 4096, CodePages::Aliased);
            assert_eq!(code.expect("executable memory").pages(), CodePages::Aliased);
            assert_eq!(call(SealedCode::new(&returning(2)).expect("a sealed file").entry()), 2);
        }
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the list of mappings");
        // Other tests have code, too, but less.
        let mapped = maps.lines().filter(|line| line.contains("randomx-code")).count();
        assert!(mapped < COUNT, "{mapped} mappings");
    }

    /// Returns whether a mapping holds `address`. Neighbours may be listed as one.
    fn holds(line: &str, address: usize) -> bool {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let number = |hex| usize::from_str_radix(hex, 16).expect("a hexadecimal number");
        range.is_some_and(|(start, end)| (number(start)..number(end)).contains(&address))
    }

    /// `PR_SET_MDWE`: no page becomes executable that was not so when it was mapped.
    #[test]
    fn refused_execution_is_an_error() {
        const PR_SET_MDWE: libc::c_int = 65;
        const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
        if !alone("refused_execution_is_an_error") {
            return;
        }
        let code = CodeMemory::new(&returning(1), 4096, CodePages::Flipped);
        // SAFETY: the call takes five numbers and only changes what this process may map.
        if unsafe { libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0u64, 0u64, 0u64) } != 0 {
            randomx_testing::say("skipped: this kernel has no PR_SET_MDWE");
            return;
        }
        let refused = code.expect("executable memory").replace(&returning(2));
        assert!(matches!(refused, Err(JitError::Memory(_))), "{refused:?}");
        let refused = CodeMemory::new(&returning(3), 4096, CodePages::Flipped);
        assert!(matches!(refused, Err(JitError::Memory(_))), "{refused:?}");
        let refused = FixedCode::new(&returning(4), CodePages::Flipped);
        assert!(matches!(refused, Err(JitError::Memory(_))), "{refused:?}");
        // Views of a file are executable from the start.
        let code = CodeMemory::new(&returning(5), 4096, CodePages::Aliased).expect("two views");
        assert_eq!(code.pages(), CodePages::Aliased);
        assert_eq!(result_of(&code), 5);
        let fixed = FixedCode::new(&returning(6), CodePages::Aliased).expect("a sealed file");
        assert_eq!(call(fixed.entry()), 6);
    }

    /// `ulimit -f 0`: a file that grows raises SIGXFSZ, which ends the process.
    #[test]
    fn a_limit_on_file_sizes_costs_only_the_second_address() {
        if !alone("a_limit_on_file_sizes_costs_only_the_second_address") {
            return;
        }
        for limit in [4096, 4095, 0] {
            set_limit(libc::RLIMIT_FSIZE, limit);
            let code = CodeMemory::new(&returning(1), 4096, CodePages::Aliased);
            let code = code.expect("executable memory");
            let expected = if limit == 4096 { CodePages::Aliased } else { CodePages::Flipped };
            assert_eq!(code.pages(), expected, "with at most {limit} bytes a file");
            let code = code.replace(&returning(2)).expect("a short function");
            assert_eq!(result_of(&code), 2);
            assert!(SealedCode::new(&returning(3)).is_ok() == (limit > 0), "{limit} bytes");
            let fixed = FixedCode::new(&returning(4), CodePages::Aliased).expect("memory");
            assert_eq!(call(fixed.entry()), 4);
        }
    }

    /// `RLIMIT_DATA` counts private writable pages, so flipped ones cannot become writable.
    #[test]
    fn code_that_could_not_be_replaced_is_gone() {
        if !alone("code_that_could_not_be_replaced_is_gone") {
            return;
        }
        let code = CodeMemory::new(&returning(1), 1 << 20, CodePages::Flipped);
        let code = code.expect("executable memory");
        set_limit(libc::RLIMIT_DATA, 1 << 16);
        let refused = code.replace(&returning(2));
        let mapped = CodeMemory::new(&returning(3), 1 << 20, CodePages::Flipped);
        set_limit(libc::RLIMIT_DATA, libc::RLIM_INFINITY);
        assert!(matches!(refused, Err(JitError::Memory(_))), "{refused:?}");
        assert!(matches!(mapped, Err(JitError::Memory(_))), "{mapped:?}");
    }

    /// Forks, runs `child` there and returns its exit status.
    fn in_fork(child: impl FnOnce() -> bool) -> libc::c_int {
        // SAFETY: the child runs only `child`, which takes no lock that another thread could hold.
        let process = unsafe { libc::fork() };
        assert!(process >= 0, "a child process");
        if process == 0 {
            // A panic must not end the thread alone: the process would succeed.
            let succeeds = panic::catch_unwind(AssertUnwindSafe(child)).unwrap_or(false);
            let status = if succeeds { 0 } else { 1 };
            // SAFETY: ends the child without the parent's exit handlers.
            unsafe { libc::_exit(status) };
        }
        let mut status = -1;
        // SAFETY: the call writes `status`, which outlives it.
        assert_eq!(unsafe { libc::waitpid(process, &raw mut status, 0) }, process);
        status
    }

    #[test]
    fn a_child_has_none_of_its_parent_s_aliased_pages() {
        if !alone("a_child_has_none_of_its_parent_s_aliased_pages") {
            return;
        }
        let code = CodeMemory::new(&returning(1), 4096, CodePages::Aliased).expect("two views");
        assert_eq!(code.pages(), CodePages::Aliased);
        let fixed = FixedCode::new(&returning(2), CodePages::Aliased).expect("memory");
        let sealed = SealedCode::new(&returning(3)).expect("a sealed file");
        let flipped = CodeMemory::new(&returning(4), 4096, CodePages::Flipped).expect("memory");
        let mut code = Some(code);
        let status = in_fork(|| {
            let inherited = code.take().expect("the code");
            let without = inherited.entry().is_none();
            // New pages may be where the parent's pages are.
            let new: Vec<CodeMemory> = (0..8)
                .filter_map(|value| {
                    CodeMemory::new(&returning(value), 4096, CodePages::Aliased).ok()
                })
                .collect();
            let replaced = inherited.replace(&returning(5));
            let grandchild = in_fork(|| new.iter().all(|code| code.entry().is_none()));
            without
                && grandchild == 0
                && replaced.is_ok_and(|code| result_of(&code) == 5)
                && new.len() == 8
                && (0..).zip(&new).all(|(value, code)| result_of(code) == value)
                && call(fixed.entry()) == 2
                && call(sealed.entry()) == 3
                && flipped.replace(&returning(6)).is_ok_and(|code| result_of(&code) == 6)
        });
        assert_eq!(status, 0);
        assert_eq!(result_of(code.as_ref().expect("the code")), 1);
        assert_eq!(call(fixed.entry()), 2);
    }

    /// A child that fills every page it can make writable changes nothing in its parent.
    #[test]
    fn a_child_cannot_write_its_parent_s_code() {
        if !alone("a_child_cannot_write_its_parent_s_code") {
            return;
        }
        let code = CodeMemory::new(&returning(1), 4096, CodePages::Aliased).expect("two views");
        let fixed = FixedCode::new(&returning(2), CodePages::Aliased).expect("memory");
        let sealed = SealedCode::new(&returning(3)).expect("a sealed file");
        let flipped = CodeMemory::new(&returning(4), 4096, CodePages::Flipped).expect("memory");
        let entries = [code.entry(), Some(fixed.entry()), Some(sealed.entry()), flipped.entry()]
            .map(|entry| entry.expect("code of this process"));
        let status = in_fork(|| {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
            let no_alias = !maps.lines().any(|line| line.contains("w-s") || line.contains("wxs"));
            for entry in entries {
                let start = entry.cast_mut();
                let access = libc::PROT_READ | libc::PROT_WRITE;
                // SAFETY: what is at the address in this child is code or nothing, and no code
                // runs there any more.
                unsafe {
                    if libc::mprotect(start.cast(), 4096, access) == 0 {
                        start.write_bytes(0xcc, 8);
                    }
                }
            }
            no_alias
        });
        assert_eq!(status, 0);
        assert_eq!(entries.map(call), [1, 2, 3, 4]);
    }
}
