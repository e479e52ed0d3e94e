//! The folder in which Wine keeps a Windows for the tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::super::announce;
use super::super::lock::{self, Held};
use crate::process;

/// Rust's programs take random numbers from this function, which Wine has from version 9 on; Debian's
/// is older. It is in a library of its own.
const PROCESS_PRNG: &str = "\
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    while (length > 0) {
        ULONG part = length > 1 << 20 ? 1 << 20 : (ULONG)length;
        if (!RtlGenRandom(data, part))
            return FALSE;
        data += part;
        length -= part;
    }
    return TRUE;
}
";

/// Its name.
const LIBRARY: &str = "bcryptprimitives.dll";

/// The folder in the cache. Its number goes up when its content changes, so that clones of other revisions keep theirs.
const FOLDER: &str = "wine-2";

/// Whether the folder is complete.
pub(super) fn is_installed(cache: &Path) -> bool {
    mark(cache).is_file()
}

/// Makes the folder unless it was done before, and returns the variables that Wine reads.
pub(super) fn environment(cache: &Path) -> Result<Vec<(&'static str, OsString)>> {
    let is_there = || is_installed(cache).then_some(());
    lock::once(cache, "wine", is_there, |held| make(cache, held))?;
    Ok(variables(&folder(cache)))
}

/// Makes the folder anew.
fn make(cache: &Path, held: &Held) -> Result<()> {
    announce("a folder for Wine (about 30 seconds)");
    let prefix = folder(cache);
    process::remove_dir(&prefix)?;
    fs::create_dir_all(&prefix).with_context(|| format!("cannot create {}", prefix.display()))?;
    let mut boot = process::command("wine");
    boot.envs(variables(&prefix)).args(["wineboot", "--init"]);
    held.run_logged(&mut boot, &cache.join("logs/wine.log"))?;
    add_process_prng(&prefix, held)?;
    fs::write(mark(cache), "").with_context(|| format!("cannot write {}", mark(cache).display()))
}

fn folder(cache: &Path) -> PathBuf {
    cache.join(FOLDER)
}

/// The file that marks a complete folder.
fn mark(cache: &Path) -> PathBuf {
    folder(cache).join("complete")
}

fn variables(prefix: &Path) -> Vec<(&'static str, OsString)> {
    vec![
        ("WINEPREFIX", prefix.into()),
        // Messages about what Wine lacks would be on the programs' stderr.
        ("WINEDEBUG", "-all".into()),
        // Otherwise Wine offers to download these, and nothing here uses them.
        ("WINEDLLOVERRIDES", "mscoree,mshtml=".into()),
    ]
}

fn add_process_prng(prefix: &Path, held: &Held) -> Result<()> {
    let libraries = prefix.join("drive_c/windows/system32");
    let source = prefix.join("process_prng.c");
    if libraries.join(LIBRARY).exists() {
        return Ok(());
    }
    fs::write(&source, PROCESS_PRNG)?;
    let mut compile = process::command("x86_64-w64-mingw32-gcc");
    compile.args(["-shared", "-O2", "-o"]).arg(libraries.join(LIBRARY)).arg(&source);
    process::run(compile.arg("-ladvapi32").stdin(held.stdin()?))
}
