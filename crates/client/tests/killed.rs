//! The store of a process that is killed while it writes.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use randomx_client::Store;

/// Names the folder of the store for the process that writes.
const WRITER: &str = "RANDOMX_TEST_WRITER";

/// The line that this process prints after each state.
const WRITTEN: &str = "written";

/// As long as three days of headers.
const LENGTH: usize = 250_000;

/// Returns the state number `n`, in which every part depends on the number.
fn state(n: u64) -> Vec<u8> {
    n.to_le_bytes().repeat(LENGTH / 8)
}

/// Writes one state after another until the process is killed.
fn write(folder: &Path) -> ! {
    let store = Store::open(folder).expect("nobody else uses it");
    let mut n = number(&store.read().expect("readable"));
    loop {
        n += 1;
        store.write(&state(n)).expect("writable");
        println!("{WRITTEN}");
    }
}

/// Starts a process that writes, and returns it and its output when it has written some states.
fn writer(folder: &Path, states: usize) -> (Child, impl BufRead) {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "a_killed_process_leaves_the_old_or_the_new_state", "--nocapture"]);
    command.env(WRITER, folder).stdout(Stdio::piped());
    let started = command.spawn().or_else(|_| {
        // On a busy machine, Wine fails to start some programs.
        thread::sleep(Duration::from_secs(1));
        command.spawn()
    });
    let mut writer = started.expect("it starts");
    let mut output = BufReader::new(writer.stdout.take().expect("its output"));
    let lines = output.by_ref().lines().map_while(Result::ok);
    let written = lines.filter(|line| line.ends_with(WRITTEN)).take(states);
    assert_eq!(written.count(), states);
    (writer, output)
}

/// Returns the number of a state, which must be whole.
#[track_caller]
fn number(found: &Option<Vec<u8>>) -> u64 {
    let Some(bytes) = found else { return 0 };
    let first = bytes.first_chunk::<8>().expect("a whole state");
    let n = u64::from_le_bytes(*first);
    assert!(*bytes == state(n), "the state {n} is whole");
    n
}

#[test]
fn a_killed_process_leaves_the_old_or_the_new_state() {
    if let Some(folder) = env::var_os(WRITER) {
        write(Path::new(&folder));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (mut last, mut interrupted, mut random) = (0, 0, 1_u64);
    for _ in 0..60 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let states = 1 + (random >> 60) as usize % 4;
        let (mut writer, output) = writer(folder.path(), states);
        thread::sleep(Duration::from_micros((random >> 40) % 5_000));
        let is_locked = Store::open(folder.path()).is_err();
        writer.kill().expect("it runs");
        writer.wait().expect("it has ended");
        drop(output);
        assert!(is_locked, "a process that writes has the lock");
        let files = fs::read_dir(folder.path()).expect("a folder").count();
        interrupted += u32::from(files > 2);
        let store = Store::open(folder.path()).expect("the lock ends with the process");
        let n = number(&store.read().expect("readable"));
        assert!(n >= last + states as u64, "{n} after {last} and {states} states");
        last = n;
        let files = fs::read_dir(folder.path()).expect("a folder").count();
        assert!(files <= 2, "the state and the lock");
    }
    assert!(interrupted > 0, "some were killed in the middle of a write");
}
