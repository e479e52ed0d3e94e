//! The store of a process that forks.

#![cfg(unix)]

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use randomx_client::Store;

/// A forked process has the lock's file open until it executes a program.
#[test]
#[expect(unsafe_code, reason = "runs code between fork and exec")]
fn a_store_that_is_closed_is_free_although_a_forked_process_has_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Store::open(folder.path()).map(drop).map_err(|problem| problem.to_string());
    let store = Store::open(folder.path()).expect("a store");
    let (mut forked, mut tell) = io::pipe().expect("a pipe");
    let (mut wait, mut end) = io::pipe().expect("a pipe");
    let mut child = Command::new("true");
    let stay = move || {
        tell.write_all(b"x")?;
        wait.read_exact(&mut [0])
    };
    // SAFETY: the closure writes and reads one byte, which is allowed between fork and exec.
    unsafe { child.pre_exec(stay) };
    let child = thread::spawn(move || child.status());
    forked.read_exact(&mut [0]).expect("a forked process");
    let before = open();
    drop(store);
    let after = open();
    end.write_all(b"x").expect("a forked process");
    assert!(child.join().expect("a thread").expect("a program").success());
    assert!(before.expect_err("a locked folder").ends_with("another process uses this folder"));
    assert_eq!(after, Ok(()));
}
