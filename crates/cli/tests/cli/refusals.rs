//! Unusable arguments and input: exit code 2, and a message that names the culprit.

use std::fs;

use crate::common::{assert_refused, mainnet_lines, on_lines, parse_jsonl, randomx};
use predicates::prelude::*;

const GOOD_JOB: &str = r#"{"version":1,"key":"00","input":"00"}"#;

#[test]
fn a_wrong_command_line_exits_with_2() {
    for (arguments, mention) in [
        (&[][..], "Usage"),
        (&["mine"], "mine"),
        (&["hash"], "--key"),
        (&["hash", "--key", "00"], "--input"),
        (&["hash", "--key", "00", "--key-text", "x", "--input", "00"], "--key-text"),
        (&["hash", "--key", "00", "--input", "00", "--input-text", "x"], "--input-text"),
        (&["hash", "--jsonl", "-", "--key", "00"], "--key"),
        (&["hash", "--jsonl", "-", "--version", "v2"], "--version"),
        (&["hash", "--key", "00", "--input", "00", "--version", "v3"], "v3"),
        (&["hash", "--key", "00", "--input", "00", "--engine", "fast"], "--engine"),
        (&["hash", "--key", "00", "--input", "00", "--threads", "0"], "--threads"),
        (&["hash", "--key", "00", "--input", "00", "--threads", "1025"], "--threads"),
        (&["hash", "--key", "00", "--input", "00", "--threads", "10000"], "--threads"),
        (&["hash", "--key", "00", "--input", "00", "--mode", "slow"], "--mode"),
        (&["hash", "--key", "00", "--input", "00", "--without", "sse2"], "--without"),
        (&["hash", "--key", "00", "--input", "00", "--lanes", "0"], "--lanes"),
        (&["hash", "--key", "00", "--input", "00", "--lanes", "9"], "--lanes"),
        (&["hash", "--key", "00", "--input", "00", "--lanes", "x"], "--lanes"),
        // It creates one VM.
        (&["info", "--threads", "2"], "--threads"),
        (&["verify"], "--jsonl"),
        (&["verify", "--jsonl"], "--jsonl"),
        (&["verify", "--evidence", "x", "--mode", "fast"], "cannot be used with '--mode <MODE>'"),
        (
            &["verify", "--sample", "5", "--jsonl", "x"],
            "'--sample <N>' cannot be used with '--jsonl",
        ),
        (
            &["verify", "--jsonl", "x", "--checkpoint", "y"],
            "cannot be used with '--checkpoint <FILE>'",
        ),
        (&["verify", "--fixed-difficulty", "5"], "--jsonl"),
        (
            &["verify", "--fixed-difficulty", "5", "--jsonl", "x"],
            "'--fixed-difficulty <N>' cannot be used with '--jsonl",
        ),
        (
            &["verify", "--evidence", "x", "--timeout", "5"],
            "cannot be used with '--timeout <SECONDS>'",
        ),
        (&["verify", "--sample", "5"], "--node <URL>"),
        #[cfg(unix)]
        (&["verify", "--listen", "x", "--retries", "3"], "cannot be used with '--retries <N>'"),
    ] {
        let run = randomx(arguments).assert().code(2).stdout("");
        run.stderr(predicate::str::contains(mention));
    }
}

#[test]
fn a_range_that_ends_before_its_begin_is_refused_before_the_node_is_asked() {
    // Nothing listens there.
    let node = ["verify", "--node", "http://127.0.0.1:1"];
    for (from, to) in [("5", "4"), ("18446744073709551615", "1")] {
        let run = randomx(&[&node[..], &["--from", from, "--to", to]].concat()).assert();
        assert_refused(run, &format!("--to: expected {from} or more, as in --from, got {to}"));
    }
}

/// Without the proxy, the node would learn who asks.
#[test]
fn an_unusable_proxy_is_named_before_anything_is_sent() {
    let node = ["--node", "http://127.0.0.1:1"];
    let store = tempfile::tempdir().expect("a folder");
    let store = ["--store", store.path().to_str().expect("text")];
    let sentence = "ALL_PROXY: expected the address of a proxy, such as socks5://127.0.0.1:9050";
    for arguments in [
        [&["verify", "--from", "1"][..], &node].concat(),
        [&["follow"][..], &node].concat(),
        [&["relay"][..], &node, &store].concat(),
        [&["guard"][..], &node, &store].concat(),
    ] {
        let run = randomx(&arguments).env("ALL_PROXY", "sock5://127.0.0.1:9050").assert();
        assert_refused(run, sentence);
    }
}

#[test]
fn redirected_output_has_no_escape_sequences() {
    for arguments in [&["--help"][..], &["help", "hash"], &["hash", "--mine"], &["info"]] {
        let mut command = randomx(arguments);
        for variable in ["NO_COLOR", "CI", "CLICOLOR"] {
            command.env_remove(variable);
        }
        let output = command.env("TERM", "xterm-256color").output().expect("the program starts");
        let printed = [output.stdout, output.stderr].concat();
        assert!(!printed.is_empty() && !printed.contains(&0x1b), "{arguments:?}");
    }
}

#[test]
fn a_wrong_byte_argument_is_named() {
    for (key, input, sentence) in [
        ("abc", "00", "--key: odd number of hex digits (3)"),
        ("0x", "00", "--key: 'x' at position 2 is not a hex digit"),
        ("00", "é", "--input: 'é' at position 1 is not a hex digit"),
        ("00", "00 ", "--input: odd number of hex digits (3)"),
    ] {
        assert_refused(randomx(&["hash", "--key", key, "--input", input]).assert(), sentence);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("missing.jsonl");
    for subcommand in ["hash", "verify"] {
        for file in [folder.path(), &missing] {
            let file = file.to_str().expect("a UTF-8 path");
            let named = predicate::str::starts_with(format!("error: {file}: cannot read it: "));
            let run = randomx(&[subcommand, "--jsonl", file]).assert();
            run.code(2).stdout("").stderr(named);
        }
    }
}

#[test]
fn a_wrong_hash_line_is_named() {
    let too_long = "00".repeat((1 << 20) + 1);
    for (line, problem) in [
        ("", "expected a JSON object, got a blank line"),
        ("[1,\"00\",\"00\"]", "expected a JSON object"),
        (r#"{"version":1,"key":"00","inp"#, "incomplete JSON object"),
        (r#"{"key":"0","input":"00"}"#, "key: odd number of hex digits (1)"),
        (r#"{"key":"0g","input":"00"}"#, "key: 'g' at position 2 is not a hex digit"),
        (r#"{"key":"00","input":"0x00"}"#, "input: 'x' at position 2 is not a hex digit"),
        (
            &format!(r#"{{"key":"{too_long}","input":""}}"#),
            "key: expected at most 1048576 bytes, got 1048577",
        ),
        (
            &format!(r#"{{"key":"","input":"{too_long}"}}"#),
            "input: expected at most 1048576 bytes, got 1048577",
        ),
        (r#"{"key":"00"}"#, "missing field `input` (column 12)"),
        (r#"{"key":"","key":"","input":""}"#, "duplicate field `key` (column 15)"),
        (
            r#"{"key":"","input":"","Version":1}"#,
            "unknown field `Version`, expected one of `version`, `key`, `input` (column 30)",
        ),
        (r#"{"key":7,"input":""}"#, "key: invalid type: integer `7`, expected a string (column 8)"),
        (r#"{"key":"","input":null}"#, "input: invalid type: null, expected a string (column 22)"),
        (
            r#"{"version":0,"key":"","input":""}"#,
            "version: invalid value: integer `0`, expected 1 or 2 (column 12)",
        ),
        (
            r#"{"version":"v1","key":"","input":""}"#,
            "version: invalid type: string \"v1\", expected 1 or 2 (column 15)",
        ),
        (r#"{"key":"","input":""} x"#, "trailing characters (column 23)"),
    ] {
        // The good line after it is not hashed.
        let lines = format!("{line}\n{GOOD_JOB}\n");
        assert_refused(on_lines("hash", lines), &format!("stdin: line 1: {problem}"));
    }
}

#[test]
fn a_wrong_verify_line_is_named() {
    let good = mainnet_lines()[0].to_string();
    let seed = "00".repeat(32);
    let line = |seed: &str, blob: &str, difficulty: &str| {
        format!(r#"{{"seed_hash":"{seed}","hashing_blob":"{blob}","difficulty":{difficulty}}}"#)
    };
    let over = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    let digits = "difficulty: expected only decimal digits (no sign, fraction or exponent)";
    let type_of = "difficulty: expected an integer, or its decimal digits in a string";
    let size = |got| format!("seed_hash: expected 32 bytes (64 hex digits), got {got} bytes");
    for (line, problem) in [
        (line(&seed[2..], "00", "1"), size(31)),
        (line(&format!("{seed}00"), "00", "1"), size(33)),
        (line("", "00", "1"), size(0)),
        (line(&seed[1..], "00", "1"), "seed_hash: odd number of hex digits (63)".into()),
        (line(&seed, "0", "1"), "hashing_blob: odd number of hex digits (1)".into()),
        (
            line(&seed, &"00".repeat((1 << 20) + 1), "1"),
            "hashing_blob: expected at most 1048576 bytes, got 1048577".into(),
        ),
        (line(&seed, "zz", "1"), "hashing_blob: 'z' at position 1 is not a hex digit".into()),
        (line(&seed, "00", "0"), "difficulty: expected at least 1, got 0".into()),
        (line(&seed, "00", "-1"), digits.into()),
        (line(&seed, "00", "1.0"), digits.into()),
        (line(&seed, "00", "1e3"), digits.into()),
        (line(&seed, "00", "\"1e3\""), digits.into()),
        (line(&seed, "00", over), "difficulty: expected at most 2^256 - 1, got more".into()),
        (line(&seed, "00", "\"\""), "difficulty: expected decimal digits, got nothing".into()),
        (line(&seed, "00", "null"), type_of.into()),
        (line(&seed, "00", "[1]"), type_of.into()),
        (line(&seed, "00", "NaN"), "expected value (column 114)".into()),
        (line(&seed, "00", "01"), "invalid number (column 115)".into()),
        (
            format!(r#"{{"seed_hash":"{seed}","difficulty":1}}"#),
            "missing field `hashing_blob` (column 95)".into(),
        ),
        (good[..good.len() - 1].into(), "incomplete JSON object".into()),
    ] {
        let lines = format!("{line}\n{good}\n");
        assert_refused(on_lines("verify", lines), &format!("stdin: line 1: {problem}"));
    }
}

#[test]
fn a_file_is_named_with_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("jobs.jsonl");
    fs::write(
        &file,
        format!("{}{{\"key\":\"abc\",\"input\":\"\"}}", format!("{GOOD_JOB}\n").repeat(6)),
    )
    .expect("a file");
    let file = file.to_str().expect("a UTF-8 path");
    let sentence = format!("error: {file}: line 7: key: odd number of hex digits (3)\n");
    let run = randomx(&["hash", "--jsonl", file]).assert().code(2).stderr(sentence);
    assert_eq!(parse_jsonl(&run.get_output().stdout).len(), 6);
}

#[test]
fn bytes_that_are_not_plain_text_are_refused() {
    let line = b"{\"key\":\"\xff\"}\n";
    assert_refused(on_lines("hash", line), "stdin: line 1: not UTF-8 at byte 9");
    let sentence = "stdin: line 1: expected UTF-8 without a byte order mark";
    assert_refused(on_lines("hash", format!("\u{feff}{GOOD_JOB}\n")), sentence);
    // Characters that would clear a terminal, or reverse the text after them, are escaped.
    for (character, escaped) in [("\\u001b", "\\u{1b}"), ("\\u202e", "\\u{202e}")] {
        let sentence = format!(
            "stdin: line 1: unknown field `{escaped}c`, expected one of `version`, `key`, `input` \
             (column 10)"
        );
        assert_refused(on_lines("hash", format!(r#"{{"{character}c":1}}"#)), &sentence);
    }
}

#[test]
fn an_endless_line_is_refused_early() {
    let sentence = "stdin: line 1: longer than 4456448 bytes";
    assert_refused(on_lines("verify", vec![b' '; 5 << 20]), sentence);
}

#[cfg(unix)]
#[test]
fn files_without_an_end_are_refused() {
    for (arguments, most) in [
        (&["follow", "--node", "http://127.0.0.1:9", "--start", "/dev/zero"][..], 1 << 20),
        (&["verify", "--evidence", "/dev/zero"], 16 << 20),
        (&["bench", "--compare", "/dev/zero"], 1 << 20),
    ] {
        let sentence = format!("/dev/zero: expected at most {most} bytes");
        assert_refused(randomx(arguments).assert(), &sentence);
    }
}

#[cfg(unix)]
#[test]
fn certificates_without_an_end_are_refused() {
    let arguments = ["guard", "--node", "http://127.0.0.1:9", "--store", "s", "--ca", "/dev/zero"];
    let run = randomx(&arguments).assert().code(2).stdout("");
    let sentence = "invalid value '/dev/zero' for '--ca <FILE>': expected at most 1048576 bytes";
    run.stderr(predicate::str::contains(sentence));
}

/// A terminal's history and the logs of a service manager keep messages.
#[test]
fn a_login_in_a_refused_address_is_not_shown() {
    for (subcommand, option, address) in [
        ("verify", "--node", "http://alice:secret@127.0.0.1:9"),
        ("follow", "--node", "http://alice:secret@127.0.0.1:9"),
        ("follow", "--node", "alice:@node.example"),
        ("follow", "--relay", "alice:secret@127.0.0.1:9"),
        ("relay", "--node", "http://alice:secret@127.0.0.1:bad"),
        ("guard", "--node", "http://alice:secret@127.0.0.1:9"),
        ("guard", "--relay", "http://alice:secret@[::1"),
        ("guard", "--proxy", "http://alice:secret@127.0.0.1:9"),
        ("guard", "--proxy", "socks5://alice:secret@"),
    ] {
        let run = randomx(&[subcommand, option, address]).assert().code(2).stdout("");
        let run = run.stderr(predicate::str::starts_with("error: invalid value '***@"));
        let run = run.stderr(predicate::str::contains(format!("' for '{option} <URL>': ")));
        let run = run.stderr(predicate::str::contains("alice").not());
        run.stderr(predicate::str::contains("secret").not());
    }
    // An address in place of another argument may have a login too.
    let address = "http://alice:secret@127.0.0.1:9";
    let attached = format!("--json={address}");
    for (arguments, named) in [
        (&[address][..], "unrecognized subcommand '***@127.0.0.1:9'"),
        (&["follow", address], "unexpected argument '***@127.0.0.1:9' found"),
        (&["follow", "--", address], "unexpected argument '***@127.0.0.1:9' found"),
        (&["follow", &attached], "unexpected value '***@127.0.0.1:9' for '--json' found"),
        (&["verify", "--from", address], "invalid value '***@127.0.0.1:9' for '--from <HEIGHT>'"),
    ] {
        let run = randomx(arguments).assert().code(2).stdout("");
        let run = run.stderr(predicate::str::starts_with(format!("error: {named}")));
        let run = run.stderr(predicate::str::contains("alice").not());
        run.stderr(predicate::str::contains("secret").not());
    }
    // Without a login, the address is of use.
    let run = randomx(&["follow", "--node", "127.0.0.1:9"]).assert().code(2).stdout("");
    let named =
        "error: invalid value '127.0.0.1:9' for '--node <URL>': relative URL without a base";
    run.stderr(predicate::str::starts_with(named));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_certificates_may_have_any_name() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(OsStr::from_bytes(b"gr\xf6\xdfe.pem"));
    fs::write(&file, "no certificates").expect("writable");
    let mut command = randomx(&["guard", "--node", "http://127.0.0.1:9", "--store", "s", "--ca"]);
    let run = command.arg(&file).assert().code(2).stdout("");
    run.stderr(predicate::str::contains("for '--ca <FILE>': expected "));
}
