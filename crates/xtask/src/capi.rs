//! `cargo xtask capi`: installs librandomx, that is libraries, header and pkg-config file.

mod emscripten;
mod native;

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::replace::replace;
use crate::{output, workspace};

/// Options of `cargo xtask capi`.
#[derive(Args)]
pub(crate) struct CapiArgs {
    /// The folder to install into; it is created if it does not exist. If the variable DESTDIR is set, the files are
    /// written below that folder instead, at the prefix's path, from where a package or root copies them.
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
    let prefix = absolute(&args.prefix).context("--prefix: expected a usable path")?;
    // Checked first: the build takes minutes.
    let escaped = escape(&prefix)?;
    let place = match workspace::non_empty("DESTDIR") {
        Some(folder) => below(&folder, &prefix)?,
        None => prefix,
    };
    assert_writable(&place)?;
    let built = match &args.tested {
        Some(profile) => native::tested(profile)?,
        None if args.emscripten => emscripten::build(&args.profile)?,
        None => native::build(&args.profile)?,
    };
    install(&built, &place, &escaped)?;
    output::line(format_args!("librandomx is in {}", place.display()));
    Ok(())
}

/// Returns a path that the user gave, from the root of the file system and without `.`.
fn absolute(path: &Path) -> Result<PathBuf> {
    // An empty path is none, and not the user's folder.
    ensure!(!path.as_os_str().is_empty(), "it is empty");
    Ok(std::path::absolute(workspace::here(path)?)?)
}

/// Returns the path of a prefix below the folder of DESTDIR.
fn below(folder: &Path, prefix: &Path) -> Result<PathBuf> {
    let parts = prefix.components().filter(|part| matches!(part, Component::Normal(_)));
    let folder = absolute(folder).context("DESTDIR: expected a usable path")?;
    Ok(folder.join(parts.collect::<PathBuf>()))
}

/// Fails if a folder for the files cannot be created or takes none.
fn assert_writable(place: &Path) -> Result<()> {
    for folder in ["include", "lib/pkgconfig"] {
        let probe = place.join(folder).join(".randomx-probe");
        write(&probe, "").and_then(|()| Ok(fs::remove_file(&probe)?)).with_context(|| {
            format!(
                "cannot write to {}: choose another --prefix, or set DESTDIR to a folder of yours, from which root \
                 copies the files",
                place.display()
            )
        })?;
    }
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
    shared: Option<Shared>,
    /// The linker's options for programs that link the static library.
    private_libraries: &'static str,
}

/// A shared library.
struct Shared {
    file: PathBuf,
    /// The name under which the dynamic linker looks for it.
    soname: String,
}

/// Copies the files to `place`. `escaped` is the prefix in the syntax of pkg-config files.
fn install(built: &Built, place: &Path, escaped: &str) -> Result<()> {
    let lib = place.join("lib");
    copy(&source("include/randomx.h"), &place.join("include/randomx.h"))?;
    copy(&built.archive, &lib.join("librandomx.a"))?;
    if let Some(Shared { file, soname }) = &built.shared {
        let full = concat!("librandomx.so.", env!("CARGO_PKG_VERSION"));
        copy(file, &lib.join(full))?;
        link(full, &lib.join(soname))?;
        link(full, &lib.join("librandomx.so"))?;
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

/// Copies a file.
fn copy(from: &Path, to: &Path) -> Result<()> {
    replace(to, |fresh| fs::copy(from, fresh).map(drop))
        .with_context(|| format!("cannot copy {}", from.display()))
}

fn write(to: &Path, text: &str) -> Result<()> {
    replace(to, |fresh| fs::write(fresh, text))
}

#[cfg(unix)]
fn link(name: &str, at: &Path) -> Result<()> {
    replace(at, |fresh| std::os::unix::fs::symlink(name, fresh))
}

#[cfg(not(unix))]
fn link(_: &str, at: &Path) -> Result<()> {
    anyhow::bail!("cannot create the link {}: this system has no symbolic links", at.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_copied_leaves_the_older_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("lib/to"));
        fs::write(&from, "old").expect("written");
        copy(&from, &to).expect("copied");
        fs::remove_file(&from).expect("removed");
        let error = copy(&from, &to).expect_err("nothing to copy").to_string();
        assert_eq!(error, format!("cannot copy {}", from.display()));
        fs::write(&from, "new").expect("written");
        let before = fs::read_to_string(&to).expect("a file");
        copy(&from, &to).expect("copied");
        let after = fs::read_to_string(&to).expect("a file");
        assert_eq!([before, after], ["old", "new"]);
        assert_eq!(fs::read_dir(folder.path().join("lib")).expect("a folder").count(), 1);
    }

    #[test]
    fn a_folder_that_takes_no_files_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let prefix = folder.path().join("file");
        fs::write(&prefix, "").expect("written");
        let error = format!("{:#}", assert_writable(&prefix).expect_err("no folder"));
        assert!(error.starts_with("cannot write to ") && error.contains(" --prefix, "), "{error}");
        let prefix = folder.path().join("a/b");
        assert_writable(&prefix).expect("a new folder");
        assert_eq!(fs::read_dir(prefix.join("include")).expect("a folder").count(), 0);
    }

    #[test]
    #[cfg(unix)]
    fn the_prefix_is_appended_to_destdir() {
        let place = |folder, prefix| below(Path::new(folder), Path::new(prefix)).expect("a path");
        assert_eq!(place("/stage", "/usr/local"), Path::new("/stage/usr/local"));
        assert!(place("stage", "/usr").ends_with("stage/usr"));
    }

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
