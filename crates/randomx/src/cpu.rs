//! What the processor can do beyond the baseline of the build.
//!
//! Extensions are detected here and nowhere else. A [`Cpu`] is the proof that those it holds are
//! present, so that code which needs one can be called safely; taking some away forces the
//! slower paths, as tests do.

use std::fmt;

/// A group of instructions that a fast path needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// AES rounds: AES-NI on x86-64; in WebAssembly rounds made of SIMD128, which all builds have.
    Aes,
    /// AVX2: vectors of 4 lanes.
    Avx2,
    /// AVX-512 F, VL, DQ and BW, on top of AVX2: vectors of 2, 4 and 8 lanes, with 64-bit products.
    Avx512,
    /// VAES, on top of AVX-512 and AES-NI: AES rounds on four columns at once.
    Vaes,
    /// AVX-512 IFMA, on top of AVX-512: products of 52 bits.
    Ifma,
    /// BMI2: shifts, rotations and products that leave the flags alone.
    Bmi2,
}

impl Extension {
    /// Every extension, in the order in which they build on each other.
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

    /// The extensions that this one builds on.
    fn foundations(self) -> &'static [Extension] {
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

/// Extensions that this machine is known to have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    extensions: u8,
}

impl Cpu {
    /// All that this machine has.
    pub fn detect() -> Cpu {
        Extension::ALL.into_iter().fold(Cpu::baseline(), |cpu, extension| {
            let founded = extension.foundations().iter().all(|&below| cpu.has(below));
            let bit = if founded && extension.detected() { extension.bit() } else { 0 };
            Cpu { extensions: cpu.extensions | bit }
        })
    }

    /// No extension: the paths that run on every machine.
    pub const fn baseline() -> Cpu {
        Cpu { extensions: 0 }
    }

    /// The same without `extension` and without those that build on it.
    #[must_use]
    pub fn without(self, extension: Extension) -> Cpu {
        let kept = Cpu { extensions: self.extensions & !extension.bit() };
        Extension::ALL.into_iter().fold(kept, |cpu, other| {
            let founded = other.foundations().iter().all(|&below| cpu.has(below));
            Cpu { extensions: if founded { cpu.extensions } else { cpu.extensions & !other.bit() } }
        })
    }

    /// This machine and, for tests, each poorer one: without one extension after the other, and
    /// last without any. What runs in all of them runs everywhere.
    pub fn levels(self) -> Vec<Cpu> {
        let mut levels = vec![self];
        levels.extend(self.extensions().map(|extension| self.without(extension)));
        levels.push(Cpu::baseline());
        levels.dedup();
        levels
    }

    /// Whether `extension` is there to be used.
    pub const fn has(self, extension: Extension) -> bool {
        self.extensions & extension.bit() != 0
    }

    /// The extensions that are there.
    pub fn extensions(self) -> impl Iterator<Item = Extension> {
        Extension::ALL.into_iter().filter(move |&extension| self.has(extension))
    }
}

impl fmt::Display for Cpu {
    /// The extensions, such as `aes+avx2`, or `baseline`.
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

    /// Without AVX2 there is nothing that builds on it, at any distance.
    #[test]
    fn extensions_go_with_their_foundations() {
        let all = Cpu { extensions: u8::MAX };
        let without = all.without(Extension::Avx2);
        let left: Vec<Extension> = without.extensions().collect();
        assert_eq!(left, [Extension::Aes, Extension::Bmi2]);
        assert_eq!(all.without(Extension::Vaes).extensions().count(), 5);
        assert_eq!(Cpu::baseline().extensions().count(), 0);
    }
}
