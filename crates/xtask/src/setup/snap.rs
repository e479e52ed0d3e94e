//! Browsers that are snaps. They cannot read the profiles of tests, which are in the system's folder of temporary files.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::process;

/// Returns the first of the programs that is on `PATH`, unless it is a snap's.
pub(super) fn find_other(names: &[&str]) -> Option<PathBuf> {
    let mut found = names.iter().filter_map(|name| process::find(name));
    found.find(|program| !starts_a_snap(program))
}

/// Whether a program is a snap's, or a script that starts one, such as Ubuntu's `/usr/bin/firefox`.
fn starts_a_snap(program: &Path) -> bool {
    let program = fs::canonicalize(program).unwrap_or_default();
    let mut start = Vec::new();
    let is_read = File::open(&program).and_then(|file| file.take(4096).read_to_end(&mut start));
    let is_script = is_read.is_ok() && start.starts_with(b"#!");
    program.starts_with("/snap")
        || program.ends_with("bin/snap")
        || (is_script && String::from_utf8_lossy(&start).contains("/snap/bin/"))
}

#[test]
fn scripts_that_start_a_snap_are_no_browsers() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts = |text: &str| {
        let script = folder.path().join("firefox");
        fs::write(&script, text).expect("written");
        starts_a_snap(&script)
    };
    assert!(starts("#!/bin/sh\nexec /snap/bin/firefox \"$@\"\n"));
    assert!(!starts("#!/bin/sh\nexec /usr/lib/firefox-esr/firefox-esr \"$@\"\n"));
    assert!(!starts("\x7fELF /snap/bin/firefox"));
    assert!(!starts_a_snap(Path::new("/nowhere/firefox")));
}
