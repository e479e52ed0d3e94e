//! The repository's files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file of the repository.
pub(crate) struct TextFile {
    /// Its path from the root, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the paths of all files that git tracks or would track.
pub(crate) fn paths() -> Vec<String> {
    let mut git = Command::new("git");
    git.current_dir(root());
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]);
    let output = git.output().expect("git");
    assert!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("paths in UTF-8");
    // A file that was removed but not yet committed is still listed.
    let exists = |path: &&str| root().join(path).is_file();
    text.split_terminator('\0').filter(exists).map(str::to_owned).collect()
}

/// Returns the files below a folder (`""` is the root) with one of the extensions.
pub(crate) fn with_extensions(folder: &str, extensions: &[&str]) -> Vec<TextFile> {
    let wanted = |path: &String| {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        Path::new(path).starts_with(folder) && extensions.contains(&extension)
    };
    let found: Vec<TextFile> = paths()
        .into_iter()
        .filter(wanted)
        .map(|path| {
            let text = fs::read_to_string(root().join(&path)).expect("a text file");
            TextFile { path, text }
        })
        .collect();
    // A rule that reads no file cannot fail.
    assert!(!found.is_empty(), "no {extensions:?} files below {folder:?}");
    found
}
