//! `verify --listen`: verdicts through a Unix socket.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::Shutdown,
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::{SocketAddr, UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::common::{mainnet_lines, randomx, start};
use randomx_testing::Running;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The longest that an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running program, and its socket in a folder of its own.
struct Service {
    child: Running,
    folder: TempDir,
    path: PathBuf,
}

impl Service {
    fn start() -> Service {
        Service::start_in(tempfile::tempdir().expect("a folder"))
    }

    fn start_in(folder: TempDir) -> Service {
        let path = socket(&folder);
        Service::start_at(path, folder)
    }

    /// Starts the program, and waits until it listens at a path in a folder.
    fn start_at(path: PathBuf, folder: TempDir) -> Service {
        let named = path.to_str().expect("UTF-8");
        let verify = ["verify", "--threads", "1", "--listen", named];
        let (child, line) = start(&verify, Stdio::inherit());
        assert_eq!(line, format!("listening on {}\n", path.display()));
        Service { child, folder, path }
    }

    fn connect(&self) -> Client {
        let stream = UnixStream::connect(&self.path).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Client { reader: BufReader::new(stream.try_clone().expect("a handle")), stream }
    }

    /// Asks the program to stop. Returns its exit code.
    fn stop(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().expect("there is `kill`");
        assert!(sent.success());
        self.child.wait().expect("an exit").code()
    }
}

/// A program that asks for verdicts.
struct Client {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Client {
    fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("the program reads");
    }

    /// The next answer, or `None` at the end of the connection.
    fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).expect("an answer in time");
        (read > 0).then(|| serde_json::from_str(&line).expect("a JSON line"))
    }
}

fn socket(folder: &TempDir) -> PathBuf {
    folder.path().join("shares.sock")
}

/// Lines of three blocks. The second is not valid.
fn lines() -> [String; 3] {
    let mut lines = mainnet_lines();
    lines[1]["difficulty"] = json!("9".repeat(77));
    [0, 1, 2].map(|index| format!("{}\n", lines[index]))
}

#[test]
fn connections_are_answered_each_in_its_order() {
    let mut service = Service::start();
    let [first, second, third] = lines();
    let (mut one, mut two) = (service.connect(), service.connect());
    one.write(&first);
    assert_eq!(one.answer().expect("a verdict")["valid"], true);
    // Two at once, and a line in two parts.
    one.write(&format!("{first}{second}{}", &third[..20]));
    two.write(&format!("{second}{first}"));
    let valid = |client: &mut Client| client.answer().expect("a verdict")["valid"].clone();
    assert_eq!([valid(&mut two), valid(&mut two)], [json!(false), json!(true)]);
    assert_eq!([valid(&mut one), valid(&mut one)], [json!(true), json!(false)]);
    one.write(&third[20..]);
    // Verdicts follow also if no more lines do.
    one.stream.shutdown(Shutdown::Write).expect("a half-open connection");
    assert_eq!(valid(&mut one), true);
    assert_eq!(one.answer(), None);
    assert_eq!(service.stop(), Some(0));
    assert!(!socket(&service.folder).exists());
    assert_eq!(fs::read_dir(service.folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_malformed_line_ends_its_connection_and_no_other() {
    let service = Service::start();
    let [first, ..] = lines();
    let mut other = service.connect();
    for (line, message) in [
        ("{}\n", "connection: line 2: missing field `seed_hash`"),
        ("\u{0}\n", "connection: line 2: expected a JSON object"),
        (&"x".repeat(5 << 20), "connection: line 2: longer than"),
    ] {
        let mut client = service.connect();
        client.write(&first);
        // The program may end the connection before it has read the whole line.
        let _ = client.stream.write_all(line.as_bytes());
        let _ = client.stream.shutdown(Shutdown::Write);
        assert_eq!(client.answer().expect("a verdict")["valid"], true);
        let refusal = client.answer().expect("the reason of the end");
        let error = refusal["error"].as_str().expect("a message");
        assert!(error.starts_with(message), "{error}");
    }
    // One that vanishes with lines under way, too.
    let mut vanishing = service.connect();
    vanishing.write(&first.repeat(40));
    drop(vanishing);
    other.write(&first);
    assert_eq!(other.answer().expect("a verdict")["valid"], true);
}

#[test]
fn connections_are_limited_and_their_places_become_free() {
    let service = Service::start();
    let [first, ..] = lines();
    let mut held: Vec<Client> = (0..16).map(|_| service.connect()).collect();
    let mut refused = service.connect();
    let error = json!({ "error": "expected at most 16 connections" });
    assert_eq!(refused.answer(), Some(error.clone()));
    assert_eq!(refused.answer(), None);
    held.truncate(8);
    held[0].write(&first);
    assert_eq!(held[0].answer().expect("a verdict")["valid"], true);
    let start = std::time::Instant::now();
    loop {
        let mut client = service.connect();
        client.write(&first);
        match client.answer() {
            Some(answer) if answer == error => assert!(start.elapsed() < PATIENCE),
            answer => break assert_eq!(answer.expect("a verdict")["valid"], true),
        }
    }
}

#[test]
fn the_socket_is_private_and_replaces_a_stale_one_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = socket(&folder);
    drop(UnixListener::bind(&path).expect("a socket that nobody serves"));
    let mut service = Service::start_in(folder);
    let file = fs::symlink_metadata(&path).expect("a file");
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    refused(&path, "another program listens on this socket");

    // A file that somebody put in its place stays.
    fs::remove_file(&path).expect("a file");
    fs::write(&path, "precious").expect("a file");
    assert_eq!(service.stop(), Some(0));
    assert_eq!(fs::read_to_string(&path).expect("the file"), "precious");
    refused(&path, "expected a socket or no file, got another file");
    let missing = service.folder.path().join("missing/shares.sock");
    refused(&missing, "No such file or directory (os error 2)");
}

/// The path of a socket of a given length in a folder, and its own folder, which is created.
fn long_path(folder: &TempDir, length: usize) -> (PathBuf, PathBuf) {
    let inner = length - folder.path().as_os_str().len() - "//s".len();
    let inner = folder.path().join("x".repeat(inner));
    fs::create_dir(&inner).expect("a folder");
    (inner.join("s"), inner)
}

#[test]
fn every_path_to_which_a_client_can_connect_is_used_and_no_longer_one() {
    let fits = |length: &usize| SocketAddr::from_pathname("x".repeat(*length)).is_ok();
    let longest = (100..200).take_while(fits).last().expect("some fit");
    // The private folder's name has nine bytes.
    for length in [longest, longest - 1, longest - 9, longest - 11] {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, inner) = long_path(&folder, length);
        let mut service = Service::start_at(path.clone(), folder);
        let mode = fs::symlink_metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(&inner).expect("a folder").count(), 1);
        let [first, ..] = lines();
        let mut client = service.connect();
        client.write(&first);
        assert_eq!(client.answer().expect("a verdict")["valid"], true);
        assert_eq!(service.stop(), Some(0));
        assert_eq!(fs::read_dir(&inner).expect("a folder").count(), 0);
    }
    let folder = tempfile::tempdir().expect("a folder");
    for length in [longest + 1, longest + 60] {
        let (path, inner) = long_path(&folder, length);
        let sentence =
            format!("expected a path that fits into a socket's address, got {length} bytes");
        refused(&path, &sentence);
        assert_eq!(fs::read_dir(&inner).expect("a folder").count(), 0);
    }
}

fn refused(path: &Path, problem: &str) {
    let path = path.display().to_string();
    let run = randomx(&["verify", "--listen", &path]).assert();
    run.code(2).stdout("").stderr(format!("error: --listen {path}: {problem}\n"));
}
