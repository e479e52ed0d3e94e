//! How tests report that they cannot run on a machine.

use crate::{assert_none, files};

#[test]
fn skipped_tests_are_shown() {
    let mut breaches = Vec::new();
    for file in files::with_extensions("", &["rs"]) {
        let lines = hidden_skips(&file.text);
        breaches.extend(lines.map(|line| format!("{}:{line}", file.path)));
    }
    assert_none(
        &breaches,
        "a test that is skipped calls `randomx_testing::say`: libtest hides what the printing macros print",
    );
}

/// Returns the numbers of the lines with a printing macro whose text contains "skipped", in any case.
fn hidden_skips(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(&CALL).filter_map(|(start, call)| {
        let rest = text[start + call.len()..].trim_start().strip_prefix('"')?;
        let (printed, _) = rest.split_once('"')?;
        let is_skip = printed.to_ascii_lowercase().contains("skipped");
        is_skip.then(|| text[..start].matches('\n').count() + 1)
    })
}

/// The beginning of a call, also of the macro for stderr.
const CALL: &str = "println!(";

#[test]
fn hidden_skips_are_found() {
    let code = ["", "say(\"skipped: a\");", "CALL\"skipped: b\");", "CALL\"{}\", skipped);"]
        .into_iter()
        .chain(["eCALL", "    \"c: SKIPPED\",", ");", "CALL\"{c}\"); // skipped"]);
    let code = code.collect::<Vec<_>>().join("\n").replace("CALL", CALL);
    assert_eq!(hidden_skips(&code).collect::<Vec<_>>(), [3, 5]);
}
