//! The program between Cargo and the compiler, with a shell as the compiler.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const BUILD: &str = "dep-info,metadata,link";
const CHECK: &str = "dep-info,metadata";

/// Runs the wrapper for a library whose files have a suffix. The compiler runs `script` in the folder of these files.
fn run(deps: &Path, emit: &str, suffix: &str, script: &str) -> Output {
    let mut wrapper = Command::new(env!("CARGO_BIN_EXE_xtask"));
    wrapper.env("RANDOMX_XTASK_WRAPS", "rustc 1").env_remove("OUT_DIR").current_dir(deps);
    // The script is no option: each command has another.
    wrapper.env("SCRIPT", script).args(["sh", "-c", "eval \"$SCRIPT\""]);
    wrapper.args(["--crate-name", "one", "registry/src/one-1.0.0/lib.rs"]);
    wrapper.args(["--crate-type", "lib", &format!("--emit={emit}"), "--cap-lints", "allow"]);
    wrapper.args(["-C", &format!("extra-filename={suffix}"), "--out-dir"]).arg(deps);
    wrapper.output().expect("the wrapper")
}

#[test]
fn only_what_the_compiler_has_finished_is_taken() {
    let work = tempfile::tempdir().expect("a folder");
    let deps = work.path().join("deps");
    fs::create_dir(&deps).expect("a folder");
    let is_taken = || match run(&deps, CHECK, "-b", "exit 3").status.code() {
        Some(0) => true,
        Some(3) => false,
        code => panic!("{code:?}"),
    };

    let failed = run(&deps, BUILD, "-a", "touch one-a.d libone-a.rmeta; exit 7");
    assert_eq!(failed.status.code(), Some(7));
    assert!(!is_taken());

    let killed = run(&deps, BUILD, "-a", "touch one-a.d libone-a.rmeta; kill -KILL $$");
    assert_eq!(killed.status.code(), Some(1));
    let text = String::from_utf8_lossy(&killed.stderr);
    assert!(text.contains("the compiler ended with signal: 9"), "{text}");
    assert!(!is_taken());

    let built = run(&deps, BUILD, "-a", "echo list > one-a.d; echo metadata > libone-a.rmeta");
    assert_eq!(built.status.code(), Some(0), "{}", String::from_utf8_lossy(&built.stderr));
    assert!(is_taken());
    assert_eq!(fs::read_to_string(deps.join("libone-b.rmeta")).expect("a file"), "metadata\n");
    assert_eq!(fs::read_to_string(deps.join("one-b.d")).expect("a file"), "list\n");
}
