//! `cargo xtask dist`: the archives of the programs and of the native add-on for each system that this machine can
//! build for.
//!
//! They are those of `cargo xtask release`, which builds only for this system, but everything, twice and in
//! different folders.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::builder::Builder;
use crate::release::packing::Packing;
use crate::release::{self, Commit, addons, archives, programs};
use crate::setup::{self, Foreign};
use crate::{addon, build, output, process, workspace};

/// Options of `cargo xtask dist`.
#[derive(Args)]
pub(crate) struct DistArgs {
    /// The folder for the archives; it is created if it does not exist. Other archives there stay, and are listed too.
    /// By default `target/dist`, or `target/dist-dirty` for uncommitted changes.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Build only for this target, such as `x86_64-pc-windows-gnu`. May be repeated.
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,

    /// Build uncommitted changes too; such archives are not for others.
    #[arg(long)]
    dirty: bool,
}

/// The targets of other systems for which Debian packages a linker and an emulator.
const FOREIGN: [&Foreign; 2] = [&setup::ARM64, &setup::WINDOWS];

/// The machines on which Debian does: the emulator of Windows runs code of this processor only.
const HOST_OF_FOREIGN: &str = "x86_64-unknown-linux-gnu";

/// Builds, tries and writes the archives.
pub(crate) fn dist(args: &DistArgs) -> Result<()> {
    let host = build::host()?;
    let targets = choose(&host, &args.target)?;
    setup::packages()?;
    let output = release::folder(args.output.as_deref(), "dist", args.dirty)?;
    // Two runs would remove each other's archives.
    setup::alone(&workspace::lock_dir(), "dist", |_| {
        build_alone(&host, &targets, args.dirty, &output)
    })
}

/// Builds for each of the targets while no other run does.
fn build_alone(host: &str, targets: &[String], dirty: bool, output: &Path) -> Result<()> {
    let work = workspace::target_dir().join("dist-unfinished");
    process::remove_dir(&work)?;
    let [packed, unpacked] = ["packed", "unpacked"].map(|name| work.join(name));
    fs::create_dir_all(&packed).with_context(|| format!("cannot create {}", packed.display()))?;
    let private = archives::private_paths()?;
    // Builds take minutes, and a tool that cannot be installed is noticed before the first.
    let builders: Vec<Builder> =
        targets.iter().map(|target| builder(host, target)).collect::<Result<_>>()?;
    for_each(&builders, &workspace::root(), dirty, |builder, commit| {
        let target = builder.target();
        output::line(format_args!("dist: building for {target}"));
        let packing = Packing { commit: &commit.time, output: &packed, private: &private };
        if addon::is_possible_for(target) {
            let archive = addons::pack(builder, &packing)?;
            addons::check(builder, &archive, &unpacked.join("addons").join(target))?;
        }
        let archive = programs::pack(builder, &packing)?;
        programs::check(builder, &archive, &unpacked.join("programs").join(target))
    })?;
    archives::publish(&packed, output)?;
    process::remove_dir(&work)?;
    output::line(format_args!("dist: the archives are in {}", output.display()));
    Ok(())
}

/// Returns what builds for a target, after installing what that needs.
fn builder(host: &str, target: &str) -> Result<Builder> {
    match FOREIGN.into_iter().find(|foreign| foreign.target == target) {
        Some(foreign) if target != host => Builder::foreign(foreign).with_context(|| {
            format!(
                "cannot build for {target}; to build for this system only, add `-- --target {host}`"
            )
        }),
        _ => Builder::native(),
    }
}

/// Calls `build` with each of the builders and the last commit of the repository. Builds take minutes, so each of them
/// fails if the files do not stay those of the commit, unless they may differ.
fn for_each<B>(
    builders: &[B],
    root: &Path,
    dirty: bool,
    mut build: impl FnMut(&B, &Commit) -> Result<()>,
) -> Result<()> {
    let commit = release::last_commit(root, dirty)?;
    for builder in builders {
        build(builder, &commit)?;
        if !dirty {
            release::assert_is_last(root, &commit)?;
        }
    }
    Ok(())
}

/// Returns the targets that this machine can build for, or those of them that were asked for.
fn choose(host: &str, asked: &[String]) -> Result<Vec<String>> {
    let mut possible = vec![host.to_owned()];
    if host == HOST_OF_FOREIGN {
        possible.extend(FOREIGN.map(|foreign| foreign.target.to_owned()));
    }
    if let Some(other) = asked.iter().find(|target| !possible.contains(target)) {
        bail!("--target: expected {}, got {other}", possible.join(", "));
    }
    possible.retain(|target| asked.is_empty() || asked.contains(target));
    Ok(possible)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{HOST_OF_FOREIGN, choose, for_each};
    use crate::release::tests::git;

    #[test]
    fn changes_during_a_build_are_noticed() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        git(root, &["init", "--quiet"]);
        git(root, &["commit", "--quiet", "--allow-empty", "--message", "a"]);
        let targets = ["first", "second", "third"];
        let built_until = |dirty, last| {
            let mut built = 0;
            let done = for_each(&targets, root, dirty, |&target, _| {
                built += 1;
                if target == last { Ok(fs::write(root.join("file"), "")?) } else { Ok(()) }
            });
            (built, done.map_err(|error| error.to_string()))
        };
        assert_eq!(built_until(false, "none"), (3, Ok(())));
        for (count, last) in [(2, "second"), (3, "third")] {
            let (built, done) = built_until(false, last);
            assert_eq!(built, count);
            let error = done.expect_err("another file");
            assert!(error.ends_with("these files differ:\n?? file\n"), "{error}");
            fs::remove_file(root.join("file")).expect("removed");
        }
        assert_eq!(built_until(true, "first"), (3, Ok(())));
    }

    #[test]
    fn all_targets_or_those_that_were_asked_for() {
        let [arm64, windows] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"];
        let chosen = |host, asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(|&target| target.to_owned()).collect();
            choose(host, &asked)
        };
        let all = chosen(HOST_OF_FOREIGN, &[]).expect("targets");
        assert_eq!(all, [HOST_OF_FOREIGN, arm64, windows]);
        assert_eq!(chosen(HOST_OF_FOREIGN, &[windows, windows]).expect("a target"), [windows]);
        let mac = "aarch64-apple-darwin";
        assert_eq!(chosen(mac, &[]).expect("a target"), [mac]);
        let error = chosen(mac, &[mac, windows]).expect_err("no such compiler");
        assert_eq!(format!("{error}"), format!("--target: expected {mac}, got {windows}"));
    }
}
