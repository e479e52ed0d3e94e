//! The floating point environment that programs run in.
//!
//! The interpreter's arithmetic, like all Rust code, relies on rounding to nearest, on denormal
//! numbers being kept, and on masked exceptions. A thread can have another environment: C code in
//! the same process may have set it.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::DefaultEnvironment;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use other::DefaultEnvironment;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::DefaultEnvironment;
