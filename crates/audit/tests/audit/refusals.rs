//! Arguments and inputs that cannot be used.

use std::fs::{self, File};

use predicates::prelude::*;

use crate::made::{batch, chain, write};
use crate::{audit, text};

#[test]
fn wrong_arguments_are_named() {
    for (arguments, mention) in [
        (&["audit", "--output", "x"][..], "--parquet <PATH>"),
        (&["audit", "--parquet", "x", "--jsonl", "y", "--output", "z"], "cannot be used with"),
        (&["audit", "--node", "http://x", "--output", "z"], "--from"),
        (&["audit", "--node", "x", "--output", "z", "--from", "1"], "relative URL"),
        (&["audit", "--parquet", "x", "--output", "z", "--memory", "1"], "--memory"),
        (&["audit", "--parquet", "x", "--output", "z", "--threads", "0"], "--threads"),
        (&["collect", "--output", "x", "--from", "1"], "--node <URL>"),
    ] {
        let run = audit(arguments).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(mention));
    }
}

#[test]
fn inputs_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("audit");
    let refused = |arguments: &[&str], mention: &str| {
        let arguments = [&["audit", "--output", text(&output)], arguments].concat();
        let run = audit(&arguments).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(mention));
    };
    let path = |name: &str| folder.path().join(name);
    let [absent, empty, garbage, columns] =
        ["absent", "empty", "garbage.parquet", "columns.parquet"].map(path);
    fs::create_dir(&empty).expect("a folder");
    fs::write(&garbage, [7; 5000]).expect("writable");
    let narrow = batch(&chain(1, 1, 1)).project(&[0, 1]).expect("two columns");
    let mut writer = parquet::arrow::ArrowWriter::try_new(
        File::create(&columns).expect("a file"),
        narrow.schema(),
        None,
    )
    .expect("a writer");
    writer.write(&narrow).expect("writable");
    writer.close().expect("writable");
    for kind in ["--parquet", "--jsonl", "--store"] {
        refused(&[kind, text(&absent)], "absent");
    }
    refused(&["--parquet", text(&empty)], "expected a folder with Parquet files");
    refused(&["--parquet", text(&garbage)], "garbage.parquet: ");
    refused(&["--parquet", text(&columns)], "hashing_blob: expected a column of this name");
    refused(&["--parquet", text(&columns), "--memory", "300M"], "expected at least 336 MiB");
}

#[test]
fn a_folder_belongs_to_one_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, second, output] =
        ["a.parquet", "b.parquet", "audit"].map(|n| folder.path().join(n));
    write(&first, &chain(1, 1, 1), 10);
    write(&second, &chain(1, 2, 1), 10);
    let run =
        |input| audit(&["audit", "--parquet", text(input), "--output", text(&output)]).assert();
    run(&first).code(0);
    let mention = "expected a new folder, or that of audit of Parquet files";
    run(&second).code(2).stderr(predicate::str::contains(mention));
    let lock = File::open(output.join("lock")).expect("a lock");
    lock.try_lock().expect("nobody has it");
    run(&first).code(2).stderr(predicate::str::contains("another process uses this folder"));
    drop(lock);
    fs::write(output.join("run.json"), "{").expect("writable");
    run(&first).code(2).stderr(predicate::str::contains("or that of an earlier run"));
}
