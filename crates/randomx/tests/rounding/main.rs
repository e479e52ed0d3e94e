//! Directed rounding compared with the hardware's, on 11 million pairs of operands, or on 110 million
//! in the full tests.

#[cfg(target_arch = "aarch64")]
mod aarch64_fpcr;
mod operands;
#[cfg(target_arch = "x86_64")]
mod x86_mxcsr;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod against_hardware {
    use randomx::f64x2::F64x2;
    use randomx::rounding::{self, RoundingMode};
    use randomx_testing::{amount, say};

    #[cfg(target_arch = "aarch64")]
    use crate::aarch64_fpcr as hardware;
    use crate::operands::{Operands, Random};
    #[cfg(target_arch = "x86_64")]
    use crate::x86_mxcsr as hardware;

    /// Pairs of doubles for each operation in each mode: in the quick tests, and in the full ones.
    const PAIRS: [usize; 2] = [550_000, 5_500_000];

    type Function = fn(F64x2, F64x2, RoundingMode) -> F64x2;
    type Source = fn(&mut Random) -> [f64; 2];

    fn compare(name: &str, portable: Function, hardware: Function, source: Source) {
        let pairs = amount(PAIRS[0], PAIRS[1]);
        let mut compared = 0;
        for mode in RoundingMode::ALL {
            let mut random = Random::new(mode as u64);
            let mut inexact = 0;
            for _ in 0..pairs / 2 {
                let (first, second) = (source(&mut random), source(&mut random));
                let [a, b] =
                    [0, 1].map(|i| F64x2::from_bits([first[i], second[i]].map(f64::to_bits)));
                let (actual, expected) = (portable(a, b, mode), hardware(a, b, mode));
                assert_eq!(actual, expected, "{name} of {a:?} and {b:?} in mode {mode:?}");
                compared += 2;
                inexact += usize::from(expected != hardware(a, b, RoundingMode::Nearest));
            }
            // Only inexact results tell the modes apart.
            assert_eq!(inexact > pairs / 100, mode != RoundingMode::Nearest, "{name}, {mode:?}");
        }
        say(format_args!("{name}: {compared} pairs agree"));
    }

    #[test]
    fn add() {
        compare("add", rounding::add, hardware::add, Operands::additive);
    }

    #[test]
    fn sub() {
        compare("sub", rounding::sub, hardware::sub, Operands::additive);
    }

    #[test]
    fn mul() {
        compare("mul", rounding::mul, hardware::mul, Operands::multiplicative);
    }

    #[test]
    fn div() {
        compare("div", rounding::div, hardware::div, Operands::divisive);
    }

    #[test]
    fn sqrt() {
        compare(
            "sqrt",
            |a, _, mode| rounding::sqrt(a, mode),
            |a, _, mode| hardware::sqrt(a, mode),
            Operands::divisive,
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn skipped() {
    randomx_testing::say("skipped: directed rounding in hardware is tested on x86-64 and ARM64");
}
