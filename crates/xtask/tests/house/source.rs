//! The repository's files, and Rust code without its comments and strings.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository.
pub(crate) struct Source {
    /// Its path from the root, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder (`""` is the root) with one of the extensions, in order.
///
/// What `.gitignore` names is no part of the repository. An empty result is an error: a
/// rule that reads no file cannot fail.
pub(crate) fn files(folder: &str, extensions: &[&str]) -> Vec<Source> {
    let ignored = ignored();
    let mut found = Vec::new();
    walk(folder, &ignored, &mut |path| {
        if extensions.iter().any(|extension| path.ends_with(&format!(".{extension}"))) {
            let text = fs::read_to_string(root().join(&path)).expect("a readable text file");
            found.push(Source { path, text });
        }
    });
    assert!(!found.is_empty(), "no {extensions:?} files below {folder:?}");
    found
}

/// The lines of `.gitignore`, which has only names and paths, no patterns.
pub(crate) fn ignored() -> Vec<String> {
    let text = fs::read_to_string(root().join(".gitignore")).expect(".gitignore");
    let lines: Vec<String> = text.lines().map(str::to_owned).filter(|l| !l.is_empty()).collect();
    let plain = |line: &String| !line.contains(['*', '?', '!', '#', '[']);
    assert!(lines.iter().all(plain), "this test reads only names and paths in .gitignore");
    lines
}

/// Whether `.gitignore` leaves a file or folder out.
pub(crate) fn is_ignored(path: &str, ignored: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ignored.iter().any(|line| match line.trim_end_matches('/').strip_prefix('/') {
        Some(from_root) => path == from_root,
        None => name == line.trim_end_matches('/'),
    })
}

/// Code with every comment and literal blanked out, line by line the same length or less.
pub(crate) fn code(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some(first) = rest.chars().next() {
        let (length, keep) = match literal_or_comment(rest) {
            Some(length) => (length, false),
            None => (word_or_char(rest, first), true),
        };
        let (taken, left) = rest.split_at(length);
        if keep {
            code.push_str(taken);
        } else {
            code.push(' ');
            code.extend(taken.chars().filter(|&character| character == '\n'));
        }
        rest = left;
    }
    code
}

/// The length of a word, so that the `r` of a raw string is not taken for a word's end.
fn word_or_char(text: &str, first: char) -> usize {
    let word = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    if word > 0 { word } else { first.len_utf8() }
}

fn literal_or_comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    if let Some(hashes) = raw_string(text) {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = text.find('"')? + 1;
        return Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()));
    }
    if text.starts_with('"') || text.starts_with("b\"") {
        let start = text.find('"')? + 1;
        return Some(start + quoted(&text[start..], '"'));
    }
    // A quote is a character's when one character, or an escape, stands before the next.
    let after = text.strip_prefix('\'')?;
    let escaped = after.starts_with('\\');
    (escaped || after.chars().nth(1) == Some('\'')).then(|| 1 + quoted(after, '\''))
}

fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let string = hashes.trim_start_matches('#');
    string.starts_with('"').then_some(hashes.len() - string.len())
}

/// The length up to and including the closing quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Whether a character can be in an identifier.
pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The places of a whole word in code.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !code[..at].ends_with(is_word) && !code[at + word.len()..].starts_with(is_word)
    })
}

fn walk(folder: &str, ignored: &[String], visit: &mut impl FnMut(String)) {
    let at = root().join(folder);
    let entries = fs::read_dir(&at).unwrap_or_else(|error| panic!("{}: {error}", at.display()));
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("a folder entry")).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().expect("a file name in UTF-8");
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if path == ".git" || is_ignored(&path, ignored) {
            continue;
        }
        if entry.path().is_dir() {
            walk(&path, ignored, visit);
        } else {
            visit(path);
        }
    }
}

#[test]
fn code_has_no_comments_and_literals() {
    let text =
        "a /* b /* c */ d */ e // f\n\"g \\\" h\" r#\"i \" j\"# '\"' k<'l> for_ b\"m\" '\\'' n";
    let code = code(text);
    let words: Vec<&str> = code.split(|c| !is_word(c)).filter(|w| !w.is_empty()).collect();
    assert_eq!(words, ["a", "e", "k", "l", "for_", "n"]);
    assert_eq!(code.lines().count(), 2);
}
