//! `cargo xtask capi`: installs librandomx, that is libraries, header and pkg-config file.

mod emscripten;
mod native;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{output, workspace};

/// Options of `cargo xtask capi`.
#[derive(Args)]
pub(crate) struct CapiArgs {
    /// The folder to install into; it is created if it does not exist.
    #[arg(long)]
    prefix: PathBuf,
    /// Build a static library for `emcc` instead of native ones.
    #[arg(long)]
    emscripten: bool,
    /// The profile of Cargo.toml to build with.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Build nothing: install what `cargo test` with this profile has built.
    #[arg(long, value_name = "PROFILE", hide = true)]
    tested: Option<String>,
}

/// Builds and installs the library.
pub(crate) fn capi(args: &CapiArgs) -> Result<()> {
    let prefix = std::path::absolute(&args.prefix).context("--prefix: expected a usable path")?;
    // Checked first: the build takes minutes.
    let escaped = escape(&prefix)?;
    let built = match &args.tested {
        Some(profile) => native::tested(profile)?,
        None if args.emscripten => emscripten::build(&args.profile)?,
        None => native::build(&args.profile)?,
    };
    install(&built, &prefix, &escaped)?;
    output::line(format_args!("librandomx is in {}", prefix.display()));
    Ok(())
}

/// Returns the name of the folder in which Cargo puts what it builds in a profile.
fn folder_of(profile: &str) -> &str {
    match profile {
        "dev" | "test" => "debug",
        "bench" => "release",
        other => other,
    }
}

/// The files of a build.
struct Built {
    /// The static library.
    archive: PathBuf,
    /// The shared library, on systems where one is built.
    shared: Option<PathBuf>,
    /// The linker's options for programs that link the static library.
    private_libraries: &'static str,
}

/// Copies the files to `prefix`. `escaped` is the same path in the syntax of pkg-config files.
fn install(built: &Built, prefix: &Path, escaped: &str) -> Result<()> {
    let lib = prefix.join("lib");
    copy(&source("include/randomx.h"), &prefix.join("include/randomx.h"))?;
    copy(&built.archive, &lib.join("librandomx.a"))?;
    if let Some(shared) = &built.shared {
        let version = env!("CARGO_PKG_VERSION");
        let major = env!("CARGO_PKG_VERSION_MAJOR");
        let full = format!("librandomx.so.{version}");
        copy(shared, &lib.join(&full))?;
        link(&full, &lib.join(format!("librandomx.so.{major}")))?;
        link(&full, &lib.join("librandomx.so"))?;
    }
    let template = source("randomx.pc.in");
    let text = fs::read_to_string(&template)
        .with_context(|| format!("cannot read {}", template.display()))?;
    let text = text
        .replace("@prefix@", escaped)
        .replace("@version@", env!("CARGO_PKG_VERSION"))
        .replace("@private_libraries@", built.private_libraries);
    write(&lib.join("pkgconfig/randomx.pc"), &text)
}

/// Escapes a prefix for a pkg-config file.
fn escape(prefix: &Path) -> Result<String> {
    // In pkg-config's flags, `$` and control characters change their meaning even if they are escaped.
    let is_inexpressible = |character: char| character == '$' || character.is_control();
    let Some(text) = prefix.to_str().filter(|text| !text.contains(is_inexpressible)) else {
        bail!("--prefix: expected UTF-8 without `$` and control characters, got {prefix:?}");
    };
    let mut escaped = String::new();
    for character in text.chars() {
        if matches!(character, ' ' | '\'' | '"' | '\\' | '#') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    Ok(escaped)
}

/// Returns the path of a file of the crate.
fn source(path: &str) -> PathBuf {
    workspace::root().join("crates/capi").join(path)
}

/// Copies a file. A program that has mapped the old file keeps it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    make_room(to)?;
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn write(to: &Path, text: &str) -> Result<()> {
    make_room(to)?;
    fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))
}

#[cfg(unix)]
fn link(name: &str, at: &Path) -> Result<()> {
    make_room(at)?;
    std::os::unix::fs::symlink(name, at)
        .with_context(|| format!("cannot create the link {}", at.display()))
}

#[cfg(not(unix))]
fn link(_: &str, at: &Path) -> Result<()> {
    anyhow::bail!("cannot create the link {}: this system has no symbolic links", at.display())
}

/// Creates the folder of a file, and removes an older file of that name.
fn make_room(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot replace {}", file.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_profiles_are_those_of_cargo() {
        let folders = ["dev", "test", "release", "bench", "checked"].map(folder_of);
        assert_eq!(folders, ["debug", "debug", "release", "release", "checked"]);
    }

    #[test]
    fn a_prefix_is_escaped_for_pkg_config() {
        let escaped = |prefix: &str| escape(Path::new(prefix)).expect("a usable prefix");
        assert_eq!(escaped("/usr/local"), "/usr/local");
        assert_eq!(escaped("/home/é/my libraries"), "/home/é/my\\ libraries");
        assert_eq!(escaped(r#"/a'b"c\d#e"#), r#"/a\'b\"c\\d\#e"#);
        for prefix in ["/a$b", "/a\tb", "/a\nb"] {
            let error = escape(Path::new(prefix)).expect_err("an unusable prefix").to_string();
            assert!(error.starts_with("--prefix: expected "), "{error}");
            assert!(error.ends_with(&format!("{prefix:?}")), "{error}");
        }
    }
}
