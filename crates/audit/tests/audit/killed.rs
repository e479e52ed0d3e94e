//! Runs that are killed at random moments.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use assert_cmd::cargo::cargo_bin;
use randomx_testing::{Running, amount, say};

use crate::fake_node::{FakeChain, Reply, serve};
use crate::made::{chain, write};
use crate::{audit, results, text};

/// The times at which the finished files were written.
fn written(folder: &Path) -> BTreeMap<String, SystemTime> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a name");
        let is_result = name.starts_with("epoch-");
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        is_result.then(|| (name, modified.expect("a time")))
    };
    entries.filter_map(|entry| file(entry.expect("an entry"))).collect()
}

#[test]
fn an_audit_that_is_killed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let epochs = amount(6, 24);
    let input = folder.path().join("chain.parquet");
    write(&input, &chain(epochs as u64, 4, 2), 7);
    let whole = folder.path().join("whole");
    audit(&["audit", "--parquet", text(&input), "--output", text(&whole)]).assert().code(1);
    let output = folder.path().join("killed");
    let arguments = ["audit", "--parquet", text(&input), "--output", text(&output)];
    assert_eq!(run_and_kill(&arguments, &output), Some(1));
    assert_same(&output, &whole);
}

#[test]
fn a_collection_that_is_killed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = serve(Arc::new(FakeChain::new(2600)), |_, _, honest| Reply::Result(honest));
    let [whole, output] = ["whole", "killed"].map(|name| folder.path().join(name));
    let node = ["collect", "--node", &address, "--from", "1700", "--to", "2600", "--output"];
    audit(&[&node[..], &[text(&whole)]].concat()).assert().code(0);
    let arguments = [&node[..], &[text(&output)]].concat();
    assert_eq!(run_and_kill(&arguments, &output), Some(0));
    assert_same(&output, &whole);
}

/// Asserts that two folders have the same files. Their bytes would make a message of megabytes.
fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (results(a), results(b));
    assert!(a.keys().eq(b.keys()), "{:?} and {:?}", a.keys(), b.keys());
    let different: Vec<_> = a.iter().filter(|(name, bytes)| b[*name] != **bytes).collect();
    assert!(different.is_empty(), "{} files differ", different.len());
}

/// Runs the program again and again until it ends by itself, and returns its exit code. Checks after
/// each time that finished files stay as they are.
fn run_and_kill(arguments: &[&str], output: &Path) -> Option<i32> {
    let (mut random, mut kills, mut before) = (1_u64, 0, BTreeMap::new());
    let code = loop {
        let run =
            Command::new(cargo_bin!("randomx-audit")).args(arguments).stdout(Stdio::null()).spawn();
        let mut run = Running(run.expect("it starts"));
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Ever longer, so that a busy machine, too, finishes some epochs.
        thread::sleep(Duration::from_micros((random >> 40) % (300_000 * (kills + 1))));
        if let Some(status) = run.try_wait().expect("a child") {
            break status.code();
        }
        run.kill().expect("it runs");
        run.wait().expect("a child");
        kills += 1;
        let after = written(output);
        for (name, time) in &before {
            assert_eq!(after.get(name), Some(time), "{name} is neither lost nor written again");
        }
        before = after;
    };
    say(format!("killed {kills} times, after which {} files were done", before.len()));
    assert!(kills > 0);
    code
}
