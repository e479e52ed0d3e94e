//! Flags that shorten the compilation of DataFusion.
//!
//! For most futures in DataFusion 55, rustc proves anew that all types of a query may be sent to another thread. That
//! takes most of the time of a build, and again of a lint. rustc's next trait solver remembers such proofs. It is
//! unstable, so the wrapper asks for it while DataFusion is compiled, and for nothing else. DataFusion has since been
//! changed, which makes this file superfluous with its next version: <https://github.com/apache/datafusion/pull/24329>.

use std::env;
use std::ffi::OsString;
use std::process::Command;

/// The variable that says that the compiler has the flags.
const VARIABLE: &str = "RANDOMX_XTASK_DATAFUSION";

/// Lets a stable compiler accept the flags.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// The next solver, and code only for items that other crates use.
const FLAGS: [&str; 2] = ["-Znext-solver=globally", "-Zhint-mostly-unused"];

/// Sets the variable for a command of Cargo, if the compiler has the flags.
pub(super) fn announce(cargo: &mut Command, mut rustc: Command) {
    rustc.env(UNSTABLE.0, UNSTABLE.1).args(FLAGS).args(["--print", "sysroot"]);
    if rustc.output().is_ok_and(|output| output.status.success()) {
        cargo.env(VARIABLE, "1");
    }
}

/// Adds the flags to a command that compiles one of DataFusion's crates.
pub(super) fn add_flags(rustc: &mut Command, arguments: &[OsString]) {
    if env::var_os(VARIABLE).is_some() && is_datafusion(arguments) {
        rustc.env(UNSTABLE.0, UNSTABLE.1).args(FLAGS);
    }
}

/// Whether these arguments of rustc name one of DataFusion's crates.
fn is_datafusion(arguments: &[OsString]) -> bool {
    super::value(arguments, "--crate-name")
        .and_then(|name| name.to_str())
        .is_some_and(|name| name == "datafusion" || name.starts_with("datafusion_"))
}

#[cfg(test)]
mod tests {
    use super::is_datafusion;
    use crate::compiler::arguments;

    #[test]
    fn only_crates_of_datafusion_get_the_flags() {
        let is = |line| is_datafusion(&arguments(line));
        assert!(is("--crate-name datafusion --edition=2024 src/lib.rs"));
        assert!(is("--crate-name datafusion_catalog --edition=2024 src/lib.rs"));
        assert!(!is("--crate-name randomx_datafusion --edition=2024 src/lib.rs"));
        assert!(!is("--crate-name arrow --extern datafusion"));
        assert!(!is("-vV"));
    }
}
