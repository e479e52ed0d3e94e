//! The targets.

use super::{Foreign, Purpose, StandardLibrary};

/// Apple's, servers', phones' and Raspberry Pis' processors.
pub(crate) const ARM64: Foreign = Foreign {
    name: "ARM64",
    target: "aarch64-unknown-linux-gnu",
    linker: ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    library: Some(("/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-dev-arm64-cross")),
    emulator: ("qemu-aarch64", "qemu-user"),
    root: Some("/usr/aarch64-linux-gnu"),
    loader: None,
    standard_library: StandardLibrary::Packaged("arm64"),
};

/// Windows on x86-64, with the C library of MinGW-w64.
pub(crate) const WINDOWS: Foreign = Foreign {
    name: "Windows",
    target: "x86_64-pc-windows-gnu",
    linker: ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"),
    library: None,
    emulator: ("wine", "wine"),
    root: None,
    loader: None,
    standard_library: StandardLibrary::Built(Purpose::Link),
};

/// RISC-V with 64 bits.
pub(crate) const RISCV64: Foreign = Foreign {
    name: "RISC-V",
    target: "riscv64gc-unknown-linux-gnu",
    linker: ("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"),
    library: Some(("/usr/riscv64-linux-gnu/lib/libc.so.6", "libc6-dev-riscv64-cross")),
    emulator: ("qemu-riscv64", "qemu-user"),
    root: Some("/usr/riscv64-linux-gnu"),
    loader: None,
    standard_library: StandardLibrary::Built(Purpose::Link),
};

/// PCs with 32 bits.
pub(crate) const I686: Foreign = Foreign {
    name: "i686",
    target: "i686-unknown-linux-gnu",
    linker: ("i686-linux-gnu-gcc", "gcc-i686-linux-gnu"),
    library: Some(("/usr/i686-linux-gnu/lib/libc.so.6", "libc6-dev-i386-cross")),
    emulator: ("qemu-i386", "qemu-user"),
    root: Some("/usr/i686-linux-gnu"),
    loader: Some("/usr/i686-linux-gnu/lib/ld-linux.so.2"),
    standard_library: StandardLibrary::Packaged("i386"),
};

/// ARM with 32 bits and a floating point unit.
pub(crate) const ARMV7: Foreign = Foreign {
    name: "ARMv7",
    target: "armv7-unknown-linux-gnueabihf",
    linker: ("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"),
    library: Some(("/usr/arm-linux-gnueabihf/lib/libc.so.6", "libc6-dev-armhf-cross")),
    emulator: ("qemu-arm", "qemu-user"),
    root: Some("/usr/arm-linux-gnueabihf"),
    loader: None,
    standard_library: StandardLibrary::Packaged("armhf"),
};

/// IBM Z, whose numbers begin with their most significant byte.
pub(crate) const S390X: Foreign = Foreign {
    name: "s390x",
    target: "s390x-unknown-linux-gnu",
    linker: ("s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu"),
    library: Some(("/usr/s390x-linux-gnu/lib/libc.so.6", "libc6-dev-s390x-cross")),
    emulator: ("qemu-s390x", "qemu-user"),
    root: Some("/usr/s390x-linux-gnu"),
    loader: None,
    standard_library: StandardLibrary::Built(Purpose::Link),
};
