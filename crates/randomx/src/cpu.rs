//! Processor extensions beyond the baseline of the build.
//!
//! Only this module detects them. A [`Cpu`] proves that the extensions it holds are present, so
//! that code which needs one can be called safely. Removing some forces the slower paths, as
//! tests do.

use std::fmt;

/// A group of processor instructions that a faster implementation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// AES rounds: AES-NI on x86-64. In WebAssembly SIMD128 computes them, which all builds have.
    Aes,
    /// AVX2: vectors of 4 lanes.
    Avx2,
    /// AVX-512 F, VL, DQ and BW, in addition to AVX2: vectors of 2, 4 and 8 lanes, with 64-bit
    /// products.
    Avx512,
    /// VAES, in addition to AVX-512 and AES-NI: AES rounds on four columns at once.
    Vaes,
    /// AVX-512 IFMA, in addition to AVX-512: products of 52 bits.
    Ifma,
    /// BMI2: shifts, rotations and products that do not change the flags.
    Bmi2,
}

impl Extension {
    /// All extensions, prerequisites first.
    pub const ALL: [Extension; 6] = [
        Extension::Aes,
        Extension::Avx2,
        Extension::Avx512,
        Extension::Vaes,
        Extension::Ifma,
        Extension::Bmi2,
    ];

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns the extensions that this one needs.
    fn prerequisites(self) -> &'static [Extension] {
        match self {
            Extension::Aes | Extension::Avx2 | Extension::Bmi2 => &[],
            Extension::Avx512 => &[Extension::Avx2],
            Extension::Ifma => &[Extension::Avx512],
            Extension::Vaes => &[Extension::Aes, Extension::Avx512],
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn detected(self) -> bool {
        match self {
            Extension::Aes => is_x86_feature_detected!("aes"),
            Extension::Avx2 => is_x86_feature_detected!("avx2"),
            Extension::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
            }
            Extension::Vaes => is_x86_feature_detected!("vaes"),
            Extension::Ifma => is_x86_feature_detected!("avx512ifma"),
            Extension::Bmi2 => is_x86_feature_detected!("bmi2"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detected(self) -> bool {
        cfg!(target_arch = "wasm32") && self == Extension::Aes
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Extension::Aes => "aes",
            Extension::Avx2 => "avx2",
            Extension::Avx512 => "avx512",
            Extension::Vaes => "vaes",
            Extension::Ifma => "ifma",
            Extension::Bmi2 => "bmi2",
        })
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
        levels.extend(self.extensions().map(|extension| self.without(extension)));
        levels.push(Cpu::baseline());
        levels.dedup();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_an_extension_removes_those_that_need_it() {
        let all = Cpu { extensions: u8::MAX };
        let without = all.without(Extension::Avx2);
        let left: Vec<Extension> = without.extensions().collect();
        assert_eq!(left, [Extension::Aes, Extension::Bmi2]);
        assert_eq!(all.without(Extension::Vaes).extensions().count(), 5);
        assert_eq!(Cpu::baseline().extensions().count(), 0);
    }
}
