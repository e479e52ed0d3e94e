//! `randomx follow`, `randomx relay` and `randomx verify --evidence`, with nodes that tests play.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Instant,
};

use crate::common::{
    fake_node::{FakeChain, Reply, serve},
    parse_jsonl, randomx, start,
};
use assert_cmd::assert::Assert;
use randomx_testing::Running;
use serde_json::{Value, json};

pub(crate) const BLOCKS: u64 = 20;

pub(crate) fn honest(_: &str, _: &Value, result: Value) -> Reply {
    Reply::Result(result)
}

/// Follows to the end of the sources' chains.
pub(crate) fn follow(arguments: &[&str]) -> Assert {
    follow_with("1", arguments)
}

pub(crate) fn follow_with(difficulty: &str, arguments: &[&str]) -> Assert {
    let common = ["follow", "--network", "regtest", "--fixed-difficulty", difficulty];
    let common = [&common[..], &["--once", "--json", "--timeout", "2", "--threads", "2"]].concat();
    randomx(&[&common[..], arguments].concat()).assert()
}

pub(crate) fn events(run: &Assert) -> Vec<Value> {
    parse_jsonl(&run.get_output().stdout)
}

/// The events of a kind.
pub(crate) fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

pub(crate) fn path(folder: &Path) -> &str {
    folder.to_str().expect("a path in UTF-8")
}

#[test]
fn two_nodes_are_followed_and_a_restart_goes_on_from_the_store() {
    let chain = Arc::new(FakeChain::new(BLOCKS));
    let (a, b) = (serve(Arc::clone(&chain), honest), serve(Arc::clone(&chain), honest));
    let folder = tempfile::tempdir().expect("a folder");
    let store = path(folder.path());
    let run = follow(&["--node", &a, "--node", &b, "--store", store]).code(0);
    let first = events(&run);
    let tip = of_kind(&first, "tip").pop().expect("a tip");
    assert_eq!((&tip["height"], &tip["id"]), (&json!(BLOCKS), &json!(chain.id(BLOCKS as usize))));
    let states: Vec<&Value> =
        of_kind(&first, "source").iter().map(|event| &event["state"]).collect();
    assert_eq!(states, ["following", "following"]);

    let kept = fs::read(folder.path().join("chain")).expect("a state");
    let run = follow(&["--node", &a, "--store", store]).code(0);
    assert_eq!(of_kind(&events(&run), "tip"), [tip], "nothing is hashed again");
    assert_eq!(fs::read(folder.path().join("chain")).expect("a state"), kept);

    let foreign = follow_with("2", &["--node", &a, "--store", store]).code(2);
    foreign.stderr(
        "error: store: expected a chain with the fixed difficulty 2, got one with the fixed difficulty 1\n",
    );
    fs::write(folder.path().join("chain"), &kept[..kept.len() - 1]).expect("writable");
    let damaged = follow(&["--node", &a, "--store", store]).code(2);
    damaged.stderr("error: store: expected a stored chain, got other or damaged bytes\n");
}

#[test]
fn a_side_with_more_work_replaces_the_other_and_leaves_evidence() {
    let (short, long) = (FakeChain::new(BLOCKS), FakeChain::forked(10, BLOCKS + 5));
    let tip = long.id(BLOCKS as usize + 5);
    let (a, b) = (serve(Arc::new(short), honest), serve(Arc::new(long), honest));
    let folder = tempfile::tempdir().expect("a folder");
    let store = path(folder.path());
    follow(&["--node", &a, "--store", store]).code(0);
    let run = follow(&["--node", &a, "--node", &b, "--store", store]).code(0);
    let events = events(&run);
    let [reorg] = of_kind(&events, "reorg")[..] else { panic!("one reorganisation: {events:?}") };
    assert_eq!((&reorg["common"]["height"], &reorg["depth"]), (&json!(10), &json!(10)));
    assert_eq!((&reorg["tip"]["id"], &reorg["tip"]["height"]), (&json!(tip), &json!(25)));
    assert_eq!(of_kind(&events, "deep-reorg").len(), 1, "it is announced");
    let evidence = of_kind(&events, "disagreement")[0]["evidence"].clone();
    let mut verified = randomx(&["verify", "--evidence", evidence.as_str().expect("a file")]);
    let run = verified.assert().code(0);
    let lines = parse_jsonl(&run.get_output().stdout);
    assert_eq!(lines[0]["common"]["height"], json!(10));
    let mut sides: Vec<u64> =
        lines[1..].iter().map(|side| side["valid"].as_u64().expect("a number")).collect();
    sides.sort_unstable();
    assert_eq!(sides, [10, 15]);
}

#[test]
fn the_tip_is_a_checkpoint_for_other_commands() {
    let chain = Arc::new(FakeChain::new(BLOCKS));
    let node = serve(Arc::clone(&chain), honest);
    let longer = serve(Arc::new(FakeChain::forked(BLOCKS, BLOCKS + 3)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("checkpoint.json");
    let file = path(&file);
    follow(&["--node", &node, "--checkpoint", file]).code(0);
    let run = follow(&["--node", &longer, "--start", file]).code(0);
    let all = events(&run);
    let heights: Vec<&Value> = of_kind(&all, "tip").iter().map(|tip| &tip["height"]).collect();
    assert_eq!(heights, [20, 23], "it begins at the checkpoint");
    let common = ["verify", "--network", "regtest", "--fixed-difficulty", "1", "--node", &longer];
    let run = randomx(&[&common[..], &["--checkpoint", file]].concat()).assert().code(0);
    let lines = events(&run);
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["valid"] == true && line["complete_start"] == true));
    let absent = follow(&["--node", &node, "--start", path(&folder.path().join("no"))]).code(2);
    absent.stdout("");
}

/// The node may be of another network, or synchronise anew.
#[test]
fn a_node_whose_chain_ends_before_the_stored_one_is_not_followed() {
    let [short, node, long] = [BLOCKS - 1, BLOCKS, BLOCKS + 1]
        .map(|blocks| serve(Arc::new(FakeChain::new(blocks)), honest));
    let folder = tempfile::tempdir().expect("a folder");
    let [store, file, new] = ["store", "file", "new"].map(|name| folder.path().join(name));
    let [store, file, new] = [&store, &file, &new].map(|file| path(file));
    follow(&["--node", &node, "--checkpoint", file]).code(0);
    follow(&["--node", &long, "--start", file, "--store", store]).code(0);
    let run = follow(&["--node", &short, "--store", store, "--checkpoint", new]).code(2);
    run.stderr(format!("error: no source could be followed: {short}/json_rpc is behind\n"));
    assert!(!Path::new(new).exists());
    follow(&["--node", &short, "--node", &long, "--store", store]).code(0);
}

#[test]
fn a_checkpoint_whose_block_was_replaced_is_told_from_another_network() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let longer = FakeChain::forked(BLOCKS - 1, BLOCKS + 3);
    let id = longer.id(BLOCKS as usize);
    let longer = serve(Arc::new(longer), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("checkpoint.json");
    let file = path(&file);
    follow(&["--node", &node, "--checkpoint", file]).code(0);
    let run = follow(&["--node", &longer, "--start", file]).code(2);
    run.stderr(format!(
        "error: no source could be followed: {longer}/json_rpc has another chain; if a \
         reorganisation replaced block {BLOCKS}, use an older checkpoint as --start\n"
    ));
    let common = ["verify", "--network", "regtest", "--fixed-difficulty", "1", "--node", &longer];
    let run = randomx(&[&common[..], &["--checkpoint", file]].concat()).assert().code(2);
    run.stdout("").stderr(format!(
        "error: the node has another block at the checkpoint's height {BLOCKS}: {id}; if a \
         reorganisation replaced the checkpoint's block, use an older checkpoint, or remove the file \
         and begin with --from\n"
    ));
}

#[test]
fn the_tip_is_a_checkpoint_also_if_another_source_lies() {
    let chain = Arc::new(FakeChain::new(BLOCKS));
    let node = serve(Arc::clone(&chain), honest);
    let liar = serve(Arc::new(FakeChain::forked(10, BLOCKS + 5)), |method, params, mut result| {
        if method == "get_block" && params["height"] == 11 {
            let mut block = hex::decode(result["blob"].as_str().expect("a blob")).expect("hex");
            // A vote for an older version than the block's own.
            block[1] -= 1;
            let id = randomx_monero::Block::parse(&block).expect("a block").id();
            result["block_header"]["hash"] = json!(hex::encode(id));
            result["blob"] = json!(hex::encode(block));
        }
        Reply::Result(result)
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("checkpoint.json");
    follow(&["--node", &node, "--node", &liar, "--checkpoint", path(&file)]).code(1);
    let text = fs::read_to_string(&file).expect("a checkpoint");
    let kept: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&kept["height"], &kept["id"]), (&json!(BLOCKS), &json!(chain.id(BLOCKS as usize))));
}

/// The hashing blob of such a block is unknown.
#[test]
fn a_node_with_blocks_of_an_unknown_format_needs_an_update() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), |method, params, mut result| {
        if method == "get_block" && params["height"] == BLOCKS {
            result["blob"] = json!(hex::encode([17; 60]));
        }
        Reply::Result(result)
    });
    let run = follow(&["--node", &node]).code(2);
    let events = events(&run);
    let state = of_kind(&events, "source").pop().expect("a state");
    assert_eq!(
        (&state["state"], &state["height"], &state["version"]),
        (&json!("update-needed"), &json!(BLOCKS), &json!(17))
    );
    assert_eq!(of_kind(&events, "tip").pop().expect("a tip")["height"], json!(BLOCKS - 1));
}

#[test]
fn a_stored_state_takes_the_place_of_a_start_that_does_not_contradict_it() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let forked = serve(Arc::new(FakeChain::forked(10, BLOCKS)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let [store, file, other] =
        ["store", "checkpoint", "other"].map(|name| path(&folder.path().join(name)).to_owned());
    let state = path(&Path::new(&store).join("chain")).to_owned();
    follow(&["--node", &forked, "--checkpoint", &other]).code(0);
    let first = follow(&["--node", &node, "--store", &store, "--checkpoint", &file]).code(0);
    let tip = |run: &Assert| of_kind(&events(run), "tip").pop().cloned().expect("a tip");
    let kept = fs::read(&state).expect("a state");

    let note =
        format!("note: --start {file}: not used, because {state} has a state to go on from\n");
    let again = follow(&["--node", &node, "--store", &store, "--start", &file]).code(0);
    let again = again.stderr(note);
    assert_eq!(tip(&again)["id"], tip(&first)["id"]);
    let refused = format!("error: --start {other}: expected block ");
    let refused = || predicates::str::starts_with(refused.as_str());
    let run = follow(&["--node", &forked, "--store", &store, "--start", &other]);
    run.code(2).stdout("").stderr(refused());
    let guard = ["guard", "--network", "regtest", "--fixed-difficulty", "1", "--node", &node];
    let more = ["--listen", "127.0.0.1:0", "--store", &store, "--start", &other];
    let run = randomx(&[&guard[..], &more].concat()).assert();
    run.code(2).stdout("").stderr(refused());
    assert_eq!(fs::read(&state).expect("a state"), kept);
}

#[test]
fn blocks_without_work_are_proven_and_not_saved() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let store = path(folder.path());
    // No hash of these blocks meets so great a difficulty.
    let run = follow_with("1000000000000000", &["--node", &node, "--store", store]).code(1);
    let events = events(&run);
    assert_eq!(of_kind(&events, "tip").len(), 1, "only the genesis block is trusted");
    let state = of_kind(&events, "source").pop().expect("a state");
    assert_eq!(state["state"], "invalid");
    let file = state["evidence"].as_str().expect("evidence");
    let run = randomx(&["verify", "--evidence", file]).assert().code(1);
    let side = parse_jsonl(&run.get_output().stdout).pop().expect("a side");
    let failed = side["refused"]["failed"][0].as_str().expect("a check");
    assert!(failed.starts_with("proof-of-work failed"), "{failed}");
}

#[test]
fn sources_that_do_not_answer_are_not_accused() {
    let silent = serve(Arc::new(FakeChain::new(BLOCKS)), |_, _, _| Reply::Raw(500, Vec::new()));
    let run = follow(&["--node", &silent]).code(2);
    let events = events(&run);
    assert_eq!(of_kind(&events, "source")[0]["state"], "unresponsive");
    let honest_node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    follow(&["--node", &silent, "--node", &honest_node]).code(0);
}

/// Ends a process after each of many times, and expects what another without an end leaves.
#[test]
fn a_follower_that_is_killed_goes_on_as_if_it_was_not() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let common = ["--network", "regtest", "--fixed-difficulty", "1", "--threads", "2"];
    let start = |store: &Path| {
        let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
            .args([&["follow", "--node", &node], &common[..], &["--once", "--store"]].concat())
            .arg(store)
            .stdout(Stdio::null())
            .spawn();
        Running(child.expect("the program starts"))
    };
    let begin = Instant::now();
    assert!(start(&whole).wait().expect("it ends").success());
    let took = begin.elapsed();
    let mut ended = 0;
    for part in 0..16 {
        let mut follower = start(&killed);
        thread::sleep(took * part / 14);
        follower.kill().expect("it was started");
        ended += u32::from(follower.wait().expect("it has ended").success());
    }
    assert!(ended < 16, "some were killed");
    assert!(start(&killed).0.wait().expect("it ends").success());
    let state = |store: &Path| fs::read(store.join("chain")).expect("a state");
    assert_eq!(state(&killed), state(&whole), "a restart equals no restart");
    assert_eq!(fs::read_dir(&killed).expect("a folder").count(), 2, "the state and the lock");
}

#[test]
fn a_store_has_one_follower() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let store = path(folder.path());
    let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
        .args(["follow", "--network", "regtest", "--fixed-difficulty", "1", "--json"])
        .args(["--node", &node, "--store", store])
        .stdout(Stdio::piped())
        .spawn();
    let mut first = Running(child.expect("the program starts"));
    let mut line = String::new();
    let mut lines = BufReader::new(first.stdout.take().expect("a pipe"));
    lines.read_line(&mut line).expect("an event");
    let second = follow(&["--node", &node, "--store", store]).code(2).stdout("");
    let error = String::from_utf8_lossy(&second.get_output().stderr).into_owned();
    assert!(error.ends_with(": another process uses this folder\n"), "{error}");
    first.kill().expect("it runs");
    first.wait().expect("it has ended");
    follow(&["--node", &node, "--store", store]).code(0);
}

/// A relay that ends with the test.
struct Relay {
    process: Running,
    address: String,
}

impl Relay {
    fn start(node: &str, store: &str) -> Relay {
        Relay::start_with(node, store, Stdio::inherit())
    }

    fn start_with(node: &str, store: &str, stderr: Stdio) -> Relay {
        let of = ["relay", "--network", "regtest", "--node", node, "--store", store];
        let arguments = [&of[..], &["--listen", "127.0.0.1:0", "--poll", "1"]].concat();
        let (process, line) = start(&arguments, stderr);
        let address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
        Relay { process, address }
    }
}

#[test]
fn a_relay_serves_a_nodes_headers_and_survives_being_killed() {
    let chain = Arc::new(FakeChain::new(BLOCKS));
    let node = serve(Arc::clone(&chain), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let store = path(folder.path());
    for _ in 0..3 {
        let relay = Relay::start(&node, store);
        let run = follow(&["--relay", &relay.address]).code(0);
        let events = events(&run);
        let tip = of_kind(&events, "tip").pop().expect("a tip");
        assert_eq!(tip["id"], json!(chain.id(BLOCKS as usize)));
        // Dropping it kills it.
    }
    let relay = Relay::start(&node, store);
    let mut second = randomx(&["relay", "--network", "regtest", "--node", &node, "--store", store]);
    let run = second.assert().code(2);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(error.contains("another process uses this folder"), "{error}");
    drop(relay);

    let forked = FakeChain::forked(10, BLOCKS + 5);
    let tip = forked.id(BLOCKS as usize + 5);
    let relay = Relay::start(&serve(Arc::new(forked), honest), store);
    let run = follow(&["--relay", &relay.address]).code(0);
    let events = events(&run);
    assert_eq!(of_kind(&events, "tip").pop().expect("a tip")["id"], json!(tip));
}

#[test]
fn a_relay_serves_the_blocks_below_one_of_an_unknown_format() {
    let chain = Arc::new(FakeChain::new(BLOCKS));
    let node = serve(Arc::clone(&chain), |method, params, mut result| {
        if method == "get_block" && params["height"] == 15 {
            result["blob"] = json!("11".repeat(60));
        }
        Reply::Result(result)
    });
    let folder = tempfile::tempdir().expect("a folder");
    let mut relay = Relay::start_with(&node, path(folder.path()), Stdio::piped());
    let stderr = relay.process.0.stderr.take().expect("a pipe");
    let mut note = String::new();
    BufReader::new(stderr).read_line(&mut note).expect("a line");
    assert_eq!(note, "note: get_block: block 15 has an unknown version; an update is needed\n");

    let run = follow(&["--relay", &relay.address]).code(0);
    let events = events(&run);
    let tip = of_kind(&events, "tip").pop().expect("a tip");
    assert_eq!((&tip["height"], &tip["id"]), (&json!(14), &json!(chain.id(14))));
}
