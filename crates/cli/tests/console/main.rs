//! The program on a console of Windows: what it draws there, colours, and Ctrl-C.

#![cfg(windows)]

#[path = "../common/mod.rs"]
mod common;
mod screen;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Arc,
};

use assert_cmd::cargo::cargo_bin;
use common::{
    fake_node::{FakeChain, Reply, serve},
    mainnet_lines,
};
use screen::{Screen, on_a_console};
use serde_json::{Value, json};

/// The exit code of a program that Ctrl-C ended.
const CONTROL_C_EXIT: i32 = 0xC000_013A_u32 as i32;

/// The program with its messages on the console.
fn randomx(screen: &Screen, arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("randomx"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(screen.stream());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "TERM"] {
        command.env_remove(variable);
    }
    command
}

/// Starts it. Its output is read from what is returned.
fn start(screen: &Screen, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut child = randomx(screen, arguments).spawn().expect("the program starts");
    let stdout = child.stdout.take().expect("a pipe");
    (child, BufReader::new(stdout))
}

fn read_line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    line
}

/// Waits for a program that Ctrl-C ends.
fn assert_interrupted(child: &mut Child) {
    // Wine's own handler ends a program with 0.
    let code = child.wait().expect("an exit").code();
    assert!([Some(CONTROL_C_EXIT), Some(0)].contains(&code), "{code:?}");
}

#[test]
fn progress_is_drawn_on_a_console_that_breaks_lines_like_a_terminal() {
    on_a_console("progress_is_drawn_on_a_console_that_breaks_lines_like_a_terminal", |screen| {
        assert!(!screen.interprets_sequences());
        let (mut child, mut output) = start(screen, &["hash", "--jsonl", "-"]);
        let input = child.stdin.as_mut().expect("a pipe");
        input.write_all(b"{\"key\":\"00\",\"input\":\"00\"}\n").expect("the program reads");
        screen.wait_for("cache [");
        assert!(read_line(&mut output).contains("\"hash\""));
        screen.wait_for("1 hashes");
        // Otherwise each drawing would leave its line behind. Wine has this mode, but not its effect, so that the
        // bars are removed cannot be tested there.
        assert!(screen.interprets_sequences());
        drop(child.stdin.take());
        assert!(child.wait().expect("an exit").success());
    });
}

#[test]
fn messages_have_no_escape_sequences_on_a_console_that_does_not_interpret_them() {
    on_a_console(
        "messages_have_no_escape_sequences_on_a_console_that_does_not_interpret_them",
        |screen| {
            for plain in [true, false] {
                let mut refused = randomx(screen, &["hash", &format!("--mine-{plain}")]);
                if plain {
                    refused.env("NO_COLOR", "1");
                }
                assert_eq!(refused.status().expect("the program starts").code(), Some(2));
                screen.wait_for(&format!("error: unexpected argument '--mine-{plain}' found"));
                assert!(!screen.interprets_sequences());
                assert!(!screen.text().contains('\u{1b}'), "{:?}", screen.text().trim());
            }
        },
    );
}

#[test]
fn ctrl_c_ends_the_server_even_while_it_works() {
    on_a_console("ctrl_c_ends_the_server_even_while_it_works", |screen| {
        let (mut child, mut output) = start(screen, &["serve", "--port", "0"]);
        let address = read_line(&mut output);
        let host = address.trim().trim_start_matches("http://").trim_end_matches('/');
        let body = json!({ "key": "", "inputs": vec!["00"; 4000], "engine": "interpreter" });
        let body = body.to_string();
        let mut stream = std::net::TcpStream::connect(host).expect("the server listens");
        write!(
            stream,
            "POST /api/hash HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it is sent");
        let mut events = BufReader::new(stream).lines().map_while(Result::ok);
        assert!(events.any(|line| line == "event: hash"));
        screen.interrupt();
        assert!(child.wait().expect("an exit").success());
    });
}

#[test]
fn ctrl_c_ends_a_run_between_whole_lines() {
    on_a_console("ctrl_c_ends_a_run_between_whole_lines", |screen| {
        let (mut child, mut output) = start(screen, &["verify", "--jsonl", "-"]);
        let line = mainnet_lines()[0].to_string() + "\n";
        let mut input = child.stdin.take().expect("a pipe");
        // The program stops reading when it has enough to do.
        let writer = std::thread::spawn(move || {
            let _ = input.write_all(line.repeat(3000).as_bytes());
        });
        let first = read_line(&mut output);
        screen.interrupt();
        assert_interrupted(&mut child);
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("text");
        let answers: Vec<Value> = (first + &rest)
            .lines()
            .map(|line| serde_json::from_str(line).expect("a whole line"))
            .collect();
        assert!(answers.len() < 3000 && answers.iter().all(|answer| answer["valid"] == true));
        writer.join().expect("no panic");
    });
}

#[test]
fn ctrl_c_leaves_a_store_that_a_restart_goes_on_from() {
    on_a_console("ctrl_c_leaves_a_store_that_a_restart_goes_on_from", |screen| {
        const BLOCKS: u64 = 20;
        let chain = Arc::new(FakeChain::new(BLOCKS));
        let node = serve(Arc::clone(&chain), |_, _, result| Reply::Result(result));
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("a chain, Größe 空");
        let store = store.to_str().expect("UTF-8");
        let follow = ["follow", "--network", "regtest", "--fixed-difficulty", "1", "--json"];
        let follow = [&follow[..], &["--node", &node, "--store", store]].concat();

        let (mut child, mut output) = start(screen, &follow);
        let tip = loop {
            let line = read_line(&mut output);
            let event: Value = serde_json::from_str(&line).expect("JSON");
            if event["event"] == "tip" && event["height"] == BLOCKS {
                break event;
            }
        };
        screen.interrupt();
        assert_interrupted(&mut child);

        let again = randomx(screen, &[&follow[..], &["--once"]].concat()).output();
        let again = again.expect("the program starts");
        assert!(again.status.success(), "{}", screen.text().trim());
        let events = common::parse_jsonl(&again.stdout);
        let tips: Vec<&Value> = events.iter().filter(|event| event["event"] == "tip").collect();
        assert_eq!(tips, [&tip], "nothing is hashed again");
        let files = fs::read_dir(store).expect("a folder").count();
        assert_eq!(files, 2, "the state and the lock");
    });
}
