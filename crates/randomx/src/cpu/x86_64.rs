//! The extensions of x86-64.

use std::fmt;

/// A group of processor instructions that a faster implementation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// AES-NI, and SSSE3, which is older: AES rounds, and shuffles of bytes.
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

    /// Returns the extensions that this one needs.
    pub(super) fn prerequisites(self) -> &'static [Extension] {
        match self {
            Extension::Aes | Extension::Avx2 | Extension::Bmi2 => &[],
            Extension::Avx512 => &[Extension::Avx2],
            Extension::Ifma => &[Extension::Avx512],
            Extension::Vaes => &[Extension::Aes, Extension::Avx512],
        }
    }

    pub(super) fn detected(self) -> bool {
        match self {
            Extension::Aes => is_x86_feature_detected!("aes") && is_x86_feature_detected!("ssse3"),
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

#[cfg(test)]
mod tests {
    use super::Extension;
    use crate::cpu::Cpu;

    #[test]
    fn removing_an_extension_removes_those_that_need_it() {
        let all = Cpu::with_all();
        let left: Vec<Extension> = all.without(Extension::Avx2).extensions().collect();
        assert_eq!(left, [Extension::Aes, Extension::Bmi2]);
        assert_eq!(all.without(Extension::Vaes).extensions().count(), 5);
        assert_eq!(Cpu::baseline().extensions().count(), 0);
    }

    #[test]
    fn extensions_are_those_of_the_processor() {
        let reported = [
            is_x86_feature_detected!("aes"),
            is_x86_feature_detected!("avx2"),
            [
                is_x86_feature_detected!("avx512f"),
                is_x86_feature_detected!("avx512vl"),
                is_x86_feature_detected!("avx512dq"),
                is_x86_feature_detected!("avx512bw"),
            ] == [true; 4],
            is_x86_feature_detected!("vaes"),
            is_x86_feature_detected!("avx512ifma"),
            is_x86_feature_detected!("bmi2"),
        ];
        let cpu = Cpu::detect();
        for (extension, reported) in Extension::ALL.into_iter().zip(reported) {
            assert_eq!(extension.detected(), reported, "{extension}");
            let complete = extension.prerequisites().iter().all(|&needed| cpu.has(needed));
            assert_eq!(cpu.has(extension), complete && reported, "{extension}");
        }
    }

    #[test]
    fn levels_lack_nothing_one_extension_or_all() {
        let all = Cpu::with_all();
        let levels = all.levels();
        assert_eq!((levels.len(), levels[0]), (8, all));
        for (extension, level) in Extension::ALL.into_iter().zip(&levels[1..]) {
            assert_eq!(*level, all.without(extension));
        }
        assert_eq!(levels[7], Cpu::baseline());
        assert_eq!(Cpu::baseline().levels(), [Cpu::baseline()]);
    }

    #[test]
    fn sets_show_their_extensions() {
        assert_eq!(Cpu::baseline().to_string(), "baseline");
        assert_eq!(Cpu::with_all().to_string(), "aes+avx2+avx512+vaes+ifma+bmi2");
        assert_eq!(Cpu::with_all().without(Extension::Avx2).to_string(), "aes+bmi2");
    }
}
