//! The versions of all tools that this repository installs.
//!
//! A tool that has a lock file is pinned there; the others are pinned here.
//!
//! | tool                                               | pinned in           |
//! | -------------------------------------------------- | ------------------- |
//! | Rust, at least                                     | `Cargo.toml`        |
//! | Rust for WebAssembly, at least                     | [`RUST_FOR_WASM`]   |
//! | Node.js, a range                                   | `package.json`      |
//! | wasm-bindgen, the crate and the program            | `Cargo.lock`        |
//! | wasm-pack                                          | [`WASM_PACK`]       |
//! | cargo-deny                                         | [`CARGO_DENY`]      |
//! | wasm-opt (binaryen), TypeScript, Vite, Vitest, Playwright, ESLint, Prettier, actionlint, Deno, Bun, a second Node.js | `package-lock.json` |
//! | Node.js in Wine                                    | [`NODE_IN_WINE`]    |
//! | browsers, C tools, `monerod`, dieharder, Python    | Debian's release    |

use std::fs;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// wasm-pack, which no lock file names.
pub(crate) const WASM_PACK: &str = "0.15.1";

/// cargo-deny, which no lock file names.
pub(crate) const CARGO_DENY: &str = "0.20.2";

/// Node.js for Windows in Wine, and the hash of its npm package. Wine 8 lacks system calls of later ones.
pub(crate) const NODE_IN_WINE: [&str; 2] = [
    "22.23.3",
    "sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==",
];

/// The compiler of releases. The workflows name it too. Other compilers make other, equally correct,
/// archives.
pub(crate) const RELEASE_RUST: &str = "1.95.0";

/// The oldest Rust that builds the modules of WebAssembly. Older ones cannot leave out the texts of panics.
pub(crate) const RUST_FOR_WASM: &str = "1.92";

/// Refuses a compiler that is too old for the modules. Versions look like `1.96.0+dfsg1-1` or `1.95.0`.
pub(crate) fn check_for_wasm(compiler: &str, version: &str) -> Result<()> {
    if series(version) < series(RUST_FOR_WASM) {
        bail!("{compiler}: expected {RUST_FOR_WASM} or later for WebAssembly, got {version}");
    }
    Ok(())
}

/// Refuses a Node.js that the tools do not support. Versions look like `v20.19.0`.
pub(crate) fn check_node(version: &str) -> Result<()> {
    let range = node()?;
    if !is_in(&range, version.trim_start_matches('v')) {
        bail!("node: expected {range}, got {version}");
    }
    Ok(())
}

/// Whether a version is in a range, such as `^20.19 || >=24`.
fn is_in(range: &str, version: &str) -> bool {
    let Some(version) = series(version) else { return false };
    range.split("||").map(str::trim).any(|part| {
        let of_series = part.strip_prefix('^').and_then(series);
        let of_all = part.strip_prefix(">=").and_then(series);
        let is_of_series = |oldest: (u32, u32)| version.0 == oldest.0 && version.1 >= oldest.1;
        of_series.is_some_and(is_of_series) || of_all.is_some_and(|oldest| version >= oldest)
    })
}

/// Returns the first two numbers of a version.
fn series(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// The program wasm-bindgen reads what the crate of the same version wrote.
pub(crate) fn wasm_bindgen() -> Result<String> {
    let path = workspace::root().join("Cargo.lock");
    let lock =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    in_lock(&lock, "wasm-bindgen").context("Cargo.lock has no package `wasm-bindgen`")
}

/// The versions of Node.js that run the tools and the package, such as `^20.19 || >=24.0`.
pub(crate) fn node() -> Result<String> {
    in_package("node")
}

/// The version of an npm package that `package.json` names.
pub(crate) fn in_package(name: &str) -> Result<String> {
    let path = workspace::root().join("package.json");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    in_manifest(&text, name)
        .with_context(|| format!("package.json: expected a version, or a range, of `{name}`"))
}

fn in_lock(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next()?.strip_prefix("version = \"")?;
    Some(version.strip_suffix('"')?.to_owned())
}

fn in_manifest(manifest: &str, name: &str) -> Option<String> {
    let (_, range) = manifest.split_once(&format!("\"{name}\": \""))?;
    Some(range.split_once('"')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{RELEASE_RUST, check_for_wasm, check_node, in_lock, in_manifest, is_in, node};
    use crate::workspace;

    #[test]
    fn workflows_use_the_compiler_of_releases() {
        let line = format!("  RUST: \"{RELEASE_RUST}\"\n");
        let folder = fs::read_dir(workspace::root().join(".github/workflows")).expect("a folder");
        let texts: Vec<String> = folder
            .map(|file| fs::read_to_string(file.expect("a file").path()).expect("a workflow"))
            .collect();
        assert_eq!(texts.len(), 3);
        assert!(
            texts.iter().all(|text| text.contains(&line)),
            "every workflow has the line {line}"
        );
    }

    #[test]
    fn old_compilers_are_refused() {
        for version in ["1.92.0", "1.96.0+dfsg1-1~deb12u2", "2.0"] {
            assert!(check_for_wasm("rustc", version).is_ok(), "{version}");
        }
        for version in ["1.85.0+dfsg3", "1.91.1", "rustc"] {
            let error = check_for_wasm("rustc", version).expect_err("an old compiler");
            let expected = format!("rustc: expected 1.92 or later for WebAssembly, got {version}");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_node_that_the_tools_refuse_is_refused() {
        let range = node().expect("package.json");
        for version in ["v20.19.0", "v20.20.1", "v22.13.0", "v22.20.0", "v24.0.0", "v26.10.0"] {
            check_node(version).expect("a supported Node.js");
        }
        let refused =
            ["v18.20.4", "v20.9.0", "v21.7.3", "v22.0.0", "v22.12.0", "v23.11.0", "nonsense"];
        for version in refused {
            let error = check_node(version).expect_err("an unsupported Node.js");
            assert_eq!(error.to_string(), format!("node: expected {range}, got {version}"));
        }
    }

    #[test]
    fn ranges_of_other_forms_contain_nothing() {
        assert!(is_in(">=20.19", "21.0.0") && !is_in("20.19", "20.19.0") && !is_in("", "20.19.0"));
    }

    /// ESLint, Vite and Vitest start in fewer versions than the other tools.
    #[test]
    fn the_range_of_node_is_that_of_the_tools() {
        let file = workspace::root().join("package-lock.json");
        let text = fs::read_to_string(file).expect("a file");
        let lock: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let engines = |package: &str| {
            lock["packages"][package]["engines"]["node"].as_str().expect("a range").to_owned()
        };
        assert_eq!(engines(""), node().expect("package.json"));
        for tool in ["eslint", "vite", "vitest"] {
            let range = engines(&format!("node_modules/{tool}"));
            for version in ["20.19", "20.20", "22.13", "22.20", "24.0", "26.10"] {
                assert!(is_in(&completed(&range), version), "{tool}: {range}, {version}");
            }
        }
    }

    /// Returns a range whose versions have two numbers or more.
    fn completed(range: &str) -> String {
        let part =
            |part: &str| if part.contains('.') { part.to_owned() } else { format!("{part}.0") };
        range.split("||").map(|one| part(one.trim())).collect::<Vec<_>>().join(" || ")
    }

    #[test]
    fn reads_a_version_from_a_lock_file() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.129\"\n";
        assert_eq!(in_lock(lock, "wasm-bindgen").as_deref(), Some("0.2.129"));
        assert_eq!(in_lock(lock, "wasm"), None);
    }

    #[test]
    fn reads_a_version_from_a_manifest() {
        let manifest = "{ \"engines\": { \"node\": \"^20.19.0 || >=24.0\" } }";
        assert_eq!(in_manifest(manifest, "node").as_deref(), Some("^20.19.0 || >=24.0"));
        assert_eq!(in_manifest("{}", "node"), None);
    }
}
