//! The archives: the npm packages, and the programs with their documents.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::packing::Packing;
use super::{addons, compare, npm, programs};
use crate::builder::{Builder, TIME};
use crate::replace::replace;
use crate::setup::{self, Node};
use crate::{addon, build, process, remap, workspace};

/// How the names of archives end.
const EXTENSIONS: [&str; 3] = [".tgz", ".tar.gz", ".zip"];

/// The lock of a run that publishes archives.
const LOCK: &str = "archives";

/// Builds the archives into a folder, and fails if one contains a path of this machine. `registered` is the option of
/// that name.
pub(super) fn build(output: &Path, registered: bool) -> Result<()> {
    fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    let private = private_paths()?;

    build::package(&setup::wasm_tools()?)?;
    compare::contains_none(&workspace::root().join("wasm/dist"), &private)?;
    let staged = workspace::target_dir().join("npm-package");
    let mut stage = Node::Installed.run("crates/xtask/scripts/stage.mjs")?;
    process::run(stage.arg(&staged).args(registered.then_some("--registered")))?;
    npm::pack(&staged, output)?;

    let builder = Builder::native()?;
    let commit = env::var(TIME).context("SOURCE_DATE_EPOCH is not set")?;
    let packing = Packing { commit: &commit, output, private: &private };
    if addon::is_possible()? {
        addons::pack(&builder, &packing)?;
    }
    programs::pack(&builder, &packing)?;
    Ok(())
}

/// Copies archives to the folder for them, with a list of the hashes of all archives there: earlier runs may have
/// written some for other systems. If `release` and `dist` write to one folder at once, one waits, so that the list has
/// the hashes of both.
pub(crate) fn publish(archives: &Path, output: &Path) -> Result<()> {
    setup::alone(&workspace::lock_dir(), LOCK, |_| publish_alone(archives, output))
}

/// Publishes archives while no other run does.
fn publish_alone(archives: &Path, output: &Path) -> Result<()> {
    fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    let files = compare::files(archives)?;
    // A run that is stopped must leave no list with other hashes than those of the archives.
    process::remove_file(&output.join(addon::SUMS))?;
    for file in files {
        // A run that is stopped must not leave a part of an archive under its name.
        replace(&output.join(&file), |fresh| fs::copy(archives.join(&file), fresh).map(drop))?;
    }
    let mut sums = Node::Installed.run("crates/xtask/scripts/checksums.mjs")?;
    process::run(sums.arg(output).args(archives_in(output)?))
}

/// Returns the sorted names of the archives in a folder, which may contain other files too.
fn archives_in(folder: &Path) -> Result<Vec<OsString>> {
    let listed = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let listed = listed.with_context(|| format!("cannot read {}", folder.display()))?;
    let is_archive = |name: &OsString| {
        EXTENSIONS.iter().any(|extension| name.as_encoded_bytes().ends_with(extension.as_bytes()))
    };
    let names = listed.iter().map(fs::DirEntry::file_name);
    let mut names: Vec<OsString> = names.filter(is_archive).collect();
    names.sort();
    Ok(names)
}

/// Returns folders of this machine that no archive may name.
pub(crate) fn private_paths() -> Result<Vec<PathBuf>> {
    let mut paths = vec![workspace::root(), workspace::target_dir(), remap::cargo_home()?];
    paths.push(workspace::cache_dir()?);
    // A home folder such as `/` is part of every path.
    paths.extend(env::home_dir().filter(|home| home.components().count() > 1));
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs;
    use std::path::Path;

    use super::{LOCK, publish};
    use crate::setup::{self, Waiting};
    use crate::workspace;

    #[test]
    fn the_list_of_hashes_names_archives_of_earlier_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("output");
        for names in [["a.tar.gz", "a.zip"], ["a.zip", "b.tgz"]] {
            let archives = tempfile::tempdir().expect("a folder");
            for name in names {
                fs::write(archives.path().join(name), names[0]).expect("an archive");
            }
            publish(archives.path(), &output).expect("a copy");
            fs::write(output.join("notes.txt"), "").expect("another file");
        }
        // The hashes of "a.tar.gz" and "a.zip", the first names.
        let first = "0a67bba7da46793c9f1908a7eec3d06a11ba7bc00bf749c31bb134f4f45ebcad";
        let second = "d42cf35afe0bcfc26772d92fe13bf3cdaf9b8cf8f0df8eebf569e6a88536e72f";
        let expected = format!("{first}  a.tar.gz\n{second}  a.zip\n{second}  b.tgz\n");
        assert_eq!(fs::read_to_string(output.join("SHA256SUMS")).expect("a list"), expected);
    }

    #[test]
    fn a_run_that_fails_leaves_no_list_of_earlier_hashes() {
        let [archives, output] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
        let write = |name: &str| fs::write(archives.path().join(name), name).expect("an archive");
        write("a.zip");
        publish(archives.path(), output.path()).expect("a copy");
        let list = output.path().join("SHA256SUMS");
        assert!(list.is_file());
        // No archive can take the place of a folder.
        fs::create_dir(output.path().join("b.zip")).expect("a folder");
        write("b.zip");
        publish(archives.path(), output.path()).expect_err("a folder");
        assert!(!list.exists());
    }

    #[test]
    fn two_runs_publish_in_turns() {
        /// Set where the test runs again, to the folder that it publishes to.
        const OUTPUT: &str = "RANDOMX_XTASK_TEST_OUTPUT";

        if let Some(output) = env::var_os(OUTPUT) {
            let archives = tempfile::tempdir().expect("a folder");
            fs::write(archives.path().join("a.zip"), "").expect("an archive");
            return publish(archives.path(), Path::new(&output)).expect("a copy");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let [target, output] = ["target", "output"].map(|name| folder.path().join(name));
        let locks = workspace::lock_dir();
        let locks = locks.strip_prefix(workspace::target_dir()).expect("a folder of builds");
        let other = setup::alone(&target.join(locks), LOCK, |_| {
            let other = Waiting::start(
                "release::archives::tests::two_runs_publish_in_turns",
                &[(OUTPUT, &output), ("CARGO_TARGET_DIR", &target)],
            );
            assert!(!output.exists());
            Ok(other)
        });
        other.expect("another run").end();
        assert!(output.join("a.zip").is_file() && output.join("SHA256SUMS").is_file());
    }
}
