//! JSON lines as input.

use std::fmt::Write;
use std::fs;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use predicates::prelude::*;

use crate::made::{MadeBlock, chain};
use crate::{audit, read, summary, text, verdicts};

fn line(block: &MadeBlock, height: &str, difficulty: &str, more: &str) -> String {
    let (seed, blob) = (hex::encode(block.seed_hash), hex::encode(&block.hashing_blob));
    format!(r#"{{{height}"seed_hash":"{seed}","hashing_blob":"{blob}",{difficulty}{more}}}"#)
}

#[test]
fn lines_of_any_form_get_a_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let blocks = chain(2, 3, 1);
    let seed = hex::encode(blocks[0].seed_hash);
    let mut input = String::new();
    let mut padded = line(&blocks[1], r#""height":2,"#, r#""difficulty":1"#, "");
    padded += &" ".repeat((3 << 20) - padded.len());
    for text in [
        line(&blocks[0], r#""height":1,"#, r#""difficulty":1"#, r#","pool":{"a":[1]},"x":null"#),
        line(&blocks[3], r#""height":2113,"#, r#""difficulty":"1","version":2"#, ""),
        line(&blocks[1], r#""height":"2","#, r#""target":"ffffffff""#, ""),
        // Without a height, the seed hash names the epoch.
        line(&blocks[2], "", r#""difficulty":1"#, ""),
        line(&blocks[2], r#""height":"+3","#, r#""difficulty":1e3"#, ""),
        "not JSON".to_owned(),
        String::new(),
        "[1,2]".to_owned(),
        format!(r#"{{"seed_hash":"{seed}","hashing_blob":7,"difficulty":1}}"#),
        format!(r#"{{"height":5,"hashing_blob":"{}"}}"#, "0".repeat(4 << 20)),
        // The first 3 MiB are an object.
        format!("{padded} x"),
        padded,
        r#"{"height":3,"seed_hash":null}"#.to_owned(),
        line(&blocks[0], r#""height":1,"#, r#""difficulty":9"#, r#","difficulty":1"#),
        // Valid JSON, but no text.
        line(&blocks[0], r#""height":1,"#, r#""difficulty":1"#, r#","target":"\ud800""#),
        line(&blocks[0], r#""height":1,"#, r#""difficulty":1"#, r#","version":"\ud800""#),
    ] {
        writeln!(input, "{text}").expect("a string");
    }
    let (file, output) = (folder.path().join("lines"), folder.path().join("audit"));
    fs::write(&file, input.trim_end()).expect("writable");
    let arguments = ["audit", "--jsonl", text(&file), "--output", text(&output)];
    audit(&arguments).assert().code(1);
    let of = |name: &str| verdicts(&output.join(format!("{name}.parquet")));
    let valid = || (Some(true), None);
    let reason = |reason: &str| (Some(false), Some(reason.to_owned()));
    let missing = || reason("hashing_blob: expected bytes, got null");
    let target = "target: expected an even number of hexadecimal digits, got \"\\\"\\\\ud800\\\"\"";
    let version = "version: expected 1 or 2, got \"\\\"\\\\ud800\\\"\"";
    let expected = [valid(), valid(), valid(), missing(), reason(target), reason(version)];
    assert_eq!(of("epoch-0000000000"), expected);
    assert_eq!(of("epoch-0000002048"), [valid()]);
    let digits = "difficulty: expected only decimal digits (no sign, fraction or exponent)";
    let blob = "hashing_blob: expected an even number of hexadecimal digits, got \"7\"";
    assert_eq!(of(&format!("seed-{seed}")), [valid(), reason(digits), reason(blob)]);
    let other = reason(
        "line: expected a JSON object of at most 3 MiB with the fields of a proof of work, each once",
    );
    assert_eq!(of("unknown"), vec![other; 6]);
    let first = read(&output.join("epoch-0000000000.parquet"));
    assert_eq!(
        first["line"].as_primitive::<UInt64Type>().values().to_vec(),
        [1, 3, 12, 13, 15, 16]
    );
    let other = first["other"].as_string::<i32>();
    assert_eq!(other.value(0), r#"{"pool":{"a":[1]},"x":null}"#);
    let unknown = read(&output.join("unknown.parquet"));
    let other: Vec<_> = unknown["other"].as_string::<i32>().iter().flatten().collect();
    assert_eq!(other[..3], ["not JSON", "", "[1,2]"]);
    assert!(other[3].starts_with(r#"{"height":5,"hashing_blob":"000"#) && other[3].len() == 1000);
    let summary = summary(&output);
    assert_eq!((&summary["blocks"], &summary["valid"]), (&16.into(), &5.into()));
    // Of the valid rows, one has only a target.
    assert_eq!(summary["work"], "4");
    let unknown = summary["epochs"].as_array().expect("epochs").last().expect("an epoch");
    assert_eq!(unknown["file"], "unknown.parquet");
    for (row, line) in ["6", "7", "8", "10", "11", "14"].into_iter().enumerate() {
        assert_eq!(unknown["evidence"][row]["line"], line);
    }
}

#[test]
fn rows_that_a_range_leaves_out_for_their_heights_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let [file, output] = ["lines", "audit"].map(|name| folder.path().join(name));
    let block = &chain(1, 1, 1)[0];
    let valid = line(block, r#""height":1,"#, r#""difficulty":1"#, "");
    let beyond = line(block, r#""height":7,"#, r#""difficulty":1"#, "");
    let run = |lines: &[&str], range: &[&str]| {
        fs::write(&file, lines.join("\n")).expect("writable");
        let _ = fs::remove_dir_all(&output);
        let arguments = ["audit", "--jsonl", text(&file), "--output", text(&output)];
        audit(&[&arguments[..], range].concat()).assert()
    };
    let lines = [valid.as_str(), "not JSON", &beyond];
    let mention = predicate::str::contains("left out");
    run(&lines, &[]).code(1).stderr(mention.not());
    for (lines, range, expected) in [
        (&lines[..], ["--from", "0"], "1 row without a height is left out: "),
        (
            &[lines[0], "not JSON", "{}", "{\"height\":-1}"],
            ["--to", "5"],
            "3 rows without a height are left out: ",
        ),
    ] {
        let reason = "a range chooses rows by their heights\n";
        run(lines, &range).code(0).stderr(predicate::str::contains(format!("{expected}{reason}")));
    }
    run(&[&valid, &beyond], &["--to", "5"])
        .code(0)
        .stderr(predicate::str::contains("left out").not());
}
