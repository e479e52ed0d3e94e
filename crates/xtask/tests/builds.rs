//! Commands that use what Cargo builds, with a Cargo that builds nothing. A target in Cargo's settings has the same
//! effect: Cargo writes into another folder.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::{env, iter};

/// Writes a program that does nothing.
fn write_idle(program: &Path) {
    fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
    fs::write(program, "#!/bin/sh\n").expect("a program");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("a program");
}

/// Fails if a command uses a file of the build folder that an earlier build wrote.
fn assert_uses_none(arguments: &[&str], earlier: &str) {
    let work = tempfile::tempdir().expect("a folder");
    let (programs, target) = (work.path().join("programs"), work.path().join("target"));
    // The command would install the tools that are missing.
    for name in ["cargo", "cmake", "c++"] {
        write_idle(&programs.join(name));
    }
    write_idle(&target.join(earlier));
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(iter::once(programs).chain(env::split_paths(&path)));

    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.current_dir(work.path()).args(arguments);
    command.env("PATH", path.expect("folders")).env("CARGO_TARGET_DIR", &target);
    let output = command.output().expect("the command");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let expected = format!("{}: expected Cargo to write it", target.join(earlier).display());
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn the_c_library_is_not_that_of_an_earlier_build() {
    assert_uses_none(&["capi", "--prefix", "installed"], "release/librandomx.a");
}

#[test]
fn fuzz_targets_are_not_those_of_an_earlier_build() {
    assert_uses_none(&["fuzz", "--seconds", "1"], "fuzzing/fuzz/corpus");
}
