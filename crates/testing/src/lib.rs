//! Helpers of the Rust tests: the tier, lines about what ran, processes, and simulated blocks.

pub mod blocks;
mod running;

use std::env;
use std::fmt::Display;
use std::io::Write;
use std::process::Command;

pub use running::Running;

/// Whether `cargo xtask test --full` runs this test.
pub fn is_full() -> bool {
    env::var("RANDOMX_TESTS").is_ok_and(|tier| tier == "full")
}

/// Returns `full` in the full tier, and `quick` otherwise.
pub fn amount(quick: usize, full: usize) -> usize {
    if is_full() { full } else { quick }
}

/// Prints a line even if the test passes, to report how much ran.
pub fn say(line: impl Display) {
    // The test harness captures the printing macros only.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns a size from this process's status in bytes, such as that of its address space, `VmSize`.
///
/// # Panics
///
/// If the system reports no such size.
#[cfg(target_os = "linux")]
pub fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let amount = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kibibytes = amount.and_then(|amount| amount.split_whitespace().next()).expect("an amount");
    kibibytes.parse::<usize>().expect("a number") << 10
}

/// Returns a command that starts this test program again, in the emulator that it runs in. Cargo's
/// settings name the emulator.
///
/// # Panics
///
/// If the system does not know the path of this program.
pub fn this_program() -> Command {
    const EMULATOR: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";
    let program = env::current_exe().expect("the path of this program");
    let emulator = env::var(EMULATOR).ok().filter(|_| cfg!(target_arch = "aarch64"));
    let mut words = emulator.iter().flat_map(|emulator| emulator.split_whitespace());
    let Some(first) = words.next() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(words).arg(program);
    command
}

/// Runs a test in a process of its own, for what a process cannot take back. `name` is the test's path in its program.
/// Returns whether this is that process. The other one repeats its lines about what it skipped.
///
/// # Panics
///
/// If the test fails in that process.
pub fn is_alone(name: &str) -> bool {
    const ALONE: &str = "RANDOMX_TEST_ALONE";
    if env::var_os(ALONE).is_some() {
        return true;
    }
    let mut child = this_program();
    let output = child.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output();
    let output = output.expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
    say_skips(&text);
    false
}

/// Says what a test skipped in a process of its own, which printed this text.
pub fn say_skips(text: &str) {
    let is_skip = |line: &&str| line.to_ascii_lowercase().starts_with("skipped");
    text.lines().filter(is_skip).for_each(say);
}
