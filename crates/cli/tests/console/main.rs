//! The program on a console of Windows: what it draws there, colours, and Ctrl-C.

#![cfg(windows)]

#[path = "../common/mod.rs"]
mod common;
mod program;
mod screen;
mod wine;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    sync::Arc,
};

use common::{
    fake_node::{FakeChain, Reply, serve},
    mainnet_lines,
};
use program::{Program, randomx};
use randomx_testing::say;
use screen::{PATIENCE, on_a_console};
use serde_json::{Value, json};

/// The exit code of a program that Ctrl-C ended.
const CONTROL_C_EXIT: i32 = 0xC000_013A_u32 as i32;

/// Waits for a program that Ctrl-C ends.
fn assert_interrupted(program: &mut Program) {
    let Some(status) = program.interrupted() else {
        return say("skipped: the exit code, because Wine ended the program and left its process");
    };
    // Wine's own handler ends a program with 0.
    let code = status.code();
    assert!([Some(CONTROL_C_EXIT), Some(0)].contains(&code), "{code:?}");
}

#[test]
fn progress_is_drawn_on_a_console_that_breaks_lines_like_a_terminal() {
    on_a_console("progress_is_drawn_on_a_console_that_breaks_lines_like_a_terminal", |screen| {
        assert!(!screen.interprets_sequences());
        let mut program = Program::start(&mut randomx(screen, &["hash", "--jsonl", "-"]));
        program.write("{\"key\":\"00\",\"input\":\"00\"}\n");
        screen.wait_for("cache [");
        assert!(program.next_line().contains("\"hash\""));
        screen.wait_for("1 hashes");
        // Otherwise each drawing would leave its line behind. Wine has this mode, but not its effect, so that the
        // bars are removed cannot be tested there.
        assert!(screen.interprets_sequences());
        assert!(program.exit("The end of its input").success());
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
                let status = Program::start(&mut refused).exit("An unexpected argument");
                assert_eq!(status.code(), Some(2));
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
        let mut program = Program::start(&mut randomx(screen, &["serve", "--port", "0"]));
        let address = program.next_line();
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
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let mut events = BufReader::new(stream).lines().map_while(Result::ok);
        assert!(events.any(|line| line == "event: hash"));
        screen.interrupt();
        assert!(program.exit("Ctrl-C").success());
    });
}

#[test]
fn ctrl_c_ends_a_run_between_whole_lines() {
    on_a_console("ctrl_c_ends_a_run_between_whole_lines", |screen| {
        let mut program = Program::start(&mut randomx(screen, &["verify", "--jsonl", "-"]));
        let line = mainnet_lines()[0].to_string() + "\n";
        let mut input = program.take_input();
        // The program stops reading when it has enough to do.
        let writer = std::thread::spawn(move || {
            let _ = input.write_all(line.repeat(3000).as_bytes());
        });
        let first = program.next_line();
        screen.interrupt();
        assert_interrupted(&mut program);
        let answers: Vec<Value> = std::iter::once(first)
            .chain(program.rest())
            .map(|line| serde_json::from_str(&line).expect("a whole line"))
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

        let mut program = Program::start(&mut randomx(screen, &follow));
        let tip = loop {
            let event: Value = serde_json::from_str(&program.next_line()).expect("JSON");
            if event["event"] == "tip" && event["height"] == BLOCKS {
                break event;
            }
        };
        screen.interrupt();
        assert_interrupted(&mut program);

        let mut again = Program::start(&mut randomx(screen, &[&follow[..], &["--once"]].concat()));
        let status = again.exit("The option --once");
        assert!(status.success(), "{}", screen.text().trim());
        let events = common::parse_jsonl(again.rest().join("\n").as_bytes());
        let tips: Vec<&Value> = events.iter().filter(|event| event["event"] == "tip").collect();
        assert_eq!(tips, [&tip], "nothing is hashed again");
        let files = fs::read_dir(store).expect("a folder").count();
        assert_eq!(files, 2, "the state and the lock");
    });
}
