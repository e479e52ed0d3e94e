//! Arguments and inputs that cannot be used.

use std::fs::{self, File};
use std::path::Path;

use predicates::prelude::*;

use crate::made::{batch, chain, write, write_rows};
use crate::{audit, results, summary, text};

#[test]
fn wrong_arguments_are_named() {
    for (arguments, mention) in [
        (&["audit", "--output", "x"][..], "--parquet <PATH>"),
        (&["audit", "--parquet", "x", "--jsonl", "y", "--output", "z"], "cannot be used with"),
        (&["audit", "--node", "http://x", "--output", "z"], "--from"),
        (&["audit", "--node", "x", "--output", "z", "--from", "1"], "relative URL"),
        (&["audit", "--node", "http://me:secret@x"], "invalid value '***@x' for '--node <URL>': "),
        (
            &["collect", "--relay", "http://me:secret@x"],
            "invalid value '***@x' for '--relay <URL>': ",
        ),
        (&["audit", "http://me:secret@x"], "unexpected argument '***@x' found"),
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
    write_columns(&columns, &[0, 1]);
    for kind in ["--parquet", "--jsonl", "--store"] {
        refused(&[kind, text(&absent)], "absent");
    }
    refused(&["--parquet", text(&empty)], "expected a folder with Parquet files");
    for contents in [&b""[..], &[7; 5000]] {
        fs::write(&garbage, contents).expect("writable");
        let mention = "garbage.parquet: expected a Parquet file, which ends with PAR1";
        refused(&["--parquet", text(&garbage)], mention);
    }
    fs::write(&garbage, b"PARE\x02\0\0\0\0\0PARE").expect("writable");
    refused(&["--parquet", text(&garbage)], "expected a Parquet file that is not encrypted");
    refused(&["--parquet", text(&columns)], "hashing_blob: expected a column of this name");
    refused(&["--parquet", text(&columns), "--memory", "300M"], "expected at least 336 MiB");
    let numbers = path("numbers.parquet");
    write_columns(&numbers, &[3]);
    refused(&["--parquet", text(&numbers)], "seed_hash: expected a column of this name");
    let [whole, lines] = ["whole.parquet", "none.jsonl"].map(path);
    write(&whole, &chain(1, 1, 1), 10);
    fs::write(&lines, "").expect("writable");
    let mention = "expected rows to verify from height 5000 up to height 100, got none";
    refused(&["--parquet", text(&whole), "--from", "5000", "--to", "100"], mention);
    refused(&["--jsonl", text(&lines)], "expected rows to verify, got none");
}

#[test]
fn rows_in_subfolders_are_not_left_out() {
    let parent = tempfile::tempdir().expect("a folder");
    let [folder, output] = ["chain", "audit"].map(|name| parent.path().join(name));
    fs::create_dir(&folder).expect("a folder");
    write(&folder.join("a.parquet"), &chain(1, 1, 1), 10);
    fs::write(folder.join("notes"), "x").expect("writable");
    for name in [".cache", "_temporary"] {
        fs::create_dir(folder.join(name)).expect("a folder");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("absent", folder.join("link")).expect("a link");
    let run = || audit(&["audit", "--parquet", text(&folder), "--output", text(&output)]).assert();
    run().code(0);
    fs::create_dir(folder.join("year=2024")).expect("a folder");
    let mention = "year=2024: expected Parquet files in one folder, got a subfolder, whose files are not read";
    run().code(2).stdout("").stderr(predicate::str::contains(mention));
}

#[test]
fn rows_in_files_with_other_names_are_not_left_out() {
    let parent = tempfile::tempdir().expect("a folder");
    let [folder, output] = ["chain", "audit"].map(|name| parent.path().join(name));
    fs::create_dir(&folder).expect("a folder");
    let file = folder.join("a.parquet");
    write(&file, &chain(1, 1, 1), 10);
    for (name, contents) in [("notes", &b"PAR1 and more"[..]), ("3", b"PAR"), ("none", b"")] {
        fs::write(folder.join(name), contents).expect("writable");
    }
    for name in [".hidden", ".hidden.parquet", "_temporary"] {
        fs::copy(&file, folder.join(name)).expect("writable");
    }
    // Opening a pipe blocks until a writer appears.
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status();
        assert!(made.expect("mkfifo").success());
    }
    let run = || audit(&["audit", "--parquet", text(&folder), "--output", text(&output)]).assert();
    run().code(0);
    assert_eq!(summary(&output)["blocks"], 1);
    for name in ["b.parq", "c.parquet.1", "d"] {
        let other = folder.join(name);
        fs::copy(&file, &other).expect("writable");
        let mention = format!(
            "{name}: expected a name that ends in .parquet, got a Parquet file with another name, whose rows are not read"
        );
        run().code(2).stdout("").stderr(predicate::str::contains(mention));
        // It is read alone.
        let alone = parent.path().join(format!("audit of {name}"));
        audit(&["audit", "--parquet", text(&other), "--output", text(&alone)]).assert().code(0);
        fs::remove_file(&other).expect("a file");
    }
}

/// Writes some columns of a made block.
fn write_columns(path: &Path, columns: &[usize]) {
    write_rows(path, &batch(&chain(1, 1, 1)).project(columns).expect("columns"));
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("epoch-0000000000.parquet");
    write(&input, &chain(1, 1, 1), 10);
    let before = results(folder.path());
    let arguments = ["audit", "--parquet", text(folder.path()), "--output", text(folder.path())];
    let mention = "expected a new folder, or that of an earlier run, got one with other files";
    audit(&arguments).assert().code(2).stderr(predicate::str::contains(mention));
    assert!(results(folder.path()) == before);
}

#[cfg(unix)]
#[test]
fn a_lock_that_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["chain.parquet", "audit"].map(|name| folder.path().join(name));
    write(&input, &chain(1, 1, 1), 10);
    let lock = output.join("lock");
    let mention = "lock: expected a file, got a folder, a link, a pipe or a device";
    let refused = || {
        let arguments = ["audit", "--parquet", text(&input), "--output", text(&output)];
        let run = audit(&arguments).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(mention));
        let names = fs::read_dir(&output).expect("a folder");
        assert_eq!(names.count(), 1);
    };
    fs::create_dir_all(&lock).expect("a folder");
    refused();
    fs::remove_dir(&lock).expect("a folder");
    std::os::unix::fs::symlink(folder.path().join("absent"), &lock).expect("a link");
    refused();
    fs::remove_file(&lock).expect("a link");
    // Opening a pipe blocks until a reader appears.
    let made = std::process::Command::new("mkfifo").arg(&lock).status().expect("mkfifo");
    assert!(made.success());
    refused();
}

#[test]
fn a_block_that_denies_its_proof_of_work_is_not_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["chain.parquet", "audit"].map(|name| folder.path().join(name));
    let mut blocks = chain(1, 1, 1);
    // Version 11 was the last one before RandomX.
    blocks[0].hashing_blob[..2].copy_from_slice(&[11, 11]);
    blocks[0].height = 3_000_000;
    write(&input, &blocks, 10);
    audit(&["audit", "--parquet", text(&input), "--output", text(&output)]).assert().code(1);
    let reason = &summary(&output)["epochs"][0]["evidence"][0]["reason"];
    let expected = "hashing_blob: expected a block of version 16 at height 3000000, got version 11";
    assert_eq!(reason, expected);
}

#[test]
fn an_output_in_the_input_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("chain");
    fs::create_dir(&input).expect("a folder");
    write(&input.join("a.parquet"), &chain(1, 1, 1), 10);
    let run = |output: &Path| {
        audit(&["audit", "--parquet", text(&input), "--output", text(output)]).assert()
    };
    let mut outputs = vec![input.join("audit"), input.join("a/b"), input.join("../chain/audit")];
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&input, &link).expect("a link");
        outputs.push(link.join("audit"));
    }
    for output in outputs {
        let mention = "expected a folder outside the input";
        run(&output).code(2).stdout("").stderr(predicate::str::contains(mention));
        assert!(!input.join("audit").exists() && !input.join("a").exists(), "{output:?}");
    }
    // Such a subfolder is ignored when the run is resumed.
    for _ in 0..2 {
        run(&input.join("_audit/a")).code(0);
        run(&folder.path().join("chain-audit")).code(0);
    }
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
    fs::remove_file(output.join("lock")).expect("a lock");
    let before = results(&output);
    run(&second).code(2).stderr(predicate::str::contains(mention));
    assert!(results(&output) == before, "without a lock");
    run(&first).code(0);
    let lock = File::open(output.join("lock")).expect("a lock");
    lock.try_lock().expect("nobody has it");
    run(&first).code(2).stderr(predicate::str::contains("another process uses this folder"));
    drop(lock);
    fs::write(output.join("run.json"), "{").expect("writable");
    run(&first).code(2).stderr(predicate::str::contains("or that of an earlier run"));
}
