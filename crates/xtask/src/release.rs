//! `cargo xtask release`: builds the archives of a release twice and compares them.
//!
//! The npm packages and the programs are built from the last commit, in two folders whose paths
//! differ in length. The archives must be equal, bit for bit, and contain no path of this machine.

pub(crate) mod addons;
pub(crate) mod archives;
mod compare;
mod npm;
pub(crate) mod packing;
pub(crate) mod programs;
mod unpack;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::builder::TIME;
use crate::setup::{self, Node, WasmTools};
use crate::{output, process, versions, workspace};

/// Options of `cargo xtask release`.
#[derive(Args)]
pub(crate) struct ReleaseArgs {
    /// The folder for the archives; it is created if it does not exist. Other archives there stay, and are listed too.
    /// By default `target/release-archives`, or `target/release-archives-dirty` for uncommitted changes.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Build uncommitted changes too; such archives are not for others.
    #[arg(long)]
    dirty: bool,

    /// List the native add-ons as optional dependencies of the npm package, as the published one needs. Only once all
    /// their names are registered: npm would install whatever somebody else registers under them.
    #[arg(long)]
    registered: bool,

    /// Build once, here, and compare nothing. The command runs itself with this option.
    #[arg(long, hide = true)]
    once: bool,
}

/// Builds, compares and writes the archives.
pub(crate) fn release(args: &ReleaseArgs) -> Result<()> {
    build_twice(args, &[])
}

/// Builds archives without optimisation, and compares them. Only releases have to be fast, and each of them is
/// built twice before it is published.
pub(crate) fn test() -> Result<()> {
    let unoptimised =
        [("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"), ("CARGO_PROFILE_RELEASE_LTO", "off")];
    process::with_work_folder(&test_archives(), |output| {
        let output = Some(output.to_owned());
        let args = ReleaseArgs { output, dirty: true, registered: true, once: false };
        build_twice(&args, &unoptimised)
    })
}

/// The folder for the test's archives. They have the names of a release's, and are removed after the test.
fn test_archives() -> PathBuf {
    workspace::target_dir().join("release-test-archives")
}

/// Builds with the variables `settings` set.
fn build_twice(args: &ReleaseArgs, settings: &[(&str, &str)]) -> Result<()> {
    let output = folder(args.output.as_deref(), "release-archives", args.dirty)?;
    if args.once {
        return archives::build(&output, args.registered);
    }
    let root = workspace::root();
    let commit = last_commit(&root, args.dirty)?;
    setup::packages()?;
    note_compilers(&setup::wasm_tools()?)?;
    // Two runs would remove each other's builds.
    setup::alone(&workspace::lock_dir(), "release", |_| {
        build_alone(&root, &commit, args, &output, settings)
    })
}

/// Returns the folder that the user chose for archives, or else one in the build folder. Archives of uncommitted changes
/// have another one, since all archives in a folder are listed with their hashes.
pub(crate) fn folder(chosen: Option<&Path>, usual: &str, dirty: bool) -> Result<PathBuf> {
    match chosen {
        Some(chosen) => workspace::here(chosen),
        None => {
            let name = format!("{usual}{}", if dirty { "-dirty" } else { "" });
            Ok(workspace::target_dir().join(name))
        }
    }
}

/// Builds while no other run does.
fn build_alone(
    root: &Path,
    commit: &Commit,
    args: &ReleaseArgs,
    output: &Path,
    settings: &[(&str, &str)],
) -> Result<()> {
    let builds = workspace::target_dir().join("release-builds");
    process::remove_dir(&builds)?;
    let folders = ["first", "second-and-longer"].map(|name| builds.join(name));
    for folder in &folders {
        output::line(format_args!("release: building in {}", folder.display()));
        check_out(root, folder, args.dirty)?;
        // The second copy is made minutes after the first.
        if !args.dirty {
            assert_is_last(root, commit)?;
        }
        build_in(folder, &commit.time, args.registered, settings)?;
    }
    let [first, second] = folders.map(|folder| folder.join(ARCHIVES));
    compare::equal(&first, &second)?;
    // Without optimisation, hashes take too long for a test.
    if settings.is_empty() {
        programs::check_native(&first, &builds.join("unpacked-programs"))?;
        addons::check_native(&first, &builds.join("unpacked-addon"))?;
    }

    archives::publish(&first, output)?;
    // Each folder holds a build of about 1 GiB.
    process::remove_dir(&builds)?;
    output::line(format_args!(
        "release: two equal builds; the archives are in {}",
        output.display()
    ));
    Ok(())
}

/// Where each build writes its archives, below its own root.
const ARCHIVES: &str = "target/archives";

/// A commit that is built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    hash: String,
    /// Its time in seconds since 1970.
    pub(crate) time: String,
}

/// Returns the last commit of a repository. Fails if files differ from it, unless they may.
pub(crate) fn last_commit(root: &Path, dirty: bool) -> Result<Commit> {
    let changed = process::read(git(root).args(["status", "--porcelain"]))?;
    if !changed.is_empty() && !dirty {
        bail!("a release is built from a commit, but these files differ:\n{changed}");
    }
    let last = process::read(git(root).args(["log", "-1", "--format=%H %ct"]))?;
    let (hash, time) = last.trim().split_once(' ').context("git shows no commit")?;
    Ok(Commit { hash: hash.to_owned(), time: time.to_owned() })
}

/// Variables that git sets for hooks. They name the repository, and the files of the commit that is made.
const OF_HOOKS: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// Returns a command of git for the repository in a folder, also in a hook of another repository.
fn git(root: &Path) -> Command {
    let mut git = process::command("git");
    git.current_dir(root);
    for variable in OF_HOOKS {
        git.env_remove(variable);
    }
    git
}

/// Fails unless the repository's files are those of a commit.
pub(crate) fn assert_is_last(root: &Path, commit: &Commit) -> Result<()> {
    let last = last_commit(root, false)?;
    ensure!(
        last == *commit,
        "a release is built from one commit, but {} followed {}",
        last.hash,
        commit.hash
    );
    Ok(())
}

/// Says so if other compilers than that of releases are in use: archives of two compilers differ.
fn note_compilers(tools: &WasmTools) -> Result<()> {
    let release = versions::RELEASE_RUST;
    let native = process::read(process::command("rustc").arg("--version"))?;
    let [wasm, ..] = tools.versions()?;
    for (what, version) in [("the program", native.trim()), ("WebAssembly", &wasm)] {
        if version.split(' ').nth(1) != Some(release) {
            output::line(format_args!(
                "release: {what}: releases use rustc {release}, this machine has {version}"
            ));
        }
    }
    Ok(())
}

/// Copies the repository's files into a folder, with the installed npm packages beside them.
fn check_out(root: &Path, folder: &Path, dirty: bool) -> Result<()> {
    for file in files(root, dirty)? {
        let copy = folder.join(&file);
        fs::create_dir_all(copy.parent().unwrap_or(folder))
            .and_then(|()| fs::copy(root.join(&file), &copy))
            .with_context(|| format!("cannot write {}", copy.display()))?;
    }
    let mut link = Node::Installed.run("crates/xtask/scripts/link.mjs")?;
    process::run(link.args([root, folder].map(|parent| parent.join("node_modules"))))
}

/// Returns the paths of a repository's tracked files, and of uncommitted ones if they are built too.
fn files(root: &Path, dirty: bool) -> Result<Vec<String>> {
    let mut list = git(root);
    list.args(["ls-files", "-z", "--cached", "--deduplicate"]);
    if dirty {
        list.args(["--others", "--exclude-standard"]);
    }
    let listed = process::read(&mut list)?;
    // A file that was removed but not yet committed is still listed.
    let exist = listed.split_terminator('\0').filter(|file| root.join(file).is_file());
    Ok(exist.map(str::to_owned).collect())
}

/// Runs this program for the repository in another folder.
fn build_in(folder: &Path, time: &str, registered: bool, settings: &[(&str, &str)]) -> Result<()> {
    let mut build = process::command(process::itself()?);
    build.current_dir(folder).args(["release", "--once", "--output"]);
    build.arg(folder.join(ARCHIVES)).args(registered.then_some("--registered"));
    build.envs(settings.iter().copied()).env("CARGO_MANIFEST_DIR", folder.join("crates/xtask"));
    build.env("CARGO_TARGET_DIR", folder.join("target"));
    process::run(build.env(TIME, time))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::env;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use clap::Parser;

    use super::{ReleaseArgs, assert_is_last, last_commit, test_archives};
    use crate::{process, workspace};

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: ReleaseArgs,
    }

    #[test]
    fn archives_of_tests_and_of_uncommitted_changes_are_not_those_of_a_release() {
        let folder = |given: &[&str]| {
            let CommandLine { args } = CommandLine::parse_from([&["release"], given].concat());
            super::folder(args.output.as_deref(), "release-archives", args.dirty).expect("a path")
        };
        let release = folder(&[]);
        assert_eq!(release, workspace::target_dir().join("release-archives"));
        assert_ne!(test_archives(), release);
        assert_ne!(folder(&["--dirty"]), release);
        let chosen = workspace::here(Path::new("a")).expect("a path");
        assert_eq!(folder(&["--output", "a", "--dirty"]), chosen);
    }

    /// Runs git without the user's signatures and hooks.
    pub(crate) fn git(root: &Path, args: &[&str]) {
        let mut git = super::git(root);
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
        git.args(["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"]);
        process::run(git.args(args)).expect("git");
    }

    #[test]
    fn changes_during_a_release_are_noticed() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let commit = || git(root, &["commit", "--quiet", "--allow-empty", "--message", "a"]);
        git(root, &["init", "--quiet"]);
        commit();
        let first = last_commit(root, false).expect("a commit");
        assert_is_last(root, &first).expect("no change");

        fs::write(root.join("file"), "").expect("a file");
        let error = assert_is_last(root, &first).expect_err("another file").to_string();
        assert!(error.ends_with("these files differ:\n?? file\n"), "{error}");
        assert_eq!(last_commit(root, true).expect("a commit"), first);

        git(root, &["add", "file"]);
        commit();
        let error = assert_is_last(root, &first).expect_err("another commit").to_string();
        assert!(error.ends_with(&format!("followed {}", first.hash)), "{error}");
    }

    #[test]
    fn uncommitted_files_belong_to_uncommitted_changes() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        git(root, &["init", "--quiet"]);
        for (name, text) in [(".gitignore", "ignored\n"), ("tracked", ""), ("removed", "")] {
            fs::write(root.join(name), text).expect("a file");
        }
        git(root, &["add", "."]);
        git(root, &["commit", "--quiet", "--message", "a"]);
        fs::remove_file(root.join("removed")).expect("removed");
        for name in ["ignored", "new"] {
            fs::write(root.join(name), "").expect("a file");
        }
        let files = |dirty| {
            let mut files = super::files(root, dirty).expect("files");
            files.sort();
            files
        };
        assert_eq!(files(false), [".gitignore", "tracked"]);
        assert_eq!(files(true), [".gitignore", "new", "tracked"]);
    }

    #[test]
    fn in_a_hook_the_users_repository_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let (users, settings) = (folder.path(), folder.path().join("settings"));
        git(users, &["init", "--quiet"]);
        git(users, &["commit", "--quiet", "--allow-empty", "--message", "a"]);
        let signs = "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = no such program\n";
        fs::write(&settings, signs).expect("settings");
        let before = last_commit(users, true).expect("a commit");

        let mut test = Command::new(env::current_exe().expect("this program"));
        test.args(["--exact", "release::tests::changes_during_a_release_are_noticed"]);
        test.env("GIT_DIR", users.join(".git")).env("GIT_CONFIG_GLOBAL", settings);
        let output = test.output().expect("the test");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("1 passed"), "{text}");
        assert_eq!(last_commit(users, true).expect("a commit"), before);
    }
}
