//! Everything at once, for a long time.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{PACKAGE, VITEST};
use crate::build::{self, NATIVE};
use crate::check::TEST_PROFILE;
use crate::setup::Browsers;
use crate::{output, process};

/// The file in which Linux reports what a process holds.
const HELD: &str = "/proc/self/smaps_rollup";

/// The variable with the least time of a round. The user may set it.
const ROUND_SECONDS: &str = "RANDOMX_SOAK_ROUND_SECONDS";

/// Runs everything at once for ten minutes, or for as many as `RANDOMX_SOAK_MINUTES` says.
pub(super) fn test(browsers: &Browsers) -> Result<()> {
    if !Path::new(HELD).exists() {
        output::line("skipped: this system does not report the memory of processes");
        return Ok(());
    }
    let mut vitest = browsers.run(VITEST)?;
    vitest.args(["run", "--config", "tests/soak/vitest.config.ts"]).env(PACKAGE, "built");
    set_pace(&mut vitest, env::var_os(ROUND_SECONDS));
    process::run(vitest.env(NATIVE, build::native_path(TEST_PROFILE)))
}

/// Makes the soak pause between rounds, unless the user chose a pace. Priorities do not reach its browser.
fn set_pace(soak: &mut Command, chosen: Option<OsString>) {
    soak.env(ROUND_SECONDS, chosen.unwrap_or_else(|| "15".into()));
}

#[test]
fn a_pace_that_the_user_chose_stays() {
    for (chosen, expected) in [(None, "15"), (Some("60"), "60"), (Some("0"), "0")] {
        let mut soak = process::command("node");
        set_pace(&mut soak, chosen.map(OsString::from));
        let set = soak.get_envs().find(|(name, _)| *name == ROUND_SECONDS);
        assert_eq!(set.and_then(|(_, value)| value), Some(expected.as_ref()));
    }
}
