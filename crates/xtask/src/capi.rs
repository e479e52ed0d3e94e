//! librandomx as it is installed: libraries, header and pkg-config file below one folder.

mod emscripten;
mod native;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::workspace;

/// Build the C library and install it below a folder.
#[derive(Args)]
pub(crate) struct CapiArgs {
    /// Where to install; the folder is made if it is not there.
    #[arg(long)]
    prefix: PathBuf,
    /// Build a static library for `emcc` instead of native ones.
    #[arg(long)]
    emscripten: bool,
    /// The profile of Cargo.toml to build in.
    #[arg(long, default_value = "release")]
    profile: String,
}

/// Builds and installs.
pub(crate) fn capi(args: &CapiArgs) -> Result<()> {
    let prefix = std::path::absolute(&args.prefix).context("--prefix is not a usable path")?;
    let built = match args.emscripten {
        true => emscripten::build(&args.profile)?,
        false => native::build(&args.profile)?,
    };
    install(&built, &prefix)?;
    println!("librandomx is in {}", prefix.display());
    Ok(())
}

/// What a build has made.
struct Built {
    /// The static library.
    archive: PathBuf,
    /// The shared one, where there is one.
    shared: Option<PathBuf>,
    /// What a program needs that links the static one.
    private_libraries: &'static str,
}

fn install(built: &Built, prefix: &Path) -> Result<()> {
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
        .replace("@prefix@", &prefix.display().to_string())
        .replace("@version@", env!("CARGO_PKG_VERSION"))
        .replace("@private_libraries@", built.private_libraries);
    write(&lib.join("pkgconfig/randomx.pc"), &text)
}

/// A file of the crate.
fn source(path: &str) -> PathBuf {
    workspace::root().join("crates/capi").join(path)
}

/// Copies a file so that a program which has the old one mapped keeps it.
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
        .with_context(|| format!("cannot make the link {}", at.display()))
}

#[cfg(not(unix))]
fn link(_: &str, at: &Path) -> Result<()> {
    anyhow::bail!("cannot make the link {}: this system has no such links", at.display())
}

/// Makes the folder of a file, and removes an older file.
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
