//! The command that builds and runs the Rust tests on this system.

use std::process::Command;

use crate::check::{self, TEST_PROFILE};
use crate::process;
use crate::tier::{System, Tier};

/// The features of the full tests that need CMake and a C++ compiler. `randomx-fuzz/libfuzzer` is not among them:
/// `cargo xtask fuzz` builds its programs.
const WITH_CPP: &str = "randomx-cli/reference,randomx-conformance/reference";

/// Returns a command that tests the packages of a tier, with its features.
pub(crate) fn cargo_test(tier: Tier, system: System) -> Command {
    let mut test = process::command("cargo");
    test.args(["test", "--locked", "--workspace", "--profile", TEST_PROFILE]);
    check::without_other_packages(&mut test, tier);
    match system {
        System::Debian if tier == Tier::Full => test.args(["--features", WITH_CPP]),
        System::Debian => &mut test,
        System::Any => test.args(["--exclude", "randomx-capi"]),
    };
    if tier == Tier::Full {
        test.args(["--features", check::WITHOUT_CPP]);
    }
    tier.announce(&mut test);
    test
}

#[test]
fn full_tests_have_every_feature_that_the_system_can_build() {
    for (system, expected) in [
        (System::Debian, &[WITH_CPP, check::WITHOUT_CPP][..]),
        (System::Any, &[check::WITHOUT_CPP]),
    ] {
        let test = cargo_test(Tier::Full, system);
        let arguments: Vec<_> = test.get_args().collect();
        let pairs = arguments.windows(2).filter(|pair| pair[0] == "--features");
        assert!(pairs.map(|pair| pair[1]).eq(expected.iter().copied()), "{arguments:?}");
    }
}
