//! Which way imports point in TypeScript: `web` -> `wasm/js` -> `wasm/pkg`.

use crate::assert_none;
use crate::source;

/// What the files of a folder may import by a relative path.
const ROOMS: &[(&str, &[&str])] = &[
    ("wasm/js", &["wasm/js", "wasm/pkg", "wasm/monero/pkg"]),
    ("web", &["web", "wasm/js", "wasm/explore/pkg", "tests/vectors"]),
];

#[test]
fn imports_point_one_way() {
    let mut breaches = Vec::new();
    for (room, allowed) in ROOMS {
        for file in source::files(room, &["ts"]) {
            for import in relative_imports(&file.text) {
                let target = resolve(&file.path, import);
                if !allowed.iter().any(|folder| target.starts_with(&format!("{folder}/"))) {
                    breaches.push(format!("{} imports {import}", file.path));
                }
            }
        }
    }
    assert_none(&breaches, "web -> wasm/js -> wasm/pkg; web -> wasm/explore/pkg");
}

/// The string literals of a file that start with `./` or `../`: imports, whether static,
/// dynamic or of types, and the URLs of workers.
fn relative_imports(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'', '`']).filter(|literal| {
        (literal.starts_with("./") || literal.starts_with("../")) && !literal.contains('\n')
    })
}

fn resolve(file: &str, import: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in import.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[test]
fn imports_are_read() {
    let text = "import { a } from \"../../web/a.ts\";\nnew Worker(new URL('./w.js', b));";
    let found: Vec<String> =
        relative_imports(text).map(|import| resolve("wasm/js/x.ts", import)).collect();
    assert_eq!(found, ["web/a.ts", "wasm/js/w.js"]);
}
