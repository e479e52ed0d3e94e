//! Nodes, relays and stores as input.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use randomx_client::node::{self, Node};
use randomx_client::{Follower, LightHasher, Relay, Route, Source, Store};
use randomx_monero::client::{Config, Start};
use randomx_monero::{Network, keccak256};
use randomx_testing::blocks::break_stored;

use crate::fake_node::{FakeChain, Reply, serve};
use crate::{audit, results, summary, text, verdicts};

/// A node with a chain of 2130 blocks.
fn honest() -> String {
    serve(Arc::new(FakeChain::new(2130)), |_, _, result| Reply::Result(result))
}

const RANGE: [&str; 4] = ["--from", "2108", "--to", "2116"];

#[test]
fn nodes_relays_and_collected_files_give_the_same_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let address = honest();
    let run = |input: &[&str], output: &Path| {
        let arguments = [&["audit", "--output", text(output)], input, &RANGE].concat();
        audit(&arguments).assert().code(0);
        assert_eq!(summary(output)["valid"], 9);
        let mut results = results(output);
        results.remove("run.json").expect("a manifest");
        results
    };
    let from_node = run(&["--node", &address], &path("node"));
    assert_eq!(verdicts(&path("node/epoch-0000000000.parquet")), vec![(Some(true), None); 5]);
    assert_eq!(verdicts(&path("node/epoch-0000002048.parquet")), vec![(Some(true), None); 4]);
    let route = Route::direct(Duration::from_secs(30));
    let node = Node::new(&route, &node::address(&address).expect("an address"), 0);
    let relay = Relay::open(node, &path("relay"), 1).expect("a folder");
    relay.update().expect("an honest node");
    let server = relay.listen(([127, 0, 0, 1], 0).into()).expect("a port");
    let url = format!("http://{}", server.address());
    assert_eq!(run(&["--relay", &url], &path("from-relay")), from_node);
    let chain = path("chain");
    let collect = ["collect", "--node", &address, "--output", text(&chain)];
    audit(&[&collect[..], &RANGE].concat())
        .assert()
        .code(0)
        .stdout("2 epochs, blocks 2108 to 2116\n");
    assert_eq!(run(&["--parquet", text(&chain)], &path("from-files")), from_node);
}

/// Follows a chain of this many blocks to its end, with a store that keeps `kept` blocks or somewhat more.
fn follow(store: &Path, kept: u64, blocks: u64) -> Follower {
    let chain = FakeChain::new(blocks);
    let address = serve(Arc::new(chain), |_, _, result| Reply::Result(result));
    let config = Config::new(Network::Regtest, [7; 32]);
    let config = Config { fixed_difficulty: Some(1), kept, ..config };
    let route = Route::direct(Duration::from_secs(30));
    let source = Source::node(&route, &node::address(&address).expect("an address"));
    let (opened, hasher) = (Store::open(store).expect("a store"), LightHasher::new(2));
    let follower = Follower::new(config, Start::Anchors, vec![source], hasher, Some(opened));
    let mut follower = follower.expect("a start");
    while follower.client().tip().is_none_or(|tip| tip.height < blocks) {
        follower.step().1.expect("a store");
    }
    follower
}

#[test]
fn a_store_of_the_light_client_is_audited() {
    let folder = tempfile::tempdir().expect("a folder");
    let (store, output) = (folder.path().join("store"), folder.path().join("audit"));
    // The client may still run.
    let _follower = follow(&store, 2160, 12);
    let input = ["audit", "--store", text(&store), "--network", "regtest", "--output"];
    let arguments = [&input[..], &[text(&output), "--fixed-difficulty", "1"]].concat();
    audit(&arguments).assert().code(0);
    assert_eq!(verdicts(&output.join("epoch-0000000000.parquet")), vec![(Some(true), None); 12]);
    let wrong = [&input[..], &[text(&output)]].concat();
    let message = "expected a chain with no fixed difficulty, got one with the fixed difficulty 1";
    audit(&wrong).assert().code(2).stderr(predicates::str::contains(message));
}

#[test]
fn a_store_with_blocks_that_break_a_rule_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (store, output) = (folder.path().join("store"), folder.path().join("audit"));
    drop(follow(&store, 2160, 12));
    break_stored(&store, keccak256);
    let input = ["audit", "--store", text(&store), "--network", "regtest", "--output"];
    let arguments = [&input[..], &[text(&output), "--fixed-difficulty", "1"]].concat();
    let mention = "chain: block 12 breaks a rule of this release\n";
    audit(&arguments).assert().code(2).stdout("").stderr(predicates::str::ends_with(mention));
}

#[test]
fn a_store_that_forgot_blocks_is_the_reason_why_a_run_cannot_be_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (store, output) = (folder.path().join("store"), folder.path().join("audit"));
    drop(follow(&store, 8, 8));
    let run = |range: &[&str]| {
        let store = ["audit", "--store", text(&store), "--network", "regtest", "--output"];
        let fixed = [text(&output), "--fixed-difficulty", "1"];
        audit(&[&store[..], &fixed, range].concat()).assert()
    };
    run(&[]).code(0);
    drop(follow(&store, 8, 20));
    for option in ["--from", "--to"] {
        let mention =
            format!("{option}: expected at least 13, the first block of the store, got 5");
        run(&[option, "5"]).code(2).stdout("").stderr(predicates::str::contains(mention));
    }
    let mention = "expected the result of blocks 13 to 20 or of fewer, got that of blocks 1 to 8; choose a range \
                   with all of these blocks or with none, or use a new folder; the store begins with block 13, \
                   since it forgets old blocks\n";
    run(&[]).code(2).stdout("").stderr(predicates::str::ends_with(mention));
}

#[test]
fn a_node_that_lies_or_fails_ends_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("audit");
    let chain = || Arc::new(FakeChain::new(2130));
    let other = FakeChain::forked(2109, 2130);
    let forked = serve(chain(), move |method, params, honest| {
        let height = params["height"].as_u64().unwrap_or(0);
        let lies = method == "get_block" && height == 2111;
        Reply::Result(if lies { other.answer(method, params) } else { honest })
    });
    let refuses = serve(chain(), |method, _, honest| match method {
        "get_block" => Reply::Raw(500, Vec::new()),
        _ => Reply::Result(honest),
    });
    for (address, mention) in
        [(forked, "block 2111 does not follow the one before it"), (refuses, "get_block: ")]
    {
        let node = ["audit", "--node", &address, "--output", text(&output)];
        let run = audit(&[&node[..], &RANGE].concat()).assert().code(2).stdout("");
        run.stderr(predicates::str::contains(mention));
    }
    let address = honest();
    let node = ["audit", "--node", &address, "--output", text(&output)];
    for (range, mention) in [
        (&["--from", "1", "--to", "2131"][..], "--to: expected at most 2130"),
        (&["--from", "0", "--to", "5"], "--from: expected a height of 1 or more"),
        (&["--from", "7", "--to", "5"], "--from: expected at most 5"),
        (
            &["--from", "2121"],
            "--from: expected at most 2120, got 2121: without --to, the ten newest",
        ),
    ] {
        let run = audit(&[&node[..], range].concat()).assert().code(2).stdout("");
        run.stderr(predicates::str::contains(mention));
    }
}

/// A node gives headers and difficulties in two answers.
#[test]
fn no_header_gets_the_difficulty_of_the_block_that_replaced_its_own() {
    let other = FakeChain::forked(2109, 2130);
    let is_other = AtomicBool::new(false);
    let address = serve(Arc::new(FakeChain::new(2130)), move |method, params, honest| {
        if method == "get_block_headers_range" {
            is_other.store(true, Ordering::Relaxed);
        }
        let is_other = is_other.load(Ordering::Relaxed);
        Reply::Result(if is_other { other.answer(method, params) } else { honest })
    });
    let folder = tempfile::tempdir().expect("a folder");
    let chain = folder.path().join("chain");
    let collect = ["collect", "--node", &address, "--output", text(&chain)];
    let range = ["--from", "2108", "--to", "2112"];
    let run = audit(&[&collect[..], &range].concat()).assert().code(2).stdout("");
    let ids = [FakeChain::new(2112), FakeChain::forked(2109, 2112)].map(|chain| chain.id(2112));
    let [read, now] = ids;
    let problem = format!("was replaced while blocks were read: expected {read}, got {now}; run");
    run.stderr(predicates::str::contains(format!("block 2112 {problem}")));
    // The node has settled.
    audit(&[&collect[..], &range].concat()).assert().code(0);
}

#[test]
fn blocks_of_a_version_that_is_not_known_have_no_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let altered = |alter: fn(&mut String)| {
        serve(Arc::new(FakeChain::new(2130)), move |method, params, mut honest| {
            if method == "get_block" && params["height"] == 2116 {
                let mut blob = honest["blob"].as_str().expect("hex digits").to_owned();
                alter(&mut blob);
                honest["blob"] = blob.into();
            }
            Reply::Result(honest)
        })
    };
    let audited = |address: &str, output: &Path| {
        let node = ["audit", "--node", address, "--output", text(output)];
        audit(&[&node[..], &RANGE].concat()).assert().code(2)
    };
    let output = folder.path().join("known format");
    let run = audited(&altered(|blob| blob.replace_range(..4, "1111")), &output);
    let run = run
        .stdout(predicates::str::contains("invalid       0\nwithout work  0\nneed update   1\n"));
    let versions = "this release knows versions up to 16\n";
    let mention = "error: no verdict on 1 block, whose version needs an update: ";
    run.stderr(predicates::str::contains(format!("{mention}{versions}")));
    let reason =
        "block version 17 needs an update: this release knows versions up to 16".to_owned();
    let found = verdicts(&output.join("epoch-0000002048.parquet"));
    assert_eq!((&found[2], &found[3]), (&(Some(true), None), &(None, Some(reason))));
    assert_eq!(
        (&summary(&output)["valid"], &summary(&output)["need_update"]),
        (&8.into(), &1.into())
    );
    // A format of which no more is known than where the version is.
    let output = folder.path().join("other format");
    let run = audited(&altered(|blob| blob.replace_range(.., "1111000102")), &output).stdout("");
    let mention = "error: block 2116: its version 17 needs an update: ";
    run.stderr(predicates::str::contains(format!("{mention}{versions}")));
}

/// Epochs that are hashed at once would otherwise have eight connections each.
#[test]
fn one_epoch_is_read_at_a_time() {
    let read: Arc<Mutex<Vec<bool>>> = Arc::default();
    let reads = Arc::clone(&read);
    let address = serve(Arc::new(FakeChain::new(2130)), move |method, params, honest| {
        if method == "get_block" {
            let height = params["height"].as_u64().expect("a height");
            // The block at height 2048 is the key of the second epoch.
            reads.lock().expect("no panic").push(height == 2048 || height > 2112);
            thread::sleep(Duration::from_millis(100));
        }
        Reply::Result(honest)
    });
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("audit");
    let node = ["audit", "--node", &address, "--threads", "2", "--output", text(&output)];
    audit(&[&node[..], &RANGE].concat()).assert().code(0);
    let mut read = read.lock().expect("no panic");
    read.dedup();
    assert_eq!(read.len(), 2, "{read:?}");
}

#[test]
fn an_absurd_height_of_a_node_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (id, output) = (FakeChain::new(1).id(1), folder.path().join("audit"));
    for (height, got) in [(500_000_002, 500_000_001), (u64::MAX, u64::MAX - 1)] {
        let id = id.clone();
        let address = serve(Arc::new(FakeChain::new(20)), move |_, _, mut honest| {
            honest["height"] = height.into();
            honest["top_block_hash"] = id.clone().into();
            Reply::Result(honest)
        });
        let node = ["--node", &address, "--from", "1", "--output", text(&output)];
        let mention = format!(
            "newest block of the node or relay: expected a height of at most 500000000, got {got}\n"
        );
        for command in ["audit", "collect"] {
            let run = audit(&[&[command], &node[..]].concat()).assert().code(2).stdout("");
            run.stderr(predicates::str::contains(&mention));
        }
    }
}
