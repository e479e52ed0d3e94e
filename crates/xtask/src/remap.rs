//! Compiler flags that keep this machine's paths, and the time, out of what is built.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace;

/// Returns flags for `rustc`, for a compiler with this `sysroot`. Messages of panics contain paths of
/// source files. With these flags the same sources have the same paths on every machine.
pub(crate) fn flags(sysroot: &Path) -> Result<Vec<String>> {
    // The last prefix that fits wins, so folders inside others come later.
    let prefixes = [
        (workspace::root(), "/source"),
        (workspace::target_dir(), "/target"),
        (cargo_home()?.join("registry/src"), "/crates"),
        (sysroot.join("lib/rustlib/src/rust"), "/rustc"),
    ];
    let flag = |(from, to): (PathBuf, &str)| {
        let from = from.to_str().context("a folder's name is not Unicode")?;
        Ok(format!("--remap-path-prefix={from}={to}"))
    };
    prefixes.into_iter().map(flag).collect()
}

/// Returns [`flags`] for native programs on the target `host`.
pub(crate) fn native_flags(sysroot: &Path, host: &str) -> Result<Vec<String>> {
    let mut flags = flags(sysroot)?;
    if host.ends_with("-msvc") {
        // Otherwise Microsoft's linker writes the current time into programs, whatever `SOURCE_DATE_EPOCH` says.
        flags.push("-Clink-arg=/Brepro".to_owned());
    }
    Ok(flags)
}

/// Returns the folder of Cargo's downloads.
pub(crate) fn cargo_home() -> Result<PathBuf> {
    match env::var_os("CARGO_HOME") {
        Some(chosen) => Ok(chosen.into()),
        None => Ok(env::home_dir().context("no home folder: set CARGO_HOME")?.join(".cargo")),
    }
}

/// Returns the argument `--config` that adds flags to those in `.cargo/config.toml` for a target.
pub(crate) fn config(target: &str, flags: &[String]) -> String {
    let strings: Vec<String> = flags.iter().map(|flag| toml_string(flag)).collect();
    format!("target.{target}.rustflags=[{}]", strings.join(", "))
}

/// Returns a text as a string in TOML. Rust's form of a string escapes more characters, in a way that TOML does not
/// know.
fn toml_string(text: &str) -> String {
    let mut string = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => string.extend(['\\', character]),
            _ if character.is_ascii_control() => {
                string += &format!("\\u{:04X}", u32::from(character));
            }
            _ => string.push(character),
        }
    }
    string.push('"');
    string
}

/// Makes a release build of cargo one to publish: without symbols, and with flags that keep paths out.
pub(crate) fn published<'a>(cargo: &'a mut Command, flags: &[String]) -> &'a mut Command {
    cargo.args(["--config", "profile.release.strip='symbols'"]);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", encoded(flags))
}

/// Returns flags in the form of `CARGO_ENCODED_RUSTFLAGS`.
pub(crate) fn encoded(flags: &[String]) -> String {
    flags.join("\x1f")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{config, flags, native_flags};

    #[test]
    fn flags_name_the_repository_and_the_compiler() {
        let compiler = Path::new("/compiler");
        let flags = flags(compiler).expect("flags");
        assert!(flags[0].ends_with("=/source"), "{}", flags[0]);
        let sources = compiler.join("lib/rustlib/src/rust");
        assert!(flags.contains(&format!("--remap-path-prefix={}=/rustc", sources.display())));
        let config = config("wasm32-unknown-unknown", &flags[..1]);
        assert!(
            config.starts_with("target.wasm32-unknown-unknown.rustflags=[\"--remap"),
            "{config}"
        );
    }

    #[test]
    fn microsofts_linker_writes_no_time() {
        let further = |host| {
            let all = native_flags(Path::new("/compiler"), host).expect("flags");
            let common = flags(Path::new("/compiler")).expect("flags");
            all.strip_prefix(common.as_slice()).expect("the same flags, and others").to_vec()
        };
        for host in ["x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc"] {
            assert_eq!(further(host), ["-Clink-arg=/Brepro"]);
        }
        for host in ["x86_64-pc-windows-gnu", "aarch64-apple-darwin", "x86_64-unknown-linux-gnu"] {
            assert!(further(host).is_empty(), "{host}");
        }
    }

    #[test]
    fn flags_may_contain_quotation_marks() {
        let flags = [r#"--remap-path-prefix=/it's "here"\and there=/source"#.to_owned()];
        assert_eq!(
            config("wasm32-unknown-unknown", &flags),
            r#"target.wasm32-unknown-unknown.rustflags=["--remap-path-prefix=/it's \"here\"\\and there=/source"]"#
        );
    }

    #[test]
    fn flags_may_contain_any_character() {
        // A combining accent, a Thai vowel sign, a no-break space, and characters that TOML forbids.
        let paths = ["/e\u{301}", "/\u{e01}\u{e31}", "/a\u{a0}b", "/tab\there", "/del\u{7f}"];
        assert_eq!(
            config("wasm32-unknown-unknown", &paths.map(str::to_owned)),
            "target.wasm32-unknown-unknown.rustflags=[\"/e\u{301}\", \"/\u{e01}\u{e31}\", \"/a\u{a0}b\", \
             \"/tab\\u0009here\", \"/del\\u007F\"]"
        );
    }
}
