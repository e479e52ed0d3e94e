//! How JavaScript and TypeScript turn their own URL into a path.

use crate::{assert_none, files};

#[test]
fn paths_of_files_are_decoded() {
    let mut breaches = Vec::new();
    for file in files::with_extensions("", &["ts", "js", "mjs"]) {
        breaches.extend(encoded_paths(&file.text).map(|line| format!("{}:{line}", file.path)));
    }
    assert_none(
        &breaches,
        "code uses `fileURLToPath` or `import.meta.dirname`: the path of a URL has `%20` for a space, and begins with \
         `/C:/` on Windows",
    );
}

/// Returns the numbers of the lines with a path that is still part of a URL.
fn encoded_paths(text: &str) -> impl Iterator<Item = usize> {
    let lines = text.lines().zip(1..);
    lines.filter(|(line, _)| line.contains("import.meta.url).pathname")).map(|(_, number)| number)
}

#[test]
fn encoded_paths_are_found() {
    let code = "const root = fileURLToPath(new URL(\"..\", import.meta.url));\n\
                const encoded = new URL(\"..\", import.meta.url).pathname;";
    assert_eq!(encoded_paths(code).collect::<Vec<_>>(), [2]);
}
