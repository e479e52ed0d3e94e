//! `randomx verify`: reasons against a block that may be no fault of the node, and lines as the help describes them.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, Mutex},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::common::{
    fake_node::{FakeChain, Reply, serve},
    lines, randomx, verify_node,
};
use predicates::prelude::*;
use serde_json::Value;

/// The whole chain.
const WHOLE: [&str; 2] = ["--from", "1"];

#[test]
fn a_reorganisation_while_blocks_are_read_is_not_held_against_the_node() {
    const BLOCKS: u64 = 30;
    const COMMON: u64 = 10;
    /// Whether a height is read before the reorganisation. Parallel requests may be answered in any order.
    type Order = fn(u64) -> bool;
    let orders: [(Order, u64); 2] =
        [(|height| height <= 20, 21), (|height| height != COMMON + 1, COMMON + 2)];
    for (is_read_before, parted) in orders {
        let later = FakeChain::forked(COMMON, BLOCKS);
        let read = Mutex::new(HashSet::new());
        let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |method, params, result| {
            let height = params["height"].as_u64();
            let Some(height) = height.filter(|_| method == "get_block") else {
                return Reply::Result(result);
            };
            let is_first = read.lock().expect("no panic").insert(height);
            let is_old = is_first && is_read_before(height);
            Reply::Result(if is_old { result } else { later.answer(method, params) })
        });
        let run = verify_node(&node, &WHOLE).code(2);
        let verdicts = lines(&run);
        assert!(verdicts.iter().all(|verdict| verdict["valid"] == true));
        assert_eq!(verdicts.len() as u64, parted - 1);
        run.stderr(predicate::str::ends_with(format!(
            "error: the node's chain was reorganised while it was read: block {parted} does not follow \
             the block that the node sent before it, and the node has another one now; verify again\n"
        )));
    }
}

#[test]
fn a_node_that_does_not_answer_again_gets_no_verdict() {
    let other = FakeChain::forked(4, 5);
    let read = Mutex::new(HashSet::new());
    let node = serve(Arc::new(FakeChain::new(10)), move |method, params, result| {
        let height = params["height"].as_u64();
        let is_other = method == "get_block" && height == Some(5);
        if method == "get_block" && !read.lock().expect("no panic").insert(height) {
            return Reply::Raw(500, Vec::new());
        }
        Reply::Result(if is_other { other.answer(method, params) } else { result })
    });
    let run = verify_node(&node, &WHOLE).code(2);
    assert!(lines(&run).iter().all(|verdict| verdict["valid"] == true));
    let sentence = "error: block 6 does not follow the block that the node sent before it, and the node did \
                    not say whether its chain was reorganised meanwhile: --node: get_block: ";
    run.stderr(predicate::str::contains(sentence));
}

#[test]
fn a_slow_clock_is_not_held_against_the_node() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    let ahead = |hours: u64| {
        let chain = FakeChain::with_time(10, (5, now + 3600 * hours));
        serve(Arc::new(chain), |_, _, result| Reply::Result(result))
    };
    assert_eq!(lines(&verify_node(&ahead(1), &WHOLE).code(0)).len(), 10);
    let run = verify_node(&ahead(3), &WHOLE).code(2);
    let verdicts = lines(&run);
    assert!(verdicts.iter().all(|verdict| verdict["valid"] == true));
    assert_eq!(verdicts.len(), 4);
    let sentence = "error: block 5 is ahead of this clock: expected at most ";
    run.stderr(predicate::str::contains(sentence));
}

/// All objects in a text.
fn objects(text: &str) -> Vec<Value> {
    let parse = |(start, _)| {
        serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>().next()?.ok()
    };
    text.match_indices("{\"").filter_map(parse).collect()
}

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn lines_have_the_fields_that_the_help_shows() {
    let run = randomx(&["verify", "--help"]).assert().code(0);
    let help = objects(str::from_utf8(&run.get_output().stdout).expect("UTF-8"));
    let shown = |is_shown: &dyn Fn(&Value) -> bool| {
        keys(help.iter().find(|object| is_shown(object)).expect("an example"))
    };
    // The sixth block does not follow the fifth one of another chain.
    let other = FakeChain::forked(4, 5);
    let node = serve(Arc::new(FakeChain::new(10)), move |method, params, result| {
        let is_other = method == "get_block" && params["height"] == 5;
        Reply::Result(if is_other { other.answer(method, params) } else { result })
    });
    let verdicts = lines(&verify_node(&node, &WHOLE).code(1));
    let example = |status: &'static str| shown(&move |object| object["status"] == status);
    let (invalid, valid) = verdicts.split_last().expect("verdicts");
    assert_eq!(valid.len(), 5);
    valid.iter().for_each(|valid| assert_eq!(keys(valid), example("valid")));
    assert_eq!(keys(invalid), example("invalid"));

    // No hash of these blocks meets so great a difficulty.
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("UTF-8");
    let hard = ["--network", "regtest", "--fixed-difficulty", "1000000000000000"];
    let follow = ["follow", "--once", "--json", "--evidence", folder, "--node", &node];
    let events = lines(&randomx(&[&follow[..], &hard].concat()).assert().code(1));
    let file = events.iter().find_map(|event| event["evidence"].as_str()).expect("evidence");
    let sides = lines(&randomx(&["verify", "--evidence", file]).assert().code(1));
    let [common, refused] = &sides[..] else { panic!("one side: {sides:?}") };
    assert_eq!(keys(common), shown(&|object| object.get("common").is_some()));
    let example = |is_refused: bool| {
        shown(&|object| object["side"].is_u64() && object.get("refused").is_some() == is_refused)
    };
    assert_eq!(keys(refused), example(true));
    let nested = |object: &Value| keys(&object["refused"]);
    let shown = help.iter().find(|object| object.get("refused").is_some()).expect("an example");
    assert_eq!(nested(refused), nested(shown));
    assert_eq!(example(false), &keys(refused) - &BTreeSet::from(["refused".to_owned()]));
}
