//! The flags of the C API, as options of the crate `randomx`.

use std::ffi::c_int;

use randomx::{CodePages, Cpu, EngineChoice, Extension, Pages, Version, VmOptions};

/// A combination of `RANDOMX_FLAG_*`. Unknown bits are ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(c_int);

impl Flags {
    const LARGE_PAGES: c_int = 1;
    const HARD_AES: c_int = 2;
    const FULL_MEM: c_int = 4;
    const JIT: c_int = 8;
    const SECURE: c_int = 16;
    const ARGON2_SSSE3: c_int = 32;
    const ARGON2_AVX2: c_int = 64;
    const V2: c_int = 128;

    pub(crate) fn from_bits(bits: c_int) -> Flags {
        Flags(bits)
    }

    pub(crate) fn bits(self) -> c_int {
        self.0
    }

    /// Returns every flag that this machine supports, except those that are the caller's choice: large
    /// pages, the dataset, secure code pages and the version.
    pub(crate) fn recommended() -> Flags {
        let candidates = [Flags::HARD_AES, Flags::JIT, Flags::ARGON2_SSSE3, Flags::ARGON2_AVX2];
        let each = candidates.into_iter().filter(|&flag| is_supported(flag));
        Flags(each.fold(0, |all, flag| all | flag))
    }

    /// Whether this machine supports the flags of caches among these. Flags of VMs are ignored.
    pub(crate) fn suit_caches(self) -> bool {
        self.are_supported(&[Flags::JIT, Flags::ARGON2_SSSE3, Flags::ARGON2_AVX2])
    }

    /// Whether this machine supports the flags of VMs among these. Memory may be missing nevertheless.
    pub(crate) fn suit_vms(self) -> bool {
        self.are_supported(&[Flags::JIT, Flags::HARD_AES])
    }

    fn are_supported(self, of_these: &[c_int]) -> bool {
        of_these.iter().all(|&flag| !self.has(flag) || is_supported(flag))
    }

    pub(crate) fn full_memory(self) -> bool {
        self.has(Flags::FULL_MEM)
    }

    pub(crate) fn version(self) -> Version {
        if self.has(Flags::V2) { Version::V2 } else { Version::V1 }
    }

    /// Whether memory on such pages fulfils the flags.
    pub(crate) fn accept(self, pages: Pages) -> bool {
        !self.has(Flags::LARGE_PAGES) || pages == Pages::HugeTlb
    }

    /// Returns the extensions that may fill a cache. Its AVX2 flag allows everything faster, too.
    pub(crate) fn cpu_of_cache(self) -> Cpu {
        if self.has(Flags::ARGON2_AVX2) { Cpu::detect() } else { without_avx2() }
    }

    /// Returns the options of a VM, with one lane: the API hashes one input at a time.
    pub(crate) fn options_of_vm(self) -> VmOptions {
        let cpu = Cpu::detect();
        let soft_aes = has_aes() && !self.has(Flags::HARD_AES);
        VmOptions {
            lanes: Some(1),
            engine: self.engine(),
            cpu: if soft_aes { cpu.without(Extension::Aes) } else { cpu },
            code_pages: self.code_pages(),
        }
    }

    pub(crate) fn engine(self) -> EngineChoice {
        if self.has(Flags::JIT) { EngineChoice::Jit } else { EngineChoice::Interpreter }
    }

    pub(crate) fn code_pages(self) -> CodePages {
        if self.has(Flags::SECURE) { CodePages::Flipped } else { CodePages::Aliased }
    }

    fn has(self, flag: c_int) -> bool {
        self.0 & flag != 0
    }
}

/// Whether this machine supports a flag.
fn is_supported(flag: c_int) -> bool {
    match flag {
        Flags::HARD_AES => has_aes(),
        Flags::JIT => cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
        Flags::ARGON2_SSSE3 => has_ssse3(),
        Flags::ARGON2_AVX2 => without_avx2() != Cpu::detect(),
        _ => true,
    }
}

/// Returns this processor without AVX2 and without the extensions that need it.
#[cfg(target_arch = "x86_64")]
fn without_avx2() -> Cpu {
    Cpu::detect().without(Extension::Avx2)
}

/// Returns this processor, which has no AVX2.
#[cfg(not(target_arch = "x86_64"))]
fn without_avx2() -> Cpu {
    Cpu::detect()
}

/// Whether there are instructions for AES. WebAssembly has none; the code that replaces them is used
/// with any flags.
fn has_aes() -> bool {
    !cfg!(target_family = "wasm") && Cpu::detect().has(Extension::Aes)
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn has_ssse3() -> bool {
    std::arch::is_x86_feature_detected!("ssse3")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn has_ssse3() -> bool {
    false
}
