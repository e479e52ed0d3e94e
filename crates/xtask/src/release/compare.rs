//! Comparisons of built files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Fails unless two folders contain the same files.
pub(super) fn equal(one: &Path, other: &Path) -> Result<()> {
    let names = files(one)?;
    if names.is_empty() {
        bail!("{} contains no file", one.display());
    }
    let others = files(other)?;
    if names != others {
        bail!("two builds made different files: {names:?} and {others:?}");
    }
    for name in names {
        let [one, other] = [one, other].map(|folder| read(&folder.join(&name)));
        let (one, other) = (one?, other?);
        if let Some(at) = first_difference(&one, &other) {
            bail!(
                "{}: two builds differ from byte {at} on; the builds are kept in the target folder",
                name.display()
            );
        }
    }
    Ok(())
}

fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    let differs = one.iter().zip(other).position(|(one, other)| one != other);
    differs.or_else(|| (one.len() != other.len()).then(|| one.len().min(other.len())))
}

/// Fails if a file, or a file below a folder, contains the path of something in one of the folders.
pub(super) fn contains_none(built: &Path, folders: &[PathBuf]) -> Result<()> {
    let all = if built.is_dir() { files(built)? } else { vec![PathBuf::new()] };
    for file in all {
        let file = if file == Path::new("") { built.to_owned() } else { built.join(file) };
        let content = read(&file)?;
        for folder in folders {
            let inside = folder.join("");
            if let Some(found) = find(&content, inside.as_os_str().as_encoded_bytes()) {
                bail!("{} contains a path of this machine: {found}", file.display());
            }
        }
    }
    Ok(())
}

/// Returns the printable text that begins with `path` in `content`, if there is any.
fn find(content: &[u8], path: &[u8]) -> Option<String> {
    let first = path.first()?;
    let mut at = 0;
    while let Some(next) = content[at..].iter().position(|byte| byte == first) {
        at += next;
        if content[at..].starts_with(path) {
            let rest = content[at..].iter().take_while(|byte| byte.is_ascii_graphic());
            return Some(rest.map(|byte| char::from(*byte)).collect());
        }
        at += 1;
    }
    None
}

/// Returns the paths of all files below a folder, relative to it, sorted.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inside) = folders.pop() {
        let listed = fs::read_dir(folder.join(&inside))
            .with_context(|| format!("cannot read {}", folder.join(&inside).display()))?;
        for entry in listed {
            let entry = entry?;
            let path = inside.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{contains_none, equal};

    #[test]
    fn differences_and_paths_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let home = Path::new("/home");
        // With this system's separators.
        let source = home.join("user").join("code.rs").display().to_string();
        for side in [&one, &other] {
            fs::create_dir_all(side.join("inner")).expect("a folder");
            let content = format!("\0/home/use{source}\0");
            fs::write(side.join("inner/file"), content).expect("a file");
        }
        equal(&one, &other).expect("equal files");
        contains_none(&one, &[home.join("us")]).expect("no such folder");
        let error = contains_none(&one, &[home.join("user")]).expect_err("a path");
        assert!(format!("{error}").ends_with(&format!("of this machine: {source}")), "{error}");

        fs::write(other.join("inner/file"), b"\0/home/").expect("a file");
        let error = equal(&one, &other).expect_err("a shorter file");
        assert!(format!("{error}").contains("differ from byte 7 on"), "{error}");
        fs::remove_file(other.join("inner/file")).expect("a file");
        let error = equal(&one, &other).expect_err("a missing file");
        assert!(format!("{error}").contains("different files"), "{error}");
    }
}
