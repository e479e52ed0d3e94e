//! Kept inputs: a text file for each target, with an input in hexadecimal on each line.
//!
//! libFuzzer wants a folder with a file for each input. Some thousand tiny files would be a burden
//! on the repository, and their changes unreadable.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Target;

/// Returns the file with a target's kept inputs.
pub fn file(target: &Target) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    folder.join(target.name).with_extension("txt")
}

/// Returns a target's kept inputs: none if there is no file.
///
/// # Errors
///
/// If the file cannot be read, or has something else than hexadecimal digits.
pub fn read(target: &Target) -> io::Result<Vec<Vec<u8>>> {
    let text = match fs::read_to_string(file(target)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let decode = |line| hex::decode(line).map_err(io::Error::other);
    text.lines().map(decode).collect()
}

/// Replaces a target's kept inputs by the files of a folder, the shortest first.
///
/// # Errors
///
/// If the system refuses.
pub fn pack(target: &Target, folder: &Path) -> io::Result<usize> {
    let mut inputs = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let bytes = fs::read(entry?.path())?;
        inputs.insert((bytes.len(), bytes));
    }
    let lines: String = inputs.iter().map(|(_, bytes)| hex::encode(bytes) + "\n").collect();
    let file = file(target);
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(file, lines)?;
    Ok(inputs.len())
}

/// Writes a target's kept inputs and its seeds as files into a folder.
///
/// # Errors
///
/// If the system refuses.
pub fn unpack(target: &Target, folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    let mut inputs = read(target)?;
    inputs.extend((target.seeds)());
    for (number, bytes) in inputs.iter().enumerate() {
        fs::write(folder.join(format!("kept-{number}")), bytes)?;
    }
    Ok(inputs.len())
}
