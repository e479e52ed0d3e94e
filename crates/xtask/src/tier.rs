//! How much `cargo xtask test` covers.

use std::process::Command;

/// A set of tests. `tests/README.md` says what runs in which, and why the quick one is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// `npm test`: what every change must pass.
    Quick,
    /// `npm run test:full`: every test there is. `tests/README.md` says how long it takes.
    Full,
}

/// The systems that the tests run on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    /// Debian, whose packages the setup installs, and Ubuntu, where the user installs Firefox.
    Debian,
    /// Any other: without Firefox, WebKit, the C library, code that needs C++, dieharder, Monero's daemon, emulators
    /// and Wine.
    Any,
}

impl Tier {
    /// Sets the variables by which tests learn their tier.
    pub(crate) fn announce(self, command: &mut Command) -> &mut Command {
        let name = if self == Tier::Full { "full" } else { "quick" };
        command.env("RANDOMX_TESTS", name).env("E2E_TIER", name)
    }
}
