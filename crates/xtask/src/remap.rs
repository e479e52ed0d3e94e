//! Compiler flags that keep this machine's paths out of what is built.

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

    use super::{config, flags};

    #[test]
    fn flags_name_the_repository_and_the_compiler() {
        let flags = flags(Path::new("/compiler")).expect("flags");
        assert!(flags[0].ends_with("=/source"), "{}", flags[0]);
        assert!(
            flags.contains(&"--remap-path-prefix=/compiler/lib/rustlib/src/rust=/rustc".to_owned())
        );
        let config = config("wasm32-unknown-unknown", &flags[..1]);
        assert!(
            config.starts_with("target.wasm32-unknown-unknown.rustflags=[\"--remap"),
            "{config}"
        );
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
