//! The folder in which Wine keeps a Windows for the tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::super::{announce, lock};
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

/// Names the content of the folder. A folder of another revision is replaced.
const REVISION: &str = "1";

/// Whether the folder exists.
pub(super) fn is_installed(cache: &Path) -> bool {
    fs::read_to_string(revision(cache)).is_ok_and(|found| found == REVISION)
}

/// Makes the folder unless it was done before, and returns the variables that Wine reads.
pub(super) fn environment(cache: &Path) -> Result<Vec<(&'static str, OsString)>> {
    lock::once(cache, "wine", || is_installed(cache).then_some(()), || make(cache))?;
    Ok(variables(&folder(cache)))
}

/// Makes the folder anew.
fn make(cache: &Path) -> Result<()> {
    announce("a folder for Wine (about 30 seconds)");
    let prefix = folder(cache);
    process::remove_dir(&prefix)?;
    fs::create_dir_all(&prefix).with_context(|| format!("cannot create {}", prefix.display()))?;
    let mut boot = process::command("wine");
    boot.envs(variables(&prefix)).args(["wineboot", "--init"]);
    process::run_logged(&mut boot, &cache.join("logs/wine.log"))?;
    add_process_prng(&prefix)?;
    fs::write(revision(cache), REVISION)
        .with_context(|| format!("cannot write {}", revision(cache).display()))
}

fn folder(cache: &Path) -> PathBuf {
    cache.join("wine")
}

/// The file that names the folder's content.
fn revision(cache: &Path) -> PathBuf {
    folder(cache).join("revision")
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

fn add_process_prng(prefix: &Path) -> Result<()> {
    let libraries = prefix.join("drive_c/windows/system32");
    let source = prefix.join("process_prng.c");
    if libraries.join(LIBRARY).exists() {
        return Ok(());
    }
    fs::write(&source, PROCESS_PRNG)?;
    let mut compile = process::command("x86_64-w64-mingw32-gcc");
    compile.args(["-shared", "-O2", "-o"]).arg(libraries.join(LIBRARY)).arg(&source);
    process::run(compile.arg("-ladvapi32"))
}
