//! Processor extensions beyond the baseline of the build.
//!
//! Only this module detects those that a [`Cpu`] holds; `jit/code_memory` detects how code is fetched again. A
//! [`Cpu`] proves that the extensions it holds are present, so that code which needs one can be called safely.
//! Removing some forces the slower paths, as tests do.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::fmt;

#[cfg(target_arch = "aarch64")]
use aarch64 as processor;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use other as processor;
#[cfg(target_arch = "x86_64")]
use x86_64 as processor;

pub use processor::Extension;

impl Extension {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of extensions that this processor has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    extensions: u8,
}

impl Cpu {
    /// Detects all extensions of this processor.
    pub fn detect() -> Cpu {
        Extension::ALL.into_iter().fold(Cpu::baseline(), |cpu, extension| {
            let complete = extension.prerequisites().iter().all(|&needed| cpu.has(needed));
            let bit = if complete && extension.detected() { extension.bit() } else { 0 };
            Cpu { extensions: cpu.extensions | bit }
        })
    }

    /// Returns the empty set: implementations that run on every processor.
    pub const fn baseline() -> Cpu {
        Cpu { extensions: 0 }
    }

    /// Returns the set of all extensions, whether this processor has them or not.
    #[cfg(all(test, target_arch = "x86_64"))]
    fn with_all() -> Cpu {
        Cpu { extensions: u8::MAX }
    }

    /// Removes `extension` and those that need it.
    #[must_use]
    pub fn without(self, extension: Extension) -> Cpu {
        let kept = Cpu { extensions: self.extensions & !extension.bit() };
        Extension::ALL.into_iter().fold(kept, |cpu, other| {
            let complete = other.prerequisites().iter().all(|&needed| cpu.has(needed));
            let removed = if complete { 0 } else { other.bit() };
            Cpu { extensions: cpu.extensions & !removed }
        })
    }

    /// Returns the sets that tests run with: this one, this one without each of its extensions,
    /// and the empty set.
    pub fn levels(self) -> Vec<Cpu> {
        let mut levels = vec![self];
        let poorer = self.extensions().map(|extension| self.without(extension));
        for level in poorer.chain([Cpu::baseline()]) {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        levels
    }

    /// Returns whether the set holds `extension`.
    pub const fn has(self, extension: Extension) -> bool {
        self.extensions & extension.bit() != 0
    }

    /// Returns the extensions in the set.
    pub fn extensions(self) -> impl Iterator<Item = Extension> {
        Extension::ALL.into_iter().filter(move |&extension| self.has(extension))
    }
}

impl fmt::Display for Cpu {
    /// Returns the extensions, such as `aes+avx2`, or `baseline`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.extensions == 0 {
            return f.write_str("baseline");
        }
        for (index, extension) in self.extensions().enumerate() {
            write!(f, "{}{extension}", if index == 0 { "" } else { "+" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cpu({self})")
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::detect()
    }
}
