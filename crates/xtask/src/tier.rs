//! How much `cargo xtask test` covers.

use std::process::Command;

/// A set of tests. `tests/README.md` says what runs in which, and why the quick one is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// `npm test`: within 15 minutes on two cores.
    Quick,
    /// `npm run test:full`: every test there is, within an hour.
    Full,
}

impl Tier {
    /// Sets the variables by which tests learn their tier.
    pub(crate) fn announce(self, command: &mut Command) -> &mut Command {
        let name = if self == Tier::Full { "full" } else { "quick" };
        command.env("RANDOMX_TESTS", name).env("E2E_TIER", name)
    }
}
